"""The vendor's measures of how far a dumped tensor is from the right one, in two passes over blocks, float64 inside.

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

from ugatit.dumps.dtypes import FLOAT16_MAX, DataType, to_float64
from ugatit.dumps.tensors import OpenTensor
from ugatit.errors import UserError

EPSILON = float(np.finfo(np.float64).eps)
KL_FLOOR = float(np.finfo(np.float32).eps)
BLOCK = 1 << 16  # values: a few float64 blocks stay in a core's cache, and Python's share is small
_DOT = 1 << 13  # values; BLAS starts threads of its own for longer products, which cost more than they give


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
        sums = _Sums(left.dtype.is_float16)
        work = [np.empty(BLOCK) for _ in range(4)]
        for x, y in _pairs(left, right, work):
            sums.add(x, y, work[2], work[3])
        spread = _Spread(sums)
        for x, y in _pairs(left, right, work):
            spread.add(x, y, work[2])
        return _finish(left, sums, spread)


def _pairs(left: OpenTensor, right: OpenTensor, work: List[np.ndarray]) -> Iterator[Tuple[np.ndarray, np.ndarray]]:
    """Blocks of both sides as float64, cut to one length."""
    a, b = _Feed(left), _Feed(right)
    remaining = left.size
    while remaining:
        count = min(BLOCK, a.ready(), b.ready())
        yield a.take(count, work[0]), b.take(count, work[1])
        remaining -= count


class _Feed:
    """Hands out a tensor's values in pieces of any length."""

    def __init__(self, tensor: OpenTensor) -> None:
        self._dtype: DataType = tensor.dtype
        self._blocks = tensor.blocks(BLOCK * 16)
        self._block, self._position = np.zeros(0), 0

    def ready(self) -> int:
        while self._position == self._block.size:
            self._block, self._position = next(self._blocks), 0
        return self._block.size - self._position

    def take(self, count: int, out: np.ndarray) -> np.ndarray:
        part = self._block[self._position : self._position + count]
        self._position += count
        return to_float64(part, self._dtype, out)


class _Sums:
    """First pass: everything but the KL divergence and the deviations."""

    def __init__(self, float16: bool) -> None:
        self.float16, self.count = float16, 0
        self.x = self.y = self.xx = self.yy = self.xy = self.dd = self.d = self.relative = 0.0
        self.max_d = self.max_relative = 0.0
        self.low, self.high = [math.inf, math.inf], [-math.inf, -math.inf]
        self.saturated = self.over = 0

    def add(self, x: np.ndarray, y: np.ndarray, d: np.ndarray, scale: np.ndarray) -> None:
        d, scale = d[: x.size], scale[: x.size]
        self.count += x.size
        self._sides(x, y)
        np.subtract(x, y, out=d)
        self.dd += _dot(d, d)
        np.abs(d, out=d)
        self.d += float(d.sum())
        self.max_d = _larger(self.max_d, float(d.max()))
        np.abs(y, out=scale)
        zero = scale <= EPSILON
        np.copyto(scale, math.inf, where=zero)  # |x - y| / inf = 0
        np.divide(d, scale, out=d)
        if not math.isfinite(self.d):
            d[zero] = 0.0  # inf / inf
        self.relative += float(d.sum())
        self.max_relative = _larger(self.max_relative, float(d.max()))

    def _sides(self, x: np.ndarray, y: np.ndarray) -> None:
        lows, highs = [float(x.min()), float(y.min())], [float(x.max()), float(y.max())]
        self.low = [_smaller(a, b) for a, b in zip(self.low, lows)]
        self.high = [_larger(a, b) for a, b in zip(self.high, highs)]
        if self.float16 and not max(highs[0], -lows[0]) < FLOAT16_MAX:
            self.saturated += x.size - int(np.count_nonzero(np.abs(x) < FLOAT16_MAX))
        if not max(highs[1], -lows[1]) <= FLOAT16_MAX:
            self.over += y.size - int(np.count_nonzero(np.abs(y) <= FLOAT16_MAX))
        self.x, self.y = self.x + float(x.sum()), self.y + float(y.sum())
        self.xx, self.yy, self.xy = self.xx + _dot(x, x), self.yy + _dot(y, y), self.xy + _dot(x, y)


class _Spread:
    """Second pass, when minimum, maximum and mean are known."""

    def __init__(self, sums: _Sums) -> None:
        self.low, self.means = sums.low, [sums.x / sums.count, sums.y / sums.count]
        self.range = [high - low for low, high in zip(sums.low, sums.high)]
        self.square = [0.0, 0.0]  # of v - min
        self.total, self.weighted = [0.0, 0.0], 0.0
        self.floor = np.full(BLOCK, KL_FLOOR)

    def add(self, x: np.ndarray, y: np.ndarray, work: np.ndarray) -> None:
        for side, v in enumerate((x, y)):
            if self.range[side] != 0:
                np.subtract(v, self.low[side], out=v)
                self.square[side] += _dot(v, v)
                np.multiply(v, 1.0 / self.range[side], out=v)
            np.maximum(v, self.floor[: v.size], out=v)  # an array, because a scalar is several times slower
            self.total[side] += float(v.sum())
        ratio = np.divide(x, y, out=work[: x.size])
        np.log(ratio, out=ratio)
        self.weighted += _dot(x, ratio)

    def divergence(self) -> float:
        """sum (p/P) log((p/P) / (q/Q)) = sum(p log(p/q)) / P - log(P/Q)."""
        left, right = self.total
        found = self.weighted / left - math.log(left / right) if left > 0 and right > 0 else math.nan
        return 0.0 if abs(found) < EPSILON else found

    def deviation(self, side: int, count: int) -> float:
        if self.range[side] == 0:
            return 0.0
        mean = self.means[side] - self.low[side]
        return math.sqrt(max(0.0, self.square[side] / count - mean * mean)) if math.isfinite(mean) else math.nan


def _finish(left: OpenTensor, sums: _Sums, spread: _Spread) -> Metrics:
    n, notes = sums.count, []
    cosine = _cosine(sums, left.shape, notes)
    norm = _root(sums.yy)
    if norm <= EPSILON and sums.dd > 0:
        notes.append('the right side is zero everywhere: relative distances are 0 by definition')
    return Metrics(
        count=n,
        cosine=cosine,
        max_absolute=sums.max_d,
        accumulated_relative=sums.relative,
        relative_euclidean=0.0 if norm <= EPSILON else _root(sums.dd / sums.yy),
        kl=spread.divergence(),
        left_mean=sums.x / n,
        left_std=spread.deviation(0, n),
        right_mean=sums.y / n,
        right_std=spread.deviation(1, n),
        mean_absolute=sums.d / n,
        rmse=_root(sums.dd / n),
        max_relative=sums.max_relative,
        mean_relative=sums.relative / n,
        left_amax=_larger(sums.high[0], -sums.low[0]),
        right_amax=_larger(sums.high[1], -sums.low[1]),
        left_saturated=sums.saturated / n,
        right_over=sums.over / n,
        notes=tuple(notes),
    )


def _cosine(sums: _Sums, shape: Tuple[int, ...], notes: List[str]) -> float:
    if not shape:
        notes.append('a scalar: its cosine is 1 by definition')
        return 1.0
    x, y = _root(sums.xx), _root(sums.yy)
    if x <= EPSILON and y <= EPSILON:
        return 1.0
    if x <= EPSILON or y <= EPSILON:
        notes.append(f'no cosine: the {"left" if x <= EPSILON else "right"} side is zero everywhere')
        return math.nan
    found = sums.xy / (x * y)
    return found if math.isnan(found) else min(found, 1.0)


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return sum(float(np.dot(a[i : i + _DOT], b[i : i + _DOT])) for i in range(0, a.size, _DOT))


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _larger(a: float, b: float) -> float:
    """max that keeps NaN."""
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def _smaller(a: float, b: float) -> float:
    return -_larger(-a, -b)
