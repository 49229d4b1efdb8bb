"""Range profiles: what every tensor of a network reaches on calibration pictures, results and operands alike."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Callable, Dict, List, Optional, Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.call import Call
from ugatit.nn.network import Network
from ugatit.nn.policy import Policy
from ugatit.numerics import FLOAT16
from ugatit.ranges.kinds import INPUT, OPERAND, SQUARE, kind_of, stored_format


@dataclasses.dataclass(frozen=True)
class TensorRange:
    """One tensor over all pictures; values as stored (true values where no exponents are applied)."""

    name: str
    kind: str  # kinds.py
    shape: Tuple[int, ...]  # of one picture
    min: float
    max: float
    mean: float
    rms: float
    overflow_share: float  # |t| > 65504
    subnormal_share: float  # 0 < |t| < 2**-14
    amax_per_picture: Tuple[float, ...]  # operands: one value

    @property
    def amax(self) -> float:
        """Largest |value|; NaN where there was one."""
        return float(np.maximum(abs(self.min), abs(self.max)))

    @property
    def overflows(self) -> bool:
        """Whether float16 cannot hold it: beyond 65504 (or not finite at all)."""
        return not self.amax <= FLOAT16.max_finite


class RangeProfile(Mapping[str, TensorRange]):
    """Tensor name -> TensorRange, in the order of execution."""

    def __init__(self, network: str, tensors: Mapping[str, TensorRange], pictures: int) -> None:
        self.network, self.pictures = network, pictures
        self._tensors = dict(tensors)

    def __getitem__(self, name: str) -> TensorRange:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def first_overflow(self, policy: Policy) -> Optional[TensorRange]:
        """The first float16 value in order of execution that does not fit: operands and results this policy stores."""
        return self._first(lambda t: stored_format(t.name, policy) is FLOAT16)

    def first_overflowing_result(self, policy: Policy) -> Optional[TensorRange]:
        """The same among results alone, as the vendor's engineers would report it."""
        return self._first(lambda t: t.kind not in (OPERAND, INPUT) and stored_format(t.name, policy) is FLOAT16)

    def first_over_limit(self) -> Optional[TensorRange]:
        """The first value over 65504 of any kind, stored in float16 or not; squares left out."""
        return self._first(lambda t: t.kind != SQUARE)

    def _first(self, counts: Callable[[TensorRange], bool]) -> Optional[TensorRange]:
        return next((t for t in self.values() if t.overflows and counts(t)), None)

    def to_json(self) -> Dict[str, object]:
        """Plain data."""
        keys = ('kind', 'shape', 'min', 'max', 'mean', 'rms', 'amax', 'overflow_share', 'subnormal_share')
        tensors = {name: {key: getattr(t, key) for key in keys} for name, t in self.items()}
        return {'network': self.network, 'pictures': self.pictures, 'tensors': tensors}


def measure(network: Network, batches: Sequence[np.ndarray]) -> RangeProfile:
    """Runs the network over batches of pictures, [N, H, W, 3] each, and measures every named tensor.

    Give it a float32 network: a saturating one hides what it would have reached.
    """
    collected: Dict[str, _Collected] = {}
    pictures = 0
    for batch in batches:
        pictures += len(batch)
        # Eagerly: a graph of all these reductions takes a minute to build, and no tensor need be kept.
        for name, values in _statistics(network, tf.constant(batch, tf.float32)).items():
            collected.setdefault(name, _Collected(name)).add(values)
    return RangeProfile(network.scope, {name: c.finish() for name, c in collected.items()}, pictures)


def _statistics(network: Network, images: tf.Tensor) -> Dict[str, Dict[str, np.ndarray]]:
    found: Dict[str, Dict[str, np.ndarray]] = {}

    def tap(name: str, x: tf.Tensor) -> tf.Tensor:
        found[name] = {key: value.numpy() for key, value in _reduce(name, tf.cast(x, tf.float32)).items()}
        return x

    network(images, Call(tap=tap))
    return found


def _reduce(name: str, x: tf.Tensor) -> Dict[str, tf.Tensor]:
    magnitude = tf.abs(x)
    per_picture = kind_of(name) != OPERAND and x.shape.rank > 1
    flat = tf.reshape(magnitude, [tf.shape(x)[0], -1] if per_picture else [1, -1])
    subnormal = tf.logical_and(magnitude > 0.0, magnitude < FLOAT16.smallest_normal)
    return {
        'min': tf.reduce_min(x),
        'max': tf.reduce_max(x),
        'mean': tf.reduce_mean(x),
        'square': tf.reduce_mean(tf.square(x)),
        'size': tf.size(x),
        'shape': tf.shape(x),
        'over': tf.reduce_sum(tf.cast(magnitude > FLOAT16.max_finite, tf.int32)),
        'under': tf.reduce_sum(tf.cast(subnormal, tf.int32)),
        'amax': tf.reduce_max(flat, 1),
    }


class _Collected:
    """One tensor's statistics, batch after batch; operands are the same in every batch and taken once."""

    def __init__(self, name: str) -> None:
        self.name, self.kind = name, kind_of(name)
        self.parts: List[Dict[str, np.ndarray]] = []

    def add(self, part: Dict[str, np.ndarray]) -> None:
        if self.kind != OPERAND or not self.parts:
            self.parts.append(part)

    def finish(self) -> TensorRange:
        parts = self.parts
        sizes = [int(part['size']) for part in parts]
        total = sum(sizes)
        shape = tuple(int(side) for side in parts[0]['shape'])

        def weighted(key: str) -> float:
            return sum(float(part[key]) * size for part, size in zip(parts, sizes)) / total

        return TensorRange(
            name=self.name,
            kind=self.kind,
            shape=shape if self.kind == OPERAND else (1, *shape[1:]),
            min=float(min(part['min'] for part in parts)),
            max=float(max(part['max'] for part in parts)),
            mean=weighted('mean'),
            rms=math.sqrt(weighted('square')),
            overflow_share=sum(int(part['over']) for part in parts) / total,
            subnormal_share=sum(int(part['under']) for part in parts) / total,
            amax_per_picture=tuple(float(value) for part in parts for value in part['amax']),
        )
