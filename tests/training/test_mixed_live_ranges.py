"""Float32 training with exponents that change is float32 training, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.training.mixed_runs import make
from tests.training.tiny import TINY, differing, make_images, snapshot
from ugatit.nn.policy import make_policy
from ugatit.ranges.follow import Following
from ugatit.training.precision import FullPrecision, MixedPrecision
from ugatit.training.step import TrainingStep


class _Thirds:
    """The control: scaling that is exact for no value."""

    planned = True

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def apply(self, value: tf.Tensor, rule: Any) -> tf.Tensor:
        return self._inner.apply(value, rule) * 3.0 * (1.0 / 3.0)


class _Live(MixedPrecision):
    """Exponents that really move: little room, so that ordinary values need some, and another need at every step."""

    thirds = False

    def scaling(self, scope: str) -> Any:
        scaling = super().scaling(scope)
        return _Thirds(scaling) if self.thirds else scaling

    def observe(self, steps_done: int, results: Any) -> Any:
        found = super().observe(steps_done, results)
        for scope, follower in self.followers.items():
            follower.exponents = np.random.RandomState([steps_done, len(scope)]).randint(
                0, 12, len(follower.meter.groups)
            ).astype(np.int32)  # fmt: skip
        self._assign()
        return found


def _steps(precision: FullPrecision, steps: int, gan_type: str = 'lsgan', algebra: bool = False) -> Any:
    training = make(precision, gan_type, algebra=algebra)
    step = TrainingStep(training)
    losses = [{name: float(value) for name, value in step(k, make_images(k)).items()} for k in range(steps)]
    return snapshot(training), losses


@pytest.mark.slow
@pytest.mark.parametrize(('gan_type', 'algebra'), [('lsgan', False), ('lsgan', True), ('wgan-gp', False)])
def test_float32_with_live_ranges_is_float32_bit_for_bit(gan_type: str, algebra: bool) -> None:
    """20 compiled steps: weights, slots, powers, `u` and losses, with exponents that change at every step."""
    expected, losses = _steps(FullPrecision(), 20, gan_type, algebra)
    settings = {'following': Following(4, 14.0)}
    live = _Live(make_policy('float32'), TINY, **settings)
    found, live_losses = _steps(live, 20, gan_type, algebra)
    assert differing(expected, found) == []
    assert [{name: row[name] for name in expected_row} for row, expected_row in zip(live_losses, losses)] == losses
    assert max(max(follower.by_group.values()) for follower in live.followers.values()) > 5
    if algebra or gan_type == 'wgan-gp':
        return  # a second-order gradient takes long to compile: one control is enough
    control = _Live(make_policy('float32'), TINY, **settings)
    control.thirds = True
    assert len(differing(expected, _steps(control, 2)[0])) > len(expected) // 2
