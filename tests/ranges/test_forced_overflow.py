"""Overflow forced in each kind of place: the profile finds and names it, plain float16 breaks, the plan cures it."""

from __future__ import annotations

import dataclasses
from typing import Dict, NamedTuple, Optional

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.ranges import support
from ugatit.nn.build import Build
from ugatit.nn.discriminator import Discriminator
from ugatit.nn.policy import FLOAT32_POLICY, Policy, make_policy
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.nn.scaling import UNPLANNED, Live, Scaling
from ugatit.nn.variables import seeded
from ugatit.ranges import TensorRange, measure, plan_network

SCOPE = 'generator_B'
MIXED = make_policy('mixed_float16', 'saturate')
ALL = make_policy('float16', 'saturate')


class Place(NamedTuple):
    """Exponents folded in to force the overflow, and the official names that must be found ('' for none)."""

    exponents: Dict[str, int]
    stored: str  # first float16 operand or result of mixed_float16 that overflows
    result: str  # first such result
    any: str  # first value of any kind over 65504


CONV, DENSE = 'conv2d/Conv2D', 'dense/MatMul'
# The network's values are of the order of 1: 2**18 takes the largest of most tensors past 65504.
PLACES = {
    'stem': Place({'conv': -18}, f'conv/{CONV}', f'conv/{CONV}', f'conv/{CONV}'),
    'encoder conv': Place({'conv_1': -17}, f'conv_1/{CONV}', f'conv_1/{CONV}', f'conv_1/{CONV}'),
    'encoder stream': Place({'encoder': -17}, 'resblock_0/res1/conv_0/conv2d/input', '', 'ins_norm_1/mul_2'),
    'CAM': Place({'cam': -17}, 'CAM_logit/kernel', 'CAM_logit_1/MatMul', 'CAM_logit/kernel'),
    'conv_1x1, gamma, beta and the AdaLIN stream': Place(
        {'decoder': -17}, f'conv_1x1/{CONV}', f'conv_1x1/{CONV}', f'conv_1x1/{CONV}'
    ),
    'adaptive conv': Place({'adaptive_resblock1/res2/conv_0': -17}, *[f'adaptive_resblock1/res2/conv_0/{CONV}'] * 3),
    'MLP linear_0 result': Place(
        {'MLP/linear_0': -17}, 'MLP/linear_0/dense/kernel', f'MLP/linear_0/{DENSE}', 'MLP/linear_0/dense/kernel'
    ),
    'MLP weights': Place(
        {'decoder': 10, 'MLP/linear_0': -9}, 'MLP/linear_0/dense/kernel', '', 'MLP/linear_0/dense/kernel'
    ),
    'up_conv_0': Place({'up_conv_0': -17}, *[f'up_conv_0/{CONV}'] * 3),
    'up_conv_1': Place({'up_conv_1': -17}, *[f'up_conv_1/{CONV}'] * 3),
    'first LIN output': Place({'layer_ins_norm_0': -17}, 'up_conv_1/conv2d/input', '', 'layer_ins_norm_0/mul_2'),
    'last LIN output': Place({'layer_ins_norm_1': -17}, 'G_logit/conv2d/input', '', 'layer_ins_norm_1/mul_2'),
}


@pytest.fixture(scope='module', params=['light', 'full'])
def case(request):
    architecture = {'light': support.LIGHT, 'full': support.FULL}[request.param]
    values = support.lively_values(architecture)
    if request.param == 'full':
        values[f'{SCOPE}/MLP/linear_0/dense/kernel'] *= 4  # to the size of the light model's
        values[f'{SCOPE}/MLP/linear_0/dense/bias'] *= 4
    return architecture, values, support.generator(architecture, values)


def _name(found: Optional[TensorRange]) -> str:
    return '' if found is None else found.name[len(SCOPE) + 1 :]


def test_nothing_is_planned_where_nothing_overflows(case):
    architecture, values, network = case
    plan = plan_network(network, measure(network, [support.pictures(8)]))
    assert plan.nonzero(SCOPE) == {} and plan.notes == ()


@pytest.mark.parametrize('where', sorted(PLACES))
def test_found_named_and_cured(case, where):
    architecture, values, network = case
    place, images = PLACES[where], tf.constant(support.pictures(8))
    values = support.stressed(values, network, place.exponents)
    large = support.generator(architecture, values)
    reference = large(images).image
    profile = measure(large, [images.numpy()])
    assert _name(profile.first_overflow(MIXED)) == place.stored
    assert _name(profile.first_overflowing_result(MIXED)) == place.result
    assert _name(profile.first_over_limit()) == place.any
    plan = plan_network(large, profile)
    assert plan.notes == ()

    def db(policy: Policy, exponents: Optional[Dict[str, int]] = None, variants: Variants = DEFAULT_VARIANTS) -> float:
        found = support.generator(architecture, values, policy, exponents, variants)(images).image
        return support.picture_db(found, reference)

    exponents = plan[SCOPE]
    floor, floor_all = db(MIXED.floor()), db(ALL.floor(), variants=support.PRESCALED)
    plain, planned = db(MIXED), db(MIXED, exponents)
    planned_all = db(ALL, exponents, support.PRESCALED)
    print(f'{where}: plain {plain:.1f} dB, planned {planned:.1f}, floor {floor:.1f}, all-float16 {planned_all:.1f} of'
          f' {floor_all:.1f}; {plan.nonzero(SCOPE)}')  # fmt: skip
    assert plain < floor - tolerances.BROKEN_DB
    assert planned > floor - tolerances.FLOOR_DB
    assert planned_all > floor_all - tolerances.FLOOR_DB
    assert np.array_equal(support.generator(architecture, values, exponents=exponents)(images).image, reference)


def test_a_heat_map_that_overflows_although_its_terms_fit(case):
    """A sum over channels; the plan's runtime sums in float32 and multiplies back: nothing is scaled for it."""
    architecture, values, network = case
    images = tf.constant(support.pictures(8))
    values = support.stressed(
        values, network, {'decoder': -13, 'up_conv_0': -2, 'MLP/linear_0': -7, 'MLP/linear_1': -7}
    )
    large = support.generator(architecture, values)
    profile = measure(large, [images.numpy()])
    assert profile[f'{SCOPE}/Relu_3'].amax < 65504 < profile[f'{SCOPE}/Sum'].amax
    assert _name(profile.first_overflow(ALL)) == 'Sum'
    wanted = large(images).heatmap.numpy()
    plain = support.generator(architecture, values, ALL)(images).heatmap.numpy()
    exponents = plan_network(large, profile)[SCOPE]
    planned = support.generator(architecture, values, ALL, exponents, support.PRESCALED)(images).heatmap.numpy()
    assert plain.max() == 65504
    assert np.abs(planned - wanted).max() < tolerances.FLOAT16_HEATMAP * wanted.max()


def test_a_discriminator_without_spectral_norm_runs_its_exponents_to_the_logits():
    architecture = dataclasses.replace(support.LIGHT, sn=False)
    images = tf.constant(support.pictures(8))
    start = Discriminator(architecture, 'discriminator_A', Build(factory=seeded(5)))
    values = {
        name: variable.numpy() * (8 if variable.shape.rank == 4 else 1)
        for name, variable in start.named_variables.items()
    }
    large = {name: value * 2.0 ** (16 if 'global/conv_1/' in name else 0) for name, value in values.items()}

    def network(policy: Policy = FLOAT32_POLICY, scaling: Scaling = UNPLANNED) -> Discriminator:
        return Discriminator(
            architecture, 'discriminator_A', Build(policy, scaling, factory=support.values_factory(large))
        )

    profile = measure(network(), [images.numpy()])
    assert profile.first_overflow(MIXED).name == 'discriminator_A/global/conv_1/conv2d/Conv2D'
    exponents = plan_network(network(), profile)['discriminator_A']
    wanted, live = network()(images), network(scaling=Live(exponents))(images)
    for before, after in zip(tf.nest.flatten(tuple(wanted)), tf.nest.flatten(tuple(live))):
        assert np.array_equal(before, after)
    plain, planned = network(MIXED)(images), network(MIXED, Live(exponents))(images)
    for output in ('logits', 'cam_logits'):
        reference, before, after = (np.asarray(getattr(o.global_, output)) for o in (wanted, plain, planned))
        assert np.abs(before - reference).max() > tolerances.DESTROYED_LOGITS * np.abs(reference).max()
        assert np.abs(after - reference).max() < tolerances.FLOAT16_LOGITS * np.abs(reference).max()
