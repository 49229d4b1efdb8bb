"""The vendor's measures of how far a dumped tensor is from the right one, in one pass over blocks, float64 inside.

x is the left (NPU) value, y the right (ground truth) one, n their number, e = 2**-52:

    cosine  sum(x y) / (|x| |y|); a scalar gives 1, two zero tensors 1, one zero tensor NaN
    MaxAbs, MAE, RMSE      max |x - y|, its mean, the root of its square's mean
    ARE, MaxRE, MeanRE     sum, maximum, mean of |x / y - 1| where |y| > e, and 0 elsewhere
    RED     |x - y| / |y|; 0 where |y| <= e
    KL      sum p log(p / q), p and q from x and y: (v - min) / (max - min), at least 2**-23, divided by its sum
    Std     '(mean;std),(mean;std)' of x and y

NaN and inf pass through: a measure never hides a broken value.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Iterator, List, Tuple

import numpy as np

from ugatit.dumps.dtypes import FLOAT16_MAX, ToFloat64
from ugatit.dumps.extremes import Extremes, extremes, larger
from ugatit.dumps.side import BLOCK, Side, dot
from ugatit.dumps.tensors import OpenTensor
from ugatit.errors import UserError

EPSILON = float(np.finfo(np.float64).eps)
_GATHERED = 1 << 20  # values taken out of tiles at a time
_SATURATED = 65472.0  # the largest float16 that is not saturated


@dataclasses.dataclass(frozen=True)
class Metrics:
    """One pair of tensors; every number may be NaN."""

    count: int
    cosine: float
    max_absolute: float
    accumulated_relative: float
    relative_euclidean: float
    kl: float
    left_mean: float
    left_std: float
    right_mean: float
    right_std: float
    mean_absolute: float
    rmse: float
    max_relative: float
    mean_relative: float
    left_amax: float
    right_amax: float
    left_saturated: float  # share of |x| >= 65504, NaN and inf included; 0 unless x is stored in float16
    right_over: float  # share of |y| > 65504
    notes: Tuple[str, ...] = ()

    def to_json(self) -> dict:
        return dataclasses.asdict(self)

    @property
    def finite(self) -> bool:
        """Whether both sides hold finite values only."""
        return math.isfinite(self.left_amax) and math.isfinite(self.right_amax)


def measure(left: OpenTensor, right: OpenTensor) -> Metrics:
    """Compares two tensors of one size. UserError where the sizes differ, or there is nothing."""
    if left.size != right.size:
        raise UserError(f'{left.size} values of shape {list(left.shape)} against {right.size} of {list(right.shape)}')
    if not left.size:
        raise UserError('the tensors are empty')
    with np.errstate(all='ignore'):
        ends = extremes(left, _SATURATED if left.dtype.is_float16 else math.inf), extremes(right, FLOAT16_MAX)
        sums = _Sums(*ends)
        for x, y in _pairs(left, right, ends):
            sums.add(x, y)
        return _finish(left, sums)


def _pairs(
    left: OpenTensor, right: OpenTensor, ends: Tuple[Extremes, Extremes]
) -> Iterator[Tuple[np.ndarray, np.ndarray]]:
    """Blocks of both sides as float64, cut to one length."""
    a, b = _Feed(left, ends[0].finite), _Feed(right, ends[1].finite)
    remaining = left.size
    while remaining:
        count = min(BLOCK, a.ready(), b.ready())
        yield a.take(count), b.take(count)
        remaining -= count


class _Feed:
    """Hands out a tensor's values in pieces of any length."""

    def __init__(self, tensor: OpenTensor, finite: bool) -> None:
        self._convert, self._out = ToFloat64(tensor.dtype, finite, BLOCK), np.empty(BLOCK)
        self._blocks = tensor.blocks(_GATHERED)
        self._block, self._position = np.zeros(0), 0

    def ready(self) -> int:
        while self._position == self._block.size:
            self._block, self._position = next(self._blocks), 0
        return self._block.size - self._position

    def take(self, count: int) -> np.ndarray:
        part = self._block[self._position : self._position + count]
        self._position += count
        return self._convert(part, self._out)


class _Sums:
    """What one pass adds up once both sides' ends are known."""

    def __init__(self, left: Extremes, right: Extremes) -> None:
        self.ends, self.finite = (left, right), left.finite and right.finite
        self.count, self.xy, self.dd, self.d, self.relative = 0, 0.0, 0.0, 0.0, 0.0
        self.max_d = self.max_relative = 0.0
        self.sides = Side(left), Side(right)
        self.weighted = 0.0  # sum p log(p / q)
        self._zeros = not (right.low > EPSILON or right.high < -EPSILON)
        self._work = np.empty(BLOCK), np.empty(BLOCK)

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        """Blocks of both sides, which are overwritten."""
        self.count += x.size
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

    def divergence(self) -> float:
        """sum (p/P) log((p/P) / (q/Q)) = sum(p log(p/q)) / P - log(P/Q)."""
        left, right = (side.total for side in self.sides)
        if not self.finite or not left > 0 or not right > 0:
            return math.nan
        found = self.weighted / left - math.log(left / right)
        return 0.0 if abs(found) < EPSILON else found


def _finish(left: OpenTensor, sums: _Sums) -> Metrics:
    n, notes = sums.count, []
    x, y = sums.sides
    cosine = _cosine(sums, left.shape, notes)
    norm = _root(y.squares)
    if norm <= EPSILON and sums.dd > 0:
        notes.append('the right side is zero everywhere: relative distances are 0 by definition')
    return Metrics(
        count=n,
        cosine=cosine,
        max_absolute=sums.max_d,
        accumulated_relative=sums.relative,
        relative_euclidean=0.0 if norm <= EPSILON else _root(sums.dd / y.squares),
        kl=sums.divergence(),
        left_mean=x.sum / n,
        left_std=x.deviation(n),
        right_mean=y.sum / n,
        right_std=y.deviation(n),
        mean_absolute=sums.d / n,
        rmse=_root(sums.dd / n),
        max_relative=sums.max_relative,
        mean_relative=sums.relative / n,
        left_amax=sums.ends[0].amax,
        right_amax=sums.ends[1].amax,
        left_saturated=sums.ends[0].beyond / n if left.dtype.is_float16 else 0.0,
        right_over=sums.ends[1].beyond / n,
        notes=tuple(notes),
    )


def _cosine(sums: _Sums, shape: Tuple[int, ...], notes: List[str]) -> float:
    if not shape:
        notes.append('a scalar: its cosine is 1 by definition')
        return 1.0
    x, y = (_root(side.squares) for side in sums.sides)
    if x <= EPSILON and y <= EPSILON:
        return 1.0
    if x <= EPSILON or y <= EPSILON:
        notes.append(f'no cosine: the {"left" if x <= EPSILON else "right"} side is zero everywhere')
        return math.nan
    found = sums.xy / (x * y)
    return found if math.isnan(found) else min(found, 1.0)


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan
