"""What one call of a network carries besides its input: the tap, the phase, and vectors shared between passes."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

import tensorflow as tf

Tap = Callable[[str, tf.Tensor], tf.Tensor]


def identity(name: str, x: tf.Tensor) -> tf.Tensor:
    """The tap that does nothing."""
    del name
    return x


class Recorder:
    """A tap that keeps every tensor under its official name (in a `tf.function`: return `recorder.tensors`)."""

    def __init__(self) -> None:
        self.tensors: Dict[str, tf.Tensor] = {}

    def __call__(self, name: str, x: tf.Tensor) -> tf.Tensor:
        self.tensors[name] = x
        return x


class SingularVectors(NamedTuple):
    """One power iteration's result for a kernel reshaped to [-1, out]."""

    u: tf.Tensor  # [1, out], the new right singular vector estimate
    v: tf.Tensor  # [1, -1], the left one it came from


class Membership(NamedTuple):
    """How a stored tensor depends on its range group's exponent: stored = true * 2 ** (-power * exponent)."""

    group: Optional[str]  # None: never scaled
    power: int  # 1, or 2 for squares


@dataclasses.dataclass(frozen=True, eq=False)  # hashed by identity, so that it may be an argument of a tf.function
class Call:
    """Passed to every layer; `keep` is the one place where tensors get their names."""

    tap: Tap = identity
    batch_momentum: Optional[float] = None  # None: inference; else batch norms use the batch's statistics and update
    # their running ones with this momentum (0: replace, for calibration)
    vectors: Mapping[str, SingularVectors] = dataclasses.field(default_factory=dict)  # spectral norm, by kernel name
    members: Optional[Dict[str, Membership]] = None  # when given, filled with the range group of every tensor
    frozen: bool = False  # weights change no more: what is prepared from one when this is traced stays right

    def keep(self, name: str, x: Any, group: Optional[str] = None, power: int = 1) -> tf.Tensor:
        """Names the tensor `x` that a layer just stored, and hands it to the tap."""
        if self.members is not None:
            self.members[name] = Membership(group, power if group else 0)
        return self.tap(name, x)


PLAIN_CALL = Call()
FROZEN_CALL = Call(frozen=True)
