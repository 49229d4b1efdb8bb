"""Exponents that follow: every corner of delayed scaling, with a save and a restore between any two steps."""

from __future__ import annotations

import itertools
from typing import Dict, List, Sequence

import numpy as np
import pytest

from ugatit.errors import UserError
from ugatit.nn.scaling import FoldRule
from ugatit.numerics import FLOAT16
from ugatit.ranges.follow import BUMP, LARGEST_EXPONENT, Follower, Following
from ugatit.ranges.meter import DID_NOT_RUN, Meter

END = FLOAT16.max_finite
KERNEL = FoldRule('n/second/kernel', 'first', 'second', 1, -1)
METER = Meter('n', ('first', 'second'), (KERNEL,), (), END)
AS_IN_A_CHECKPOINT = Following(window=3, headroom_bits=2.0)


def _follower(window: int = 3, headroom: float = 2.0, end: float = END) -> Follower:
    return Follower(Meter('n', METER.groups, METER.operands, (), end), Following(window, headroom))


def _stored(follower: Follower, first: float, second: float, kernel: float = 1.0) -> np.ndarray:
    """What the meter shows in float16 arithmetic that saturates, for these true values."""
    e = follower.by_group
    values = first * 2.0 ** -e['first'], second * 2.0 ** -e['second']
    return np.float32([*(min(v, END) for v in values), kernel * 2.0 ** KERNEL.shift(e)])


def _reloaded(follower: Follower) -> Follower:
    fresh = Follower(follower.meter, AS_IN_A_CHECKPOINT)
    assert fresh.restore({name: np.array(value) for name, value in follower.state().items()})
    return fresh


def _run(factors: Sequence[float], reload_before: int = -1) -> List[Dict[str, int]]:
    """Exponents in force at each step, and after the last one; overflow flags come as 'over'."""
    follower, found = _follower(), []
    for step, factor in enumerate(factors):
        if step == reload_before:
            follower = _reloaded(follower)
        before = follower.by_group
        over = follower.observe(_stored(follower, 3e4 * factor, 10.0 * factor))
        found.append({**before, 'over': over})
    return [*found, follower.by_group]


CORNERS = (1.0, 1.0, 100.0, 0.0, 1.0)


def test_the_corners_step_by_step() -> None:
    """x1, x1, x100, 0, x1: the jump overflows once, and the raise that follows holds a hundredfold and more."""
    steps = _run(CORNERS)
    assert [step.get('over') for step in steps[:-1]] == [False, False, True, False, False]
    # 3e4 is under 65504 / 4 times two; 10 never needs an exponent, times 100 neither.
    assert [step['first'] for step in steps] == [0, 1, 1, 11, 11, 11]
    assert [step['second'] for step in steps] == [0] * 6
    assert 2.0 ** steps[3]['first'] * END / 4 >= 3e4 * 100


def test_after_the_jump_the_true_size_is_known_and_the_guess_leaves_with_its_window() -> None:
    follower = _follower()
    for _ in range(2):
        follower.observe(_stored(follower, 3e4, 1.0))
    assert follower.observe(_stored(follower, 3e6, 1.0))
    found = []
    for _ in range(5):
        assert not follower.observe(_stored(follower, 3e6, 1.0))
        found.append(follower.by_group['first'])
    assert found == [11, 11, 8, 8, 8]  # 3e6 / 2**8 = 11719, the largest under 16376


@pytest.mark.parametrize('between', range(len(CORNERS)))
@pytest.mark.parametrize('factors', [CORNERS, CORNERS[::-1], (100.0, 1.0, 0.0, 1e-30, 100.0)])
def test_a_save_and_a_restore_between_any_two_steps_changes_nothing(factors: Sequence[float], between: int) -> None:
    assert _run(factors, between) == _run(factors)


def test_the_control_a_lost_history_changes_something() -> None:
    follower = _follower()
    follower.observe(_stored(follower, 6e4, 1.0))
    forgetful = _follower()
    forgetful.exponents = follower.exponents.copy()
    for each in (follower, forgetful):
        each.observe(_stored(each, 0.0, 1.0))
    assert follower.by_group['first'] == 2 and forgetful.by_group['first'] == 0


@pytest.mark.parametrize('tiny', [0.0, 1e-45, 1e-30, 2.0**-24])
def test_zero_and_tiny_values_need_no_exponent_below_zero(tiny: float) -> None:
    follower = _follower()
    assert not follower.observe(_stored(follower, tiny, tiny, tiny))
    assert follower.by_group == {'first': 0, 'second': 0}


@pytest.mark.parametrize('huge', [np.inf, np.nan, END])
def test_what_cannot_be_told_is_taken_for_a_factor_of_256(huge: float) -> None:
    follower = _follower(headroom=0.0)
    assert follower.observe(np.float32([huge, 1.0, 1.0]))
    assert follower.by_group['first'] == BUMP
    assert follower.observe(np.float32([huge, 1.0, 1.0]))
    assert follower.by_group['first'] == 2 * BUMP
    for _ in range(10):
        follower.observe(np.float32([huge, 1.0, 1.0]))
    assert follower.by_group['first'] == LARGEST_EXPONENT
    assert np.isfinite(follower.history).all()


def test_any_hundredfold_jump_costs_at_most_one_skipped_step() -> None:
    for bits, headroom in itertools.product(np.arange(0.0, 12.0, 0.37), (0.0, 1.0, 2.0, 7.0)):
        follower, size = _follower(headroom=headroom), 2.0**bits * 100.0
        follower.observe(_stored(follower, size, 1.0))
        follower.observe(_stored(follower, size, 1.0))
        over = [follower.observe(_stored(follower, 100.0 * size, 1.0)) for _ in range(4)]
        assert sum(over) <= 1 and over[1:] == [False] * 3, (bits, headroom)


@pytest.mark.parametrize('absent', [DID_NOT_RUN, DID_NOT_RUN * (1.0 + 2.0**-20)])
def test_layers_that_did_not_run_keep_their_history(absent: float) -> None:
    """Replicas share what they measured by an average, which makes it a little larger."""
    follower = _follower(window=2)
    follower.observe(_stored(follower, 3e6, 3e6))
    before = follower.history.copy()
    for _ in range(3):
        stored = _stored(follower, 1.0, 1.0)
        stored[1] = absent
        follower.observe(stored)
    assert np.array_equal(follower.history[:, 1], before[:, 1])
    assert follower.by_group['first'] < follower.by_group['second']


def test_weights_must_fit_as_well() -> None:
    """The first group's exponent multiplies the weights that read it; the group that they write rises with it."""
    follower = _follower(headroom=0.0)
    follower.settle(np.float32([END, 1.0, 1000.0]))
    assert follower.by_group['first'] == BUMP and follower.by_group['second'] >= 2
    assert 1000.0 * 2.0 ** KERNEL.shift(follower.by_group) <= END


def test_in_float32_nothing_is_clipped_so_nothing_is_guessed() -> None:
    follower = _follower(end=float('inf'), headroom=2.0)
    assert not follower.observe(np.float32([1e6, 1.0, 1.0]))
    assert follower.by_group['first'] == 6  # 1e6 / 2**6 = 15625
    assert follower.history[0, 0] == 1e6


def test_fresh_until_something_was_measured_and_a_profile_takes_the_place_of_all() -> None:
    follower = _follower()
    assert follower.fresh
    follower.observe(_stored(follower, 3e6, 1.0))
    assert not follower.fresh
    follower.settle(_stored(follower, 1.0, 1.0))
    assert follower.by_group == {'first': 0, 'second': 0}


def test_a_state_of_another_shape_is_refused_untouched() -> None:
    follower = _follower()
    follower.observe(_stored(follower, 3e6, 1.0))
    other = _follower(window=5)
    assert not other.restore(follower.state()) and other.fresh
    assert not other.restore({}) and other.fresh


def test_following_says_what_it_wants() -> None:
    with pytest.raises(UserError, match='at least 1 step, but 0 arrived'):
        Following(window=0)
    with pytest.raises(UserError, match='between 0 and 15, but 16 arrived'):
        Following(headroom_bits=16)
