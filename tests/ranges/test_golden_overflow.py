"""The headline, on both official checkpoints that overflow: with a plan, float16 reaches its floor at any size."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import ugatit
from tests import tolerances
from tests.ranges import support
from ugatit.checkpoints import fold_exponents
from ugatit.nn.policy import Policy, make_policy

MIXED, ALL = make_policy('mixed_float16', 'saturate'), make_policy('float16', 'saturate')
PRESCALED = {'statistics': [('.*', 'prescaled')]}
CHECKPOINTS = ('overflow_light_i64_c16', 'overflow_full_i64_c8')
# The groups whose values are large in these checkpoints, as the planner finds them.
LARGE = ('decoder', 'up_conv_0', 'adaptive_resblock1/res1/conv_0', 'adaptive_resblock2/res1/conv_0')


class Case(NamedTuple):
    path: Any
    images: np.ndarray  # [3, 64, 64, 3]
    direction: str

    def picture(self, policy: Policy, **settings: Any) -> np.ndarray:
        """The float32 model's twin under `policy`, run eagerly."""
        translate = ugatit.load(self.path, self.direction, device='cpu', **settings)
        return np.asarray(translate.twin(policy)(tf.constant(self.images)).image)


def _images(golden, tag: str, domain: str) -> np.ndarray:
    recorded = np.load(golden / 'outputs' / f'{tag}.npz')
    return np.concatenate([recorded[f'in/x_{domain}/{i}'] for i in range(3)])


@pytest.fixture(scope='module', params=CHECKPOINTS)
def tag(request) -> str:
    return request.param


def _judge(case: Case, what: str) -> Dict[str, float]:
    """PSNR in dB against float32 of everything that is claimed, with a plan made here; bits of float32 checked."""
    translate = ugatit.load(case.path, case.direction, device='cpu')
    reference = case.picture(make_policy())
    profile = ugatit.profile_ranges(translate, case.images)
    plan = ugatit.plan_ranges(translate, profile)
    squares = ugatit.plan_ranges(translate, profile, fit_squares=True)
    assert np.array_equal(case.picture(make_policy(), ranges=plan), reference)
    found = {
        'plain mixed': case.picture(MIXED),
        'plain all': case.picture(ALL),
        'floor mixed': case.picture(MIXED.floor()),
        'floor all': case.picture(ALL.floor()),
        'floor prescaled': case.picture(ALL.floor(), variants=PRESCALED),
        'planned mixed': case.picture(MIXED, ranges=plan),
        'planned prescaled': case.picture(ALL, ranges=plan, variants=PRESCALED),
        'squares fit': case.picture(ALL, ranges=squares),
    }
    db = {name: support.picture_db(picture, reference) for name, picture in found.items()}
    print(f'{what}: ' + ', '.join(f'{name} {value:.1f} dB' for name, value in db.items()))
    return db


def _assert_cured(db: Dict[str, float]) -> None:
    assert db['planned mixed'] > db['floor mixed'] - tolerances.FLOOR_DB
    assert db['planned prescaled'] > max(db['floor prescaled'], db['floor all']) - tolerances.FLOOR_DB
    assert db['squares fit'] > db['floor all'] - tolerances.SQUARES_DB


def test_the_overflowing_direction_is_cured(golden, tag):
    case = Case(golden / 'checkpoints' / tag, _images(golden, tag, 'A'), 'a2b')
    db = _judge(case, tag)
    assert db['plain all'] < db['plain mixed'] < tolerances.BROKEN_PICTURE_DB
    _assert_cured(db)


def test_the_healthy_direction_loses_nothing(golden, tag):
    case = Case(golden / 'checkpoints' / tag, _images(golden, tag, 'B'), 'b2a')
    db = _judge(case, f'{tag} b2a')
    assert db['planned mixed'] == db['plain mixed']  # no exponent is needed, so none is used
    _assert_cured(db)


@pytest.mark.slow
@pytest.mark.parametrize('bits', [4, 10])
def test_values_larger_by_powers_of_two_are_cured_as_well(golden, tag, bits, tmp_path):
    fold_exponents(golden / 'checkpoints' / tag, {'generator_B': {group: -bits for group in LARGE}}, tmp_path)
    images = _images(golden, tag, 'A')
    _assert_cured(_judge(Case(tmp_path, images, 'a2b'), f'{tag} x 2**{bits}'))
    original = Case(golden / 'checkpoints' / tag, images, 'a2b').picture(make_policy())
    assert np.array_equal(Case(tmp_path, images, 'a2b').picture(make_policy()), original)
