"""The same sums compiled by numba: a block goes through the caches once, where NumPy needs some twenty passes.

Importing this module needs numba. Loops only add up, in any order ('reassoc'), so that a vector's lanes can share them;
their terms come from functions without that freedom and are computed as they are written.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Tuple

import numpy as np
from numba import from_dtype, njit, types
from numba.extending import intrinsic, overload

from ugatit.dumps.dtypes import DataType, bfloat16_to_float32
from ugatit.dumps.extremes import Extremes, numpy_ends
from ugatit.dumps.side import Side
from ugatit.dumps.sums import EPSILON, NumpySums, Sums

_STORED = {'float16': 'u2', 'bfloat16': 'f4', 'float32': 'f4', 'float64': 'f8'}  # as the kernels take them
_STEP = 1024  # values of both sides as scaled stay in the first cache: 16 KB
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


class FusedSums(Sums):
    """Of finite floating-point values that leave room to the ends of float64; see `fused_sums`."""

    most = 1 << 62  # the kernel makes its own blocks

    def __init__(self, kinds: Tuple[DataType, DataType], ends: Tuple[Extremes, Extremes]) -> None:
        super().__init__(kinds, ends)
        self._scales = tuple((side.offset, side.floor) for side in self.sides)
        self._add = _compiled_add(*(_STORED[kind.name] for kind in kinds))
        self._sums, self._largest, self._work = np.zeros((4, 4)), np.zeros(2), np.empty((2, _STEP))

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        self.count += x.size
        x, y = (_readable(block, kind) for block, kind in zip((x, y), self._kinds))
        self._add(x, y, *self._scales, self._work, self._sums, self._largest)
        *sides, (self.xy, self.dd, self.d, self.relative), (self.weighted, *_) = self._sums.tolist()
        for side, sums in zip(self.sides, sides):
            side.sum, side.squares, side.shifted, side.total = sums
        self.max_d, self.max_relative = self._largest.tolist()


def fused_sums(kinds: Tuple[DataType, DataType], ends: Tuple[Extremes, Extremes]) -> Sums:
    """This module's sums; NumPy's for what they do not take: integers, NaN, infinity, extreme ranges."""
    known = all(kind.name in _STORED for kind in kinds)
    if known and all(end.finite and Side(end).plain for end in ends):
        return FusedSums(kinds, ends)
    return NumpySums(kinds, ends)


def ends(block: np.ndarray) -> Tuple[float, float]:
    """As `numpy_ends`. Bits of floats grow with the value where it is positive, and fall where it is negative."""
    if block.dtype.kind != 'f' or not block.dtype.isnative:
        return numpy_ends(block)
    size = block.dtype.itemsize
    signed, most, least = _compiled_ends(f'i{size}', f'u{size}')(block.view(f'i{size}'), block.view(f'u{size}'))
    infinity, sign = int(np.array(np.inf, block.dtype).view(f'u{size}')), 1 << (8 * size - 1)
    if signed > infinity or most > sign + infinity:
        return math.nan, math.nan
    low, high = (least, most) if most < sign else (most, least) if least >= sign else (most, signed)
    return tuple(np.array([low, high], f'u{size}').view(block.dtype).tolist())


def prepare() -> None:
    """Compiles, or loads what was compiled, for the usual pair: float16 against float32."""
    _compiled_ends('i2', 'u2')
    _compiled_ends('i4', 'u4')
    _compiled_add('u2', 'f4')


def _readable(block: np.ndarray, kind: DataType) -> np.ndarray:
    if kind.name == 'bfloat16':
        return bfloat16_to_float32(block)
    block = np.asarray(block, block.dtype.newbyteorder('='))
    return block.view(np.uint16) if kind.is_float16 else block


@functools.cache
def _compiled_add(x: str, y: str) -> Callable[..., None]:
    """`_add` for two stored types."""
    scale, rows, row = types.UniTuple(types.float64, 2), types.float64[:, ::1], types.float64[::1]
    return _compiled(_add, (_stored(x), _stored(y), scale, scale, rows, rows, row))


@functools.cache
def _compiled_ends(signed: str, unsigned: str) -> Callable[..., Tuple[int, int, int]]:
    return _compiled(_bit_ends, (_stored(signed), _stored(unsigned)))


def _stored(dtype: str) -> types.Array:
    """Values as they lie in a file: read-only and at any byte; others pass as well."""
    return types.Array(from_dtype(np.dtype(dtype)), 1, 'C', readonly=True, aligned=False)


def _compiled(function: Any, signature: Tuple[types.Type, ...]) -> Callable[..., Any]:
    try:
        function.compile(signature)
    except OSError:  # compiled, but there is no room to keep it
        pass
    return function.get_overload(signature)


def _kept(function: Callable[..., None]) -> Callable[..., None]:
    """Compiled at the first call, and kept on the disk; RuntimeError says that nowhere there can be written."""
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
def _bit_ends(signed, unsigned):
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
def _log_ratio(p, q):
    """log(p / q) of positive normal numbers: log(p / (2**k q)) + k log(2), where k brings the quotient to 2/3..3/2.

    Written out, because a call of the library's logarithm would keep the loop from being a vector's.
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
def _side(values, offset, floor, scaled):
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
        weighted += p[i] * _log_ratio(p[i], q[i])
    return weighted


@njit(**_TERMS)
def _plus(sums, found):
    for i, value in enumerate(found):
        sums[i] += value


@_kept
def _add(x, y, x_scale, y_scale, work, sums, largest):
    """A block of both sides. Sums by row: left side, right side, differences, divergence."""
    for start in range(0, x.size, _STEP):
        a, b = x[start : start + _STEP], y[start : start + _STEP]
        p, q = work[0, : a.size], work[1, : a.size]
        _plus(sums[0], _side(a, x_scale[0], x_scale[1], p))
        _plus(sums[1], _side(b, y_scale[0], y_scale[1], q))
        found, (d, quotient) = _differences(a, b)
        _plus(sums[2], found)
        largest[0], largest[1] = max(largest[0], d), max(largest[1], quotient)
        sums[3, 0] += _divergence(p, q)
