"""The loops of the compiled engine; `fused.py` calls them. Importing this module needs numba.

Loops only add up, in any order ('reassoc'), so that a vector's lanes can share them; their terms come from functions
without that freedom and are computed as they are written.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload

from ugatit.dumps.sums import EPSILON

STEP = 1024  # values of both sides as scaled stay in the first cache: 16 KB
_TERMS = {'nogil': True, 'error_model': 'numpy', 'fastmath': {'contract'}}
_SUMS = {'nogil': True, 'error_model': 'numpy', 'fastmath': {'contract', 'reassoc'}}

_HALF_BITS, _HALF_SCALE = -0x70002000, np.float32(2.0**112)  # see dtypes.ToFloat64
_LN2 = math.log(2)
_EXPONENT = 0x7FF << 52  # bits of float64
_ONE_AND_A_HALF = (0x3FF << 52) + (1 << 51)
_TWO_52, _TWO_52_AND_BIAS = 0x433 << 52, 2.0**52 + 1023

# atanh(s) / s = 1 + s**2 (A[0] + A[1] s**2 + ...) for |s| <= 0.2, interpolated in Chebyshev's points: off by 7e-17.
_A0, _A1, _A2, _A3 = 0.33333333333333487, 0.19999999999630597, 0.1428571443030154, 0.11111089929155622
_A4, _A5, _A6 = 0.09092382514855958, 0.07639979294464631, 0.07576091718095962


def _kept(function: Callable[..., None]) -> Callable[..., None]:
    """Compiled when needed, and kept on the disk; numba raises RuntimeError where it finds no place there."""
    try:
        return njit(cache=True, **_TERMS)(function)
    except RuntimeError:
        return njit(**_TERMS)(function)


def _bits_as(source: Any, target: Any) -> Callable[[Any], Any]:
    """The same bits as another type of that size."""

    @intrinsic
    def cast(context: Any, value: Any) -> Any:
        del value

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

        return target(source), generate

    return cast


_float32_of_bits = _bits_as(types.int32, types.float32)
_float64_of_bits = _bits_as(types.int64, types.float64)
_bits_of_float64 = _bits_as(types.float64, types.int64)


def _wide(value):
    """A stored value as float64; float16 arrives as its bits."""
    raise NotImplementedError


@overload(_wide)
def _compiled_wide(value):  # numba compares names and annotations with those inside
    def half(value):
        bits = np.int32((np.int32(np.int16(value)) << 13) & _HALF_BITS)
        return np.float64(_float32_of_bits(bits) * _HALF_SCALE)

    return half if value == types.uint16 else lambda value: np.float64(value)


@_kept
def bit_ends(signed, unsigned):
    """The same bits twice: the largest as signed integer, the largest and the smallest as unsigned."""
    largest, most, least = signed[0], unsigned[0], unsigned[0]
    for i in range(signed.size):
        largest = max(largest, signed[i])
        most, least = max(most, unsigned[i]), min(least, unsigned[i])
    return largest, most, least


@njit(**_TERMS)
def _scaled(value, offset, floor):
    shifted = value - offset
    return shifted, shifted if shifted > floor else floor


@njit(**_TERMS)
def _distances(x, y):
    """|x - y|, and that over |y| or 0."""
    d, size = abs(x - y), abs(y)
    zero = size <= EPSILON
    quotient = d / (1.0 if zero else size)
    return d, 0.0 if zero else quotient


@njit(**_TERMS)
def log_ratio(p, q):
    """log(p / q) of positive numbers, 2**-900 < p / q < 2**900: log(p / (2**k q)) + k log(2).

    k brings the quotient to 2/3..3/2, where log(v) = 2 atanh((v - 1) / (v + 1)) converges quickly. Written
    out, because a call of the library's logarithm would keep the loop from being a vector's.
    """
    power = (_bits_of_float64(p) - _bits_of_float64(q) + _ONE_AND_A_HALF) & _EXPONENT  # bits of 2**k
    k = _float64_of_bits((power >> 52) | _TWO_52) - _TWO_52_AND_BIAS
    q = q * _float64_of_bits(power)
    s = (p - q) / (p + q)
    z = s * s
    zz = z * z
    tail = ((_A0 + z * _A1) + zz * (_A2 + z * _A3)) + zz * zz * ((_A4 + z * _A5) + zz * _A6)
    return (k * _LN2 + 2.0 * s) + 2.0 * s * z * tail


@njit(**_SUMS)
def add_side(values, offset, floor, scaled):
    """What `Side.add` adds up, and the scaled values."""
    own, squares, shifted_squares, total = 0.0, 0.0, 0.0, 0.0
    for i in range(values.size):
        value = _wide(values[i])
        shifted, scaled[i] = _scaled(value, offset, floor)
        own += value
        squares += value * value
        shifted_squares += shifted * shifted
        total += scaled[i]
    return own, squares, shifted_squares, total


@njit(**_SUMS)
def _differences(x, y):
    """Sums of x y, d**2, d and d / |y|, where d = |x - y|, and the largest of the last two.

    The largest are found by their bits, which order positive numbers: compilers share comparisons of floats among a
    vector's lanes only if told that there is no NaN.
    """
    xy, dd, d_sum, relative = 0.0, 0.0, 0.0, 0.0
    d_bits, quotient_bits = np.int64(0), np.int64(0)
    for i in range(x.size):
        a, b = _wide(x[i]), _wide(y[i])
        d, quotient = _distances(a, b)
        xy += a * b
        dd += d * d
        d_sum += d
        d_bits = max(d_bits, _bits_of_float64(d))
        relative += quotient
        quotient_bits = max(quotient_bits, _bits_of_float64(quotient))
    return (xy, dd, d_sum, relative), (_float64_of_bits(d_bits), _float64_of_bits(quotient_bits))


@njit(**_SUMS)
def _divergence(p, q):
    weighted = 0.0
    for i in range(p.size):
        weighted += p[i] * log_ratio(p[i], q[i])
    return weighted


@njit(**_TERMS)
def _plus(sums, found):
    for i, value in enumerate(found):
        sums[i] += value


@_kept
def add(x, y, x_scale, y_scale, work, sums, largest):
    """A block of both sides. Sums by row: left side, right side, differences, divergence."""
    for start in range(0, x.size, STEP):
        a, b = x[start : start + STEP], y[start : start + STEP]
        p, q = work[0, : a.size], work[1, : a.size]
        _plus(sums[0], add_side(a, x_scale[0], x_scale[1], p))
        _plus(sums[1], add_side(b, y_scale[0], y_scale[1], q))
        found, (d, quotient) = _differences(a, b)
        _plus(sums[2], found)
        largest[0], largest[1] = max(largest[0], d), max(largest[1], quotient)
        sums[3, 0] += _divergence(p, q)
