"""What one side of a comparison adds up, block by block in float64."""

from __future__ import annotations

import math

import numpy as np

from ugatit.dumps.extremes import Extremes

BLOCK = 1 << 15  # values: four float64 blocks stay in a core's second cache, and Python's share is small
_KL_FLOOR = float(np.finfo(np.float32).eps)
_DOT = 1 << 13  # values; BLAS starts threads of its own for longer products, which cost more than they give
_SMALL = 2.0**-400  # quotients of ranges above it and below its inverse cannot overflow


class Side:
    """One side's squares, and its values as the KL divergence scales them: from 0 to 1, at least 2**-23.

    A factor on all of one side cancels in the divergence, so the range stays in, unless quotients would overflow.
    Squares are taken from 0 where that lies within the range, else from the smallest value: no digits are lost.
    """

    def __init__(self, ends: Extremes) -> None:
        self._low, width = ends.low, ends.high - ends.low
        self._constant, self._around_zero = width == 0, ends.low <= 0 <= ends.high
        self._shift = 0.0 if self._around_zero else ends.low
        self._scale = None if self._constant or _SMALL < width < 1 / _SMALL else 1.0 / width
        kept = width if self._scale is None and not self._constant else 1.0
        self.offset, self.floor = 0.0 if self._constant else ends.low, _KL_FLOOR * kept  # of values as scaled
        self._floors = np.full(BLOCK, self.floor)  # an array, because a scalar is several times slower
        self.sum = self.squares = self.shifted = self.total = 0.0  # v, v**2, (v - low)**2, and v as scaled

    def add(self, v: np.ndarray, divergence: bool) -> None:
        """A block, which is overwritten: with its scaled values, if a divergence is wanted."""
        self.sum, self.squares = self.sum + float(v.sum()), self.squares + dot(v, v)
        if not self._constant:
            np.subtract(v, self._low, out=v)
            self.shifted += 0.0 if self._around_zero else dot(v, v)
        if divergence:
            if self._scale is not None:
                np.multiply(v, self._scale, out=v)
            np.maximum(v, self._floors[: v.size], out=v)
            self.total += float(v.sum())

    @property
    def plain(self) -> bool:
        """Whether values as scaled are within 2**-423..2**400, and only their offset is taken off."""
        return self._scale is None and (not self._constant or abs(self._low) < 1 / _SMALL)

    def deviation(self, count: int) -> float:
        mean = self.sum / count - self._shift
        if self._constant or not math.isfinite(mean):
            return 0.0 if self._constant else math.nan
        return math.sqrt(max(0.0, (self.squares if self._around_zero else self.shifted) / count - mean * mean))


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """A dot product in pieces for which BLAS starts no threads of its own; nearly all of them in one call."""
    pieces = a.size // _DOT
    whole = pieces * _DOT
    found = float(np.dot(a[whole:], b[whole:]))
    if pieces:
        found += float(np.matmul(a[:whole].reshape(pieces, 1, _DOT), b[:whole].reshape(pieces, _DOT, 1)).sum())
    return found
