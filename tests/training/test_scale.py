"""The loss scale on its own, and what tells a usable gradient."""

from __future__ import annotations

from typing import List, Tuple

import pytest
import tensorflow as tf

from ugatit.training.scale import LARGEST, SMALLEST, LossScale, usable

GOOD, BLAME, OTHER = (True, False), (False, True), (False, False)


def _after(scale: LossScale, events: List[Tuple[bool, bool]], traced: bool = False) -> List[float]:
    update = tf.function(scale.update) if traced else scale.update
    found = []
    for event in events:
        update(*(tf.constant(flag) for flag in event))
        found.append(float(scale.scale.numpy()))
    return found


@pytest.mark.parametrize('traced', [False, True])
def test_it_doubles_after_so_many_usable_updates_in_a_row_and_halves_at_once(traced: bool) -> None:
    scale = LossScale('generators', 1024.0, growth_steps=3)
    events = [GOOD, GOOD, GOOD, GOOD, GOOD, BLAME, GOOD, GOOD, GOOD, BLAME, BLAME]
    assert _after(scale, events, traced) == [1024, 1024, 2048, 2048, 2048, 1024, 1024, 1024, 2048, 1024, 512]


def test_what_something_else_prevented_changes_nothing() -> None:
    scale = LossScale('generators', 1024.0, growth_steps=2)
    assert _after(scale, [GOOD, OTHER, OTHER, GOOD]) == [1024, 1024, 1024, 2048]


def test_it_stays_within_bounds() -> None:
    assert _after(LossScale('penalty', SMALLEST), [BLAME] * 2) == [SMALLEST] * 2
    assert _after(LossScale('penalty', LARGEST, 1), [GOOD] * 2) == [LARGEST] * 2


def test_unscaling_is_exact() -> None:
    scale = LossScale('discriminators', 2.0**10)
    values = tf.random.stateless_normal([1000], [1, 2])
    (found,) = scale.unscaled([values * scale.scale])
    assert tf.reduce_all(tf.equal(found, values))


def test_its_names_are_our_own() -> None:
    names = set(LossScale('penalty').named_variables)
    assert names == {'ugatit/loss_scale/penalty/scale', 'ugatit/loss_scale/penalty/good_steps'}


@pytest.mark.parametrize(
    ('name', 'value', 'finite', 'saturation_proof'),
    [
        ('x/kernel', 65503.0, True, True),
        ('x/kernel', 65504.0, True, False),  # saturated: finite, and wrong
        ('x/kernel', -65504.0, True, False),
        ('x/bias', 65504.0, True, False),
        ('x/gamma', 1e6, True, True),  # float32 arithmetic
        ('x/rho', float('inf'), False, False),
        ('x/kernel', float('nan'), False, False),
        ('x/gamma', float('nan'), False, False),
    ],
)
def test_usable_gradients(name: str, value: float, finite: bool, saturation_proof: bool) -> None:
    gradients = {'y/kernel': tf.ones([3]), name: tf.constant([0.0, value])}
    assert bool(usable(gradients, saturates=False)) is finite
    assert bool(usable(gradients, saturates=True)) is saturation_proof
