"""The same sums compiled by numba: a block goes through the caches once, where NumPy needs some twenty passes.

Importing this module needs numba.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Tuple

import numpy as np
from numba import from_dtype, types

from ugatit.dumps.dtypes import DataType, bfloat16_to_float32
from ugatit.dumps.engines import Engine
from ugatit.dumps.extremes import Extremes, numpy_ends
from ugatit.dumps.kernels import STEP, add, bit_ends
from ugatit.dumps.side import Side
from ugatit.dumps.sums import NumpySums, Sums

_STORED = {'float16': 'u2', 'bfloat16': 'f4', 'float32': 'f4', 'float64': 'f8'}  # as the kernels take them


class FusedSums(Sums):
    """Of finite floating-point values that leave room to the ends of float64; see `fused_sums`."""

    most = 1 << 62  # the kernel makes its own blocks

    def __init__(self, kinds: Tuple[DataType, DataType], ends: Tuple[Extremes, Extremes]) -> None:
        super().__init__(kinds, ends)
        self._scales = tuple((side.offset, side.floor) for side in self.sides)
        self._add = _compiled_add(*(_STORED[kind.name] for kind in kinds))
        self._sums, self._largest, self._work = np.zeros((4, 4)), np.zeros(2), np.empty((2, STEP))

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


ENGINE = Engine(ends, fused_sums)


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
    """`kernels.add` for two stored types."""
    scale, rows, row = types.UniTuple(types.float64, 2), types.float64[:, ::1], types.float64[::1]
    return _compiled(add, (_stored(x), _stored(y), scale, scale, rows, rows, row))


@functools.cache
def _compiled_ends(signed: str, unsigned: str) -> Callable[..., Tuple[int, int, int]]:
    return _compiled(bit_ends, (_stored(signed), _stored(unsigned)))


def _stored(dtype: str) -> types.Array:
    """Values as they lie in a file: read-only and at any byte; others pass as well."""
    return types.Array(from_dtype(np.dtype(dtype)), 1, 'C', readonly=True, aligned=False)


def _compiled(function: Any, signature: Tuple[types.Type, ...]) -> Callable[..., Any]:
    try:
        function.compile(signature)
    except OSError:  # compiled, but there is no room to keep it
        pass
    return function.get_overload(signature)
