"""What the measures of two tensors add up, block by block in float64, with NumPy."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

from ugatit.dumps.dtypes import DataType, ToFloat64
from ugatit.dumps.extremes import Extremes, larger
from ugatit.dumps.side import BLOCK, Side, dot

EPSILON = float(np.finfo(np.float64).eps)


class Sums:
    """What one pass adds up once both sides' ends are known. Not for two threads.

    `most` values can be added at a time.

    Args:
        kinds: how left and right are stored.
        ends: of left and right.
    """

    most = BLOCK

    def __init__(self, kinds: Tuple[DataType, DataType], ends: Tuple[Extremes, Extremes]) -> None:
        self.ends, self.finite = ends, ends[0].finite and ends[1].finite
        self.count, self.xy, self.dd, self.d, self.relative = 0, 0.0, 0.0, 0.0, 0.0
        self.max_d = self.max_relative = 0.0
        self.sides = Side(ends[0]), Side(ends[1])
        self.weighted = 0.0  # sum p log(p / q)
        self._kinds = kinds

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        """Blocks of both sides as they are stored and equally long."""
        raise NotImplementedError

    def divergence(self) -> float:
        """sum (p/P) log((p/P) / (q/Q)) = sum(p log(p/q)) / P - log(P/Q)."""
        left, right = (side.total for side in self.sides)
        if not self.finite or not left > 0 or not right > 0:
            return math.nan
        found = self.weighted / left - math.log(left / right)
        return 0.0 if abs(found) < EPSILON else found


class NumpySums(Sums):
    """Every type, every value, in some twenty passes over a block that stays in a core's cache."""

    def __init__(self, kinds: Tuple[DataType, DataType], ends: Tuple[Extremes, Extremes]) -> None:
        super().__init__(kinds, ends)
        self._zeros = not (ends[1].low > EPSILON or ends[1].high < -EPSILON)
        self._convert = tuple(ToFloat64(kind, end.finite, BLOCK) for kind, end in zip(kinds, ends))
        self._work = tuple(np.empty(BLOCK) for _ in range(4))

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        self.count += x.size
        x, y = (convert(block, work) for convert, block, work in zip(self._convert, (x, y), self._work[2:]))
        self.xy += dot(x, y)
        self._difference(x, y, self._work[0][: x.size], self._work[1][: x.size])
        for side, v in zip(self.sides, (x, y)):
            side.add(v, self.finite)
        if self.finite:
            ratio = np.divide(x, y, out=self._work[0][: x.size])
            self.weighted += dot(x, np.log(ratio, out=ratio))

    def _difference(self, x: np.ndarray, y: np.ndarray, d: np.ndarray, other: np.ndarray) -> None:
        np.subtract(x, y, out=d)
        self.dd += dot(d, d)
        distance, size = np.abs(d, out=other), np.abs(y, out=d)  # in place, old NumPys are ten times slower
        self.d, self.max_d = self.d + float(distance.sum()), larger(self.max_d, float(distance.max()))
        zero = size <= EPSILON if self._zeros and not size.min() > EPSILON else None
        if not self.finite:
            np.abs(x / y - 1, out=distance)  # by the letter: with infinities the quotient below is another
        else:
            np.divide(distance, size, out=distance)
        if zero is not None:
            np.copyto(distance, 0.0, where=zero)
        self.relative += float(distance.sum())
        self.max_relative = larger(self.max_relative, float(distance.max()))
