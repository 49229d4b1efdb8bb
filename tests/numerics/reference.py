"""The definitions behind ugatit.numerics, in float64 and as dull as possible. Everything here is exact.

float64 holds every float32 and every midpoint between two of them, and dividing by a power of two loses nothing there.
"""

from __future__ import annotations

import math

import numpy as np

from ugatit.numerics import Format

TINY = 2.0**-126  # the smallest normal float32


def all_values(fmt: Format) -> np.ndarray:
    """Every non-negative finite value of a format, increasing, float64: zero, then per exponent all significands."""
    per_exponent = 2 ** (fmt.significand_bits - 1)
    values = [np.arange(per_exponent) * fmt.smallest_subnormal]
    start = fmt.smallest_normal
    while start <= fmt.max_finite:
        values.append(start * (1.0 + np.arange(per_exponent) / per_exponent))
        start *= 2.0
    return np.concatenate(values)


def around(fmt: Format) -> np.ndarray:
    """float32: every value of a format, every midpoint to its successor (the largest one's successor is the power of
    two that it lacks), and the float32 neighbours of each midpoint; both signs; then inf and NaN."""
    values = all_values(fmt)
    successors = np.append(values[1:], 2.0 ** math.frexp(fmt.max_finite)[1])
    midpoints = ((values + successors) / 2).astype(np.float32)
    assert np.array_equal(midpoints.astype(np.float64), (values + successors) / 2), 'midpoints must be exact'
    below, above = (np.nextafter(midpoints, np.float32(limit)) for limit in (0, np.inf))
    positive = np.concatenate([values.astype(np.float32), midpoints, below, above])
    special = np.array([np.inf, np.nan, 3e38, np.finfo(np.float32).max, 2.0**-149], np.float32)
    return np.concatenate([positive, special, -positive, -special])


def round_to(x: np.ndarray, fmt: Format, overflow: str) -> np.ndarray:
    """x / quantum to the nearest integer, ties to even, times quantum; then the rules for what is too large or NaN."""
    with np.errstate(invalid='ignore'):  # signalling NaN
        x = x.astype(np.float64)
    exponent = np.frexp(np.where(np.isfinite(x), x, 0))[1]  # 2**(exponent - 1) <= |x| < 2**exponent
    quantum = np.maximum(np.ldexp(1.0, exponent - fmt.significand_bits), fmt.smallest_subnormal)
    rounded = np.rint(x / quantum) * quantum
    too_large = np.abs(rounded) > fmt.max_finite
    limit = np.inf if overflow == 'ieee' else fmt.max_finite
    rounded = np.where(too_large, np.copysign(limit, x), rounded)
    if overflow == 'saturate':
        rounded = np.where(np.isnan(x), 0.0, rounded)
    return rounded.astype(np.float32)


def scale_by_pow2(x: np.ndarray, e: int) -> np.ndarray:
    """x * 2**e in float64, where no float32 times 2**-400..2**400 overflows; subnormals are zero before and after."""
    x = x.astype(np.float64)
    x = np.where(np.abs(x) < TINY, np.copysign(0.0, x), x)
    scaled = x * 2.0**e
    scaled = np.where(np.abs(scaled) < TINY, np.copysign(0.0, x), scaled)
    with np.errstate(over='ignore'):
        return scaled.astype(np.float32)


def floor_log2(x: float) -> int:
    """By comparing with exact powers of two."""
    if math.isnan(x) or math.isinf(x):
        return 128
    return max((k for k in range(-149, 128) if 2.0**k <= abs(x)), default=-150)


def powers_and_neighbours() -> np.ndarray:
    """float32: every power of two from 2**-149 to 2**127 with its two neighbours, zeros and the largest; both signs."""
    powers = np.ldexp(1.0, np.arange(-149, 128)).astype(np.float32)
    neighbours = [np.nextafter(powers, np.float32(limit)) for limit in (0, np.inf)]
    positive = np.concatenate([powers, *neighbours, np.float32([0.0, np.finfo(np.float32).max])])
    return np.concatenate([positive, -positive])


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal float32 arrays, -0 distinct from +0; any NaN equals any NaN."""
    assert a.dtype == b.dtype == np.float32
    both_nan = np.isnan(a) & np.isnan(b)
    return a.shape == b.shape and bool(np.all((a.view(np.int32) == b.view(np.int32)) | both_nan))
