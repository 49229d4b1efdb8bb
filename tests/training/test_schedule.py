"""Learning rate, n_critic and counters at every corner of a run."""

from __future__ import annotations

import pytest

from ugatit.errors import UserError
from ugatit.training.schedule import Schedule, counter_after, learning_rate, steps_done_at, updates_generators

OFFICIAL = Schedule()


@pytest.mark.parametrize(
    ('steps_done', 'rate'),
    [
        (0, 1e-4),
        (499_999, 1e-4),
        (500_000, 1e-4),  # epoch 50: 1e-4 * (100 - 50) / (100 - 50)
        (509_999, 1e-4),
        (510_000, 1e-4 * 49 / 50),
        (519_999, 1e-4 * 49 / 50),  # per epoch, not per step
        (990_000, 1e-4 * 1 / 50),
        (999_999, 1e-4 * 1 / 50),
        (1_000_000, 0.0),
        (2_000_000, 0.0),
    ],
)
def test_official_rate(steps_done: int, rate: float) -> None:
    assert learning_rate(OFFICIAL, steps_done) == rate


def test_constant_without_decay() -> None:
    assert learning_rate(Schedule(decay=False), 999_999) == 1e-4


def test_decay_that_starts_at_once_or_never() -> None:
    at_once = Schedule(epochs=4, steps_per_epoch=10, decay_epoch=0)
    assert [learning_rate(at_once, 10 * epoch) for epoch in range(5)] == [
        1e-4,
        1e-4 * 3 / 4,
        1e-4 * 2 / 4,
        1e-4 / 4,
        0.0,
    ]
    never = Schedule(epochs=4, steps_per_epoch=10, decay_epoch=4)
    assert [learning_rate(never, 10 * epoch) for epoch in range(4)] == [1e-4] * 4


def test_counters() -> None:
    assert counter_after(0) == 1 and counter_after(1000) == 1001
    assert [steps_done_at(counter_after(steps)) for steps in (0, 1, 1000)] == [0, 1, 1000]
    assert OFFICIAL.steps == 1_000_000


def test_n_critic() -> None:
    assert [updates_generators(Schedule(n_critic=3), done) for done in range(7)] == [True, False, False] * 2 + [True]
    assert all(updates_generators(OFFICIAL, done) for done in range(5))


@pytest.mark.parametrize('wrong', [{'epochs': 0}, {'steps_per_epoch': 0}, {'n_critic': 0}, {'decay_epoch': -1}])
def test_impossible_schedules(wrong: dict) -> None:
    with pytest.raises(UserError, match=next(iter(wrong))):
        Schedule(**wrong)
