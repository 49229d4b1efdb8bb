"""What is measured in passing: which tensors count in which arithmetic, and that the numbers are theirs."""

from __future__ import annotations

from typing import Dict

import numpy as np
import pytest
import tensorflow as tf

from tests.ranges.support import LIGHT, generator, lively_values, pictures
from ugatit.nn.call import Call, Membership
from ugatit.nn.generator import Generator
from ugatit.nn.policy import make_policy
from ugatit.numerics import FLOAT16
from ugatit.ranges.meter import DID_NOT_RUN, AmaxTap, Meter, make_meter

LAYER = 'generator_B/resblock_0/res1/conv_0'
NAMES = {
    'kernel': f'{LAYER}/conv2d/kernel',
    'bias': f'{LAYER}/conv2d/bias',
    'input': f'{LAYER}/conv2d/input',
    'result': f'{LAYER}/conv2d/Conv2D',
    'vector': 'generator_B/resblock_0/res1/Relu',
    'square': 'generator_B/resblock_0/res1/instance_norm/moments/variance',
    'attention': 'generator_B/CAM_logit/BiasAdd',
}
# What each policy stores in float16, and the inputs before they are rounded to it. Without float16 there is nothing
# that could overflow: float32 runs follow inputs, results and weights all the same.
COUNTS = {
    'float16': set(NAMES),
    'mixed_float16': {'kernel', 'bias', 'input', 'result'},
    'float16_operands': {'kernel', 'input'},
    'float32': {'kernel', 'bias', 'input', 'result'},
}


@pytest.fixture(scope='module')
def network() -> Generator:
    return generator(LIGHT, lively_values(LIGHT))


def _meter(network: Generator, precision: str) -> Meter:
    return make_meter(network.registry, network.scope, make_policy(precision, 'saturate'))


@pytest.mark.parametrize('precision', COUNTS)
def test_what_counts(network: Generator, precision: str) -> None:
    meter = _meter(network, precision)
    member = Membership('resblock_0/res1/conv_0', 1)
    assert member.group in meter.groups
    assert {kind for kind, name in NAMES.items() if meter.place(name, member) is not None} == COUNTS[precision]
    assert meter.end == (FLOAT16.max_finite if 'float16' in precision else np.inf)
    assert meter.place(NAMES['result'], Membership(None, 0)) is None


def _found(network: Generator, meter: Meter, images: np.ndarray) -> Dict[str, float]:
    """Group or variable -> what the tap found."""
    tap = AmaxTap({network.scope: meter})
    network(tf.constant(images), Call(tap=tap, members=tap.members))
    names = [*meter.groups, *(rule.variable for rule in meter.operands)]
    return dict(zip(names, tap.found()[network.scope].numpy().tolist()))


def test_the_numbers_are_the_largest_of_each_group(network: Generator) -> None:
    """Against every tensor of a call, taken down by a tap of its own."""
    images, meter = pictures(2), _meter(network, 'mixed_float16')
    found = _found(network, meter, images)
    members: Dict[str, Membership] = {}
    expected = dict.fromkeys(meter.groups, DID_NOT_RUN)

    def tap(name: str, x: tf.Tensor) -> tf.Tensor:
        group = members[name].group
        if group in expected and name.rpartition('/')[2] in ('input', 'Conv2D', 'BiasAdd', 'MatMul'):
            expected[group] = max(expected[group], float(np.abs(x.numpy()).max()))
        return x

    network(tf.constant(images), Call(tap=tap, members=members))
    assert {group: found[group] for group in expected} == expected and min(expected.values()) > 0
    kernel = network.named_variables[NAMES['kernel']]
    assert found[NAMES['kernel']] == float(np.abs(kernel.numpy()).max())


@pytest.mark.parametrize(('value', 'over'), [(65503.0, False), (65504.0, True), (-65504.0, True), (np.nan, True)])
def test_what_does_not_fit(value: float, over: bool) -> None:
    meter = Meter('n', ('group',), (), ('result',), FLOAT16.max_finite)
    tap = AmaxTap({'n': meter})
    tap.members['n/layer/Conv2D'] = Membership('group', 1)
    assert not bool(AmaxTap({'n': meter}).overflowed())
    tap('n/layer/Conv2D', tf.constant([1.0, value]))
    assert bool(tap.overflowed()) is over
    assert float(tap.found()['n'][0]) == (np.inf if np.isnan(value) else abs(value))


def test_a_square_counts_by_its_root() -> None:
    """On a scale that ends where float16 does, so that a group's exponent e takes 2**-e from it too."""
    tap = AmaxTap({'n': Meter('n', ('group',), (), ('square',), FLOAT16.max_finite)})
    tap.members['n/norm/moments/variance'] = Membership('group', 2)
    tap('n/norm/moments/variance', tf.constant([FLOAT16.max_finite, 1.0]))
    assert float(tap.found()['n'][0]) == FLOAT16.max_finite
