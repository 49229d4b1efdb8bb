"""The planner on profiles that are altered by hand: the smallest exponents that fit, and a reason for what does not."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ugatit
from tests.ranges import support
from ugatit.nn.build import Build
from ugatit.nn.generator import Generator
from ugatit.nn.rules import Variants
from ugatit.ranges import RangeProfile, measure, plan_network
from ugatit.translate import load_untrained

SCOPE = 'generator_B'
UP = f'{SCOPE}/up_conv_0/conv2d/Conv2D'


@pytest.fixture(scope='module')
def network() -> Generator:
    return support.generator(support.LIGHT, support.lively_values(support.LIGHT))


@pytest.fixture(scope='module')
def profile(network: Generator) -> RangeProfile:
    return measure(network, [support.pictures(4)])


def _with(profile: RangeProfile, name: str, **changes: Any) -> RangeProfile:
    tensors = {**profile, name: dataclasses.replace(profile[name], **changes)}
    return RangeProfile(profile.network, tensors, profile.pictures)


def _reaching(profile: RangeProfile, amax: float, name: str = UP) -> RangeProfile:
    return _with(profile, name, min=-amax, max=amax / 2, amax_per_picture=(amax,) * 4, rms=amax / 4)


@pytest.mark.parametrize(
    ('amax', 'headroom', 'exponent'),
    [
        (32752.0, 1, 0),
        (32753.0, 1, 1),
        (65504.0, 0, 0),
        (65504.1, 0, 1),
        (65504.0, 1, 1),
        (271823.0, 0, 3),
        (271823.0, 1, 4),
        (271823.0, 2.5, 5),
        (65504.0 * 2.0**20, 1, 21),
    ],
)
def test_the_smallest_exponent_that_fits_with_the_headroom(network, profile, amax, headroom, exponent):
    plan = plan_network(network, _reaching(profile, amax), headroom_bits=headroom)
    assert plan[SCOPE]['up_conv_0'] == exponent  # weights behind a very large one may raise others, see below
    assert plan.headroom_bits == headroom and plan.notes == ()


def test_squares_are_fitted_only_on_request(network, profile):
    name = f'{SCOPE}/layer_ins_norm_0/moments/SquaredDifference'
    large = _with(profile, name, max=65504.0 * 16)
    assert plan_network(network, large).nonzero(SCOPE) == {}
    assert plan_network(network, large, fit_squares=True).nonzero(SCOPE) == {'up_conv_0': 3}  # 4**3 >= 16 * 2


def test_weights_that_do_not_fit_raise_what_their_layer_writes(network, profile):
    plan = plan_network(network, _with(profile, f'{SCOPE}/up_conv_0/conv2d/kernel', max=3e5))
    assert plan.nonzero(SCOPE) == {'up_conv_0': 4}


def test_weights_that_became_small_raise_what_their_layer_reads(network, profile):
    """0.1 * 2**-10 is subnormal in good part: a larger exponent in front of the kernel lifts it again."""
    large = _reaching(profile, 65504.0 * 2.0**9)
    exponents = plan_network(network, large).nonzero(SCOPE)
    assert exponents['up_conv_0'] == 10 and 1 <= exponents['decoder'] < 10
    assert plan_network(network, _reaching(profile, 65504.0)).nonzero(SCOPE) == {'up_conv_0': 1}


@pytest.mark.parametrize('value', [math.inf, math.nan])
def test_what_is_not_finite_is_reported_and_scales_nothing(network, profile, value):
    plan = plan_network(network, _with(profile, UP, max=value))
    assert plan.nonzero(SCOPE) == {}
    assert len(plan.notes) == 1 and 'up_conv_0/conv2d/Conv2D' in plan.notes[0] and 'not finite' in plan.notes[0]


def test_what_the_largest_exponent_does_not_take_away_is_reported(network, profile):
    plan = plan_network(network, _reaching(profile, 1e30))
    assert plan[SCOPE]['up_conv_0'] == 60
    assert any('1e+30, more than the largest exponent 60' in note for note in plan.notes)


def test_a_value_that_nothing_can_undo_is_reported(network, profile):
    plan = plan_network(network, _with(profile, f'{SCOPE}/G_logit/conv2d/Conv2D', max=1e6))
    assert len(plan.notes) == 1 and 'G_logit/conv2d/Conv2D does not fit float16: |value| reaches 1e+06' in plan.notes[0]
    assert 'nothing after it undoes a scale' in plan.notes[0]


def test_a_weight_that_cannot_be_stored_is_reported(network, profile):
    plan = plan_network(network, _with(profile, f'{SCOPE}/G_logit/conv2d/bias', max=1e6))
    assert any('G_logit/conv2d/bias does not fit float16: |weight| is to be stored as' in note for note in plan.notes)
    assert not any('None' in note for note in plan.notes)


def test_variants_that_refuse_exponents_are_the_reason(profile):
    guard = (('.*/up_conv_1', 'plain'), ('.*/G_logit', 'plain'), ('.*', 'planned'))
    refusing = Generator(support.LIGHT, SCOPE, Build(variants=Variants('test', guard=guard)))
    plan = plan_network(refusing, _reaching(profile, 1e6, f'{SCOPE}/up_conv_1/conv2d/Conv2D'))
    assert plan.nonzero(SCOPE) == {}
    assert 'up_conv_1/conv2d/Conv2D' in plan.notes[0] and 'refuse exponents' in plan.notes[0]


@pytest.mark.parametrize(
    ('per_picture', 'warned'),
    [
        ((100.0, 100.0, 30000.0, 200.0), False),  # reaches much further, but not past 65504 without any exponent
        ((100.0, 100.0, 70000.0, 200.0), True),
        ((40000.0, 40000.0, 120000.0, 1.0), False),  # the first half gives e = 1: 60000
        ((40000.0, 40000.0, 140000.0, 1.0), True),
        ((140000.0, 1.0, 40000.0, 40000.0), False),
    ],
)
def test_pictures_held_out_tell_whether_there_were_enough(network, profile, per_picture, warned):
    changed = _with(profile, UP, max=max(per_picture), min=-1.0, amax_per_picture=per_picture)
    notes = plan_network(network, changed).notes
    assert any('look too few' in note and 'up_conv_0' in note for note in notes) is warned


def test_one_picture_is_not_enough_to_tell(network):
    assert 'only 1 calibration picture' in plan_network(network, measure(network, [support.pictures(1)])).notes[0]


def test_planning_a_model_that_has_a_plan_gives_the_whole_plan(tmp_path):
    translate = load_untrained(device='cpu', image_size=32)
    images = support.pictures(2)
    first = ugatit.RangePlan({SCOPE: {'up_conv_0': 5}})
    planned = load_untrained(device='cpu', image_size=32, ranges=first)
    again = ugatit.plan_ranges(planned, ugatit.profile_ranges(planned, images))
    assert again.nonzero(SCOPE)['up_conv_0'] >= 5
    wanted = translate.generator(tf.constant(images)).image
    loaded = load_untrained(device='cpu', image_size=32, ranges=again)
    assert np.array_equal(loaded.generator(tf.constant(images)).image, wanted)


@pytest.mark.parametrize('ranges', ['auto', 'plan.json', {'generator_B': {}}, 3])
def test_ranges_that_are_no_plan(ranges):
    with pytest.raises(ugatit.UserError, match='RangePlan or None'):
        load_untrained(device='cpu', ranges=ranges)


def test_a_profile_that_is_none(network):
    translate = load_untrained(device='cpu', image_size=32)
    with pytest.raises(ugatit.UserError, match='profile_ranges is expected, but int'):
        ugatit.plan_ranges(translate, 3)
    other = load_untrained(device='cpu', image_size=32, direction='b2a')
    with pytest.raises(ugatit.UserError, match='generator_A is expected, but one of generator_B'):
        ugatit.plan_ranges(other, ugatit.profile_ranges(translate, support.pictures(1)))
