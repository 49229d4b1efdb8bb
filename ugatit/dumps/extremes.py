"""Smallest and largest value of a dumped tensor, read in the order of the file: what the measures must know first."""

from __future__ import annotations

import math
from typing import Callable, NamedTuple, Tuple

import numpy as np

from ugatit.dumps.dtypes import bfloat16_to_float32
from ugatit.dumps.tensors import OpenTensor

_BLOCK = 1 << 18  # values: read from memory once and looked at twice
_INFINITY, _SIGN = 0x7C00, 0x8000  # bits of float16


class Extremes(NamedTuple):
    """Both ends of a tensor; NaN where it holds one."""

    low: float
    high: float
    beyond: int  # how many |values| are not within the limit asked for: NaN is not

    @property
    def finite(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def amax(self) -> float:
        return larger(self.high, -self.low)


def numpy_ends(block: np.ndarray) -> Tuple[float, float]:
    """Smallest and largest value of a block of numbers; NaN twice, or at least once, where it holds one."""
    return _half_ends(block) if block.dtype == np.dtype('<f2') else (float(block.min()), float(block.max()))


def extremes(
    tensor: OpenTensor,
    limit: float = math.inf,
    ends: Callable[[np.ndarray], Tuple[float, float]] = numpy_ends,
) -> Extremes:
    """Of all elements; `ends` looks at a block."""
    low, high, beyond = math.inf, -math.inf, 0
    for block in tensor.blocks(_BLOCK, ordered=False):
        if tensor.dtype.name == 'bfloat16':
            block = bfloat16_to_float32(block)
        first, last = ends(block)
        low, high = smaller(low, first), larger(high, last)
        if not max(last, -first) <= limit:
            beyond += _count_beyond(block, limit)
    return Extremes(low, high, beyond)


def _half_ends(block: np.ndarray) -> Tuple[float, float]:
    """float16's bits grow with the value where it is positive and fall where it is negative; integers are fast."""
    signed, unsigned = int(block.view('<i2').max()), int(block.view('<u2').max())
    if signed > _INFINITY or unsigned > _SIGN + _INFINITY:
        return math.nan, math.nan
    if signed < 0 or unsigned < _SIGN:  # one sign only: the other end is the smallest number
        other = int(block.view('<u2').min())
        signed, unsigned = (signed, other) if signed >= 0 else (other, unsigned)
    return _half(unsigned), _half(signed)


def _half(bits: int) -> float:
    return float(np.uint16(bits).view(np.float16))


def _count_beyond(block: np.ndarray, limit: float) -> int:
    if block.dtype == np.dtype('<f2'):
        return int(np.count_nonzero((block.view('<u2') & np.uint16(_SIGN - 1)) > np.float16(limit).view(np.uint16)))
    return block.size - int(np.count_nonzero((block <= limit) & (block >= -limit)))


def larger(a: float, b: float) -> float:
    """max that keeps NaN."""
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def smaller(a: float, b: float) -> float:
    """min that keeps NaN."""
    return -larger(-a, -b)
