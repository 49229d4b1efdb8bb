"""Live range exponents change no bit of a float32 network, whatever they are and however they are given."""

from __future__ import annotations

import itertools
from typing import Any, Dict, List, Mapping

import numpy as np
import pytest
import tensorflow as tf

from tests.nn.weights import pictures, well_scaled
from ugatit.nn.architecture import Architecture
from ugatit.nn.blueprint import network_class
from ugatit.nn.build import Build
from ugatit.nn.call import Call, Recorder
from ugatit.nn.network import Network
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.nn.scaling import UNPLANNED, FoldRule, Live, Scaling, live_exponents
from ugatit.numerics import scale_by_pow2

LIGHT = Architecture(image_size=24, ch=3, n_res=1, n_dis=4, light=True)
FULL = Architecture(image_size=24, ch=3, n_res=1, n_dis=4, smoothing=False)
PLAIN_D = Architecture(image_size=24, ch=3, n_dis=4, light=True, sn=False)
PRESCALED = Variants('prescaled', statistics=(('.*', 'prescaled'),))
BATCH = Variants('batch', norm=(('.*', 'batch'),))
CASES = {
    'light generator': (LIGHT, 'generator_B', DEFAULT_VARIANTS),
    'full generator': (FULL, 'generator_A', DEFAULT_VARIANTS),
    'light generator, prescaled': (LIGHT, 'generator_A', PRESCALED),
    'full generator, prescaled': (FULL, 'generator_B', PRESCALED),
    'light generator, batch normalisation': (LIGHT, 'generator_B', BATCH),
    'light generator without CAM': (
        Architecture(24, 3, n_res=1, light=True, cam_generator=False),
        'generator_B',
        DEFAULT_VARIANTS,
    ),
    'discriminator': (LIGHT, 'discriminator_A', DEFAULT_VARIANTS),
    'discriminator without spectral norm': (PLAIN_D, 'discriminator_B', DEFAULT_VARIANTS),
}
X = pictures(2, 24)


def _network(case: str, scaling: Scaling = UNPLANNED) -> Network:
    architecture, scope, variants = CASES[case]
    # u of sigma far from 1, gammas and all: nothing may be neutral here.
    build = Build(factory=well_scaled(), scaling=scaling, variants=variants)
    return network_class(scope)(architecture, scope, build)


def _outputs(output: Any) -> List[np.ndarray]:
    """Pictures or logits, cam logits, heat maps."""
    return [value.numpy() for value in tf.nest.flatten(output) if value is not None]


def _equal(a: Any, b: Any) -> bool:
    a, b = _outputs(a), _outputs(b)
    assert len(a) == len(b) and all(np.isfinite(value).all() and value.std() > 0 for value in a)
    return all(np.array_equal(x, y) for x, y in zip(a, b))


def _groups(case: str) -> List[str]:
    return list(_network(case).registry.members)


def _random(groups: List[str], seed: int) -> Dict[str, int]:
    random = np.random.RandomState(seed)
    return {group: int(random.randint(-7, 12)) for group in groups}


@pytest.mark.parametrize('case', CASES)
def test_every_group_on_its_own_and_all_at_random(case: str):
    """Eager, exponents as ints."""
    expected, groups = _network(case)(tf.constant(X)), _groups(case)
    alone = [{group: exponent} for group, exponent in zip(groups, itertools.cycle((5, -3)))]
    for exponents in [*alone, *(_random(groups, seed) for seed in range(3))]:
        assert _equal(_network(case, Live(exponents))(tf.constant(X)), expected), exponents


TRACED = ('light generator', 'full generator', 'discriminator', 'discriminator without spectral norm')


@pytest.mark.parametrize(
    'case', [case if case in TRACED else pytest.param(case, marks=pytest.mark.slow) for case in CASES]
)
def test_variables_may_change_between_calls_of_one_traced_function(case: str):
    """Graph mode, exponents as variables: nothing is retraced, and every plan gives the unplanned graph's bits."""
    expected = tf.function(_network(case))(tf.constant(X))
    groups = _groups(case)
    exponents = live_exponents(CASES[case][1], {group: 0 for group in groups})
    network = _network(case, Live(exponents))
    traces: List[None] = []

    @tf.function
    def planned(x: tf.Tensor) -> Any:
        traces.append(None)
        return network(x)

    alone = [{group: 4} for group in groups]
    for plan in [{}, *alone, *(_random(groups, seed) for seed in range(4))]:
        for group, variable in exponents.items():
            variable.assign(plan.get(group, 0))
        assert _equal(planned(tf.constant(X)), expected), plan
    assert len(traces) == 1


def test_the_exponents_variables_say_whose_they_are():
    exponents = live_exponents('generator_B', {'up_conv_0': 3, 'MLP/linear_0': 1})
    assert [v.name for v in exponents.values()] == [
        'ugatit.exponents.generator_B.up_conv_0:0',
        'ugatit.exponents.generator_B.MLP.linear_0:0',
    ]
    assert all(not v.trainable and v.dtype == tf.int32 for v in exponents.values())


@pytest.mark.parametrize('case', CASES)
def test_stored_tensors_are_the_true_ones_times_a_power_of_two(case: str):
    """So the exponents above really act, on every tensor that says so, and each tensor says so truly."""
    unplanned, members = Recorder(), {}
    network = _network(case)
    network(tf.constant(X), Call(tap=unplanned, members=members))
    assert members == network.range_members()
    exponents = _random(_groups(case), 1)
    planned = Recorder()
    _network(case, Live(exponents))(tf.constant(X), Call(tap=planned))
    assert set(planned.tensors) == set(unplanned.tensors) == set(members)
    scaled = set()
    for name, member in members.items():
        shift = -member.power * exponents[member.group] if member.group else 0
        if not name.endswith(('/kernel', '/bias')) and not _in_cam_weights(name):
            assert np.array_equal(planned.tensors[name], scale_by_pow2(unplanned.tensors[name], shift)), name
            scaled |= {member.group} if shift else set()
    assert scaled == {group for group, exponent in exponents.items() if exponent}


def _in_cam_weights(name: str) -> bool:
    """kernel + bias, at the scale between two groups like a kernel."""
    return 'CAM_logit' in name and name.endswith(('/BiasAdd', '/GatherV2'))


@pytest.mark.parametrize('case', CASES)
def test_every_group_has_layers_that_permit_it(case: str):
    registry = _network(case).registry
    assert all(member.permits for members in registry.members.values() for member in members)
    assert all(member.layer in registry.layers for members in registry.members.values() for member in members)


def test_guards_and_norms_that_refuse_exponents_say_so():
    refusing = Variants('refusing', norm=((r'.*/ins_norm', 'none'), ('.*', 'default')), guard=(('.*', 'plain'),))
    registry = network_class('generator_B')(LIGHT, 'generator_B', Build(variants=refusing)).registry
    refused = {member.layer for members in registry.members.values() for member in members if not member.permits}
    assert 'generator_B/ins_norm' in refused and 'generator_B/ins_norm_0' not in refused
    assert {layer for layer, kind in registry.layers.items() if kind != 'norm'} <= refused


@pytest.mark.parametrize('case', ['light generator', 'full generator', 'discriminator'])
def test_gradients_are_the_same_bits_too(case: str):
    """Training with any exponents is training without: gradients of variables are those of the true values."""

    def gradients(scaling: Scaling) -> List[np.ndarray]:
        network = _network(case, scaling)
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_mean(tf.square(value)) for value in tf.nest.flatten(network(tf.constant(X)))])
        return [g.numpy() for g in tape.gradient(loss, list(network.trainable_variables)) if g is not None]

    expected, found = gradients(UNPLANNED), gradients(Live(_random(_groups(case), 2)))
    assert len(expected) == len(found) > 10
    assert all(np.array_equal(a, b) for a, b in zip(expected, found))


class _Thirds(Live):
    """The first control: as Live, with powers of three, which are exact for no mantissa."""

    def __init__(self, exponents: Mapping[str, int]) -> None:
        self.exponents = dict(exponents)

    def apply(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        return value * 3.0 ** rule.shift(self.exponents)

    def epsilon(self, epsilon: float, reads: Any) -> float:
        return epsilon * 9.0 ** -self.exponents.get(reads, 0)

    def restore(self, x: tf.Tensor, group: Any) -> tf.Tensor:
        return x * 3.0 ** self.exponents.get(group, 0)


class _StaleEpsilon(Live):
    """The second control: everything scaled but epsilon."""

    def epsilon(self, epsilon: float, reads: Any) -> float:
        return epsilon


class _ForgottenBias(Live):
    """The third control: biases left as they are."""

    def apply(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        return value if rule.variable.endswith('/bias') else super().apply(value, rule)


@pytest.mark.parametrize('control', [_Thirds, _StaleEpsilon, _ForgottenBias])
@pytest.mark.parametrize('case', ['light generator', 'full generator'])
def test_controls_that_must_fail(case: str, control: type):
    expected = _network(case)(tf.constant(X))
    exponents = {group: 5 for group in _groups(case)}
    assert _equal(_network(case, Live(exponents))(tf.constant(X)), expected)
    assert not _equal(_network(case, control(exponents))(tf.constant(X)), expected)


def test_each_group_alone_would_be_caught_by_the_controls():
    """No group is behind a dead ReLU or so large that its scale does not matter."""
    case = 'light generator'
    expected = _network(case)(tf.constant(X))
    for group in _groups(case):
        assert not _equal(_network(case, _Thirds({group: 1}))(tf.constant(X)), expected), group
