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

from ugatit.dumps.dtypes import FLOAT16_MAX
from ugatit.dumps.engines import NUMPY, Engine
from ugatit.dumps.extremes import extremes
from ugatit.dumps.sums import EPSILON, Sums
from ugatit.dumps.tensors import OpenTensor
from ugatit.errors import UserError

_GATHERED = 1 << 18  # values taken out of tiles at a time; for more the system gives fresh pages each time, which costs
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


def measure(left: OpenTensor, right: OpenTensor, engine: Engine = NUMPY) -> Metrics:
    """Compares two tensors of one size. UserError where the sizes differ, or there is nothing."""
    if left.size != right.size:
        raise UserError(f'{left.size} values of shape {list(left.shape)} against {right.size} of {list(right.shape)}')
    if not left.size:
        raise UserError('the tensors are empty')
    with np.errstate(all='ignore'):
        limit = _SATURATED if left.dtype.is_float16 else math.inf
        ends = extremes(left, limit, engine.ends), extremes(right, FLOAT16_MAX, engine.ends)
        sums = engine.sums((left.dtype, right.dtype), ends)
        for x, y in _pairs(left, right, sums.most):
            sums.add(x, y)
        return _finish(left, sums)


def _pairs(left: OpenTensor, right: OpenTensor, most: int) -> Iterator[Tuple[np.ndarray, np.ndarray]]:
    """Blocks of both sides as they are stored, cut to one length."""
    a, b = _Feed(left), _Feed(right)
    remaining = left.size
    while remaining:
        count = min(most, a.ready(), b.ready())
        yield a.take(count), b.take(count)
        remaining -= count


class _Feed:
    """Hands out a tensor's values in pieces of any length."""

    def __init__(self, tensor: OpenTensor) -> None:
        self._blocks = tensor.blocks(_GATHERED)
        self._block, self._position = np.zeros(0), 0

    def ready(self) -> int:
        while self._position == self._block.size:
            self._block, self._position = next(self._blocks), 0
        return self._block.size - self._position

    def take(self, count: int) -> np.ndarray:
        part = self._block[self._position : self._position + count]
        self._position += count
        return part


def _finish(left: OpenTensor, sums: Sums) -> Metrics:
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


def _cosine(sums: Sums, shape: Tuple[int, ...], notes: List[str]) -> float:
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
