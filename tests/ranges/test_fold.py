"""Folding changes no bit of the float32 result, whatever the exponents; and a control that must fail."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.ranges import support
from ugatit.errors import UserError
from ugatit.nn.build import Build
from ugatit.nn.generator import Generator
from ugatit.nn.rules import Variants
from ugatit.nn.scaling import Folded
from ugatit.ranges import check_permission, measure, plan_network, shifts
from ugatit.ranges.fold import permitted_groups, scale_in_place

ARCHITECTURES = {'light': support.LIGHT, 'full': support.FULL}


@pytest.fixture(scope='module', params=sorted(ARCHITECTURES))
def case(request):
    architecture = ARCHITECTURES[request.param]
    values = support.lively_values(architecture)
    return architecture, values, support.generator(architecture, values)


def _outputs(network, graph):
    call = tf.function(network) if graph else network
    return [value.numpy() for value in call(tf.constant(support.pictures()))]


def _random_exponents(network, seed):
    random = np.random.RandomState(seed)
    return {group: int(random.randint(0, 9)) for group in network.registry.members}


@pytest.mark.parametrize('graph', [False, True], ids=['eager', 'graph'])
@pytest.mark.parametrize('variants', [None, support.PRESCALED], ids=['plain', 'prescaled'])
def test_random_exponents_in_every_group_change_no_bit(case, graph, variants):
    architecture, values, network = case
    kind = {} if variants is None else {'variants': variants}
    exponents = _random_exponents(network, 7)
    plain = _outputs(support.generator(architecture, values, **kind), graph)
    folded = _outputs(support.generator(architecture, values, exponents=exponents, **kind), graph)
    for before, after in zip(plain, folded):
        assert np.array_equal(before, after)


def test_a_planned_network_gives_the_same_bits(case):
    architecture, values, network = case
    large = support.stressed(values, network, {'decoder': -12, 'up_conv_0': -14})
    wanted = _outputs(support.generator(architecture, large), graph=False)
    plan = plan_network(network, measure(support.generator(architecture, large), [support.pictures()]))
    assert plan.nonzero('generator_B')
    planned = support.generator(architecture, large, exponents=plan['generator_B'])
    for before, after in zip(wanted, _outputs(planned, graph=False)):
        assert np.array_equal(before, after)


def test_control_a_scale_that_is_no_power_of_two_changes_bits(case):
    architecture, values, network = case
    factors = {name: np.float32(3.0) ** power for name, power in shifts(network.registry, {'up_conv_0': -1}).items()}
    changed = {name: value * factors.get(name, np.float32(1)) for name, value in values.items()}
    plain, other = _outputs(network, False), _outputs(support.generator(architecture, changed), False)
    assert not np.array_equal(plain[0], other[0])
    assert np.abs(plain[0] - other[0]).max() < tolerances.FOLD_BY_THREE


def test_control_an_epsilon_left_unscaled_changes_bits(case):
    architecture, values, network = case
    exponents = {group: 8 for group in network.registry.members}

    class EpsilonForgotten(Folded):
        def epsilon(self, epsilon, reads):
            return epsilon

    factory = support.values_factory(support.stressed(values, network, exponents))
    forgetful = Generator(architecture, 'generator_B', Build(scaling=EpsilonForgotten(exponents), factory=factory))
    assert not np.array_equal(_outputs(network, False)[0], _outputs(forgetful, False)[0])


def test_every_group_is_stored_scaled_by_its_exponent(case):
    architecture, values, network = case
    exponents = _random_exponents(network, 11)
    members = network.range_members()
    before = measure(network, [support.pictures()])
    after = measure(support.generator(architecture, values, exponents=exponents), [support.pictures()])
    scaled = 0
    for name, found in before.items():
        group, power = members[name]
        if power and group:
            scaled += 1
            assert after[name].amax == found.amax * 2.0 ** (-power * exponents[group]), name
    assert scaled > 100


def test_a_variable_is_scaled_exactly():
    start = np.arange(35, dtype=np.float32).reshape(7, 5)
    variable = tf.Variable(start)
    scale_in_place(variable, -3)
    assert np.array_equal(variable.numpy(), start / 8)


def test_a_group_that_does_not_exist_is_named(case):
    with pytest.raises(UserError, match='dekoder.*legal are.*decoder'):
        check_permission(case[2].registry, {'dekoder': 1})


def _registry(guard):
    return Generator(support.LIGHT, 'generator_B', Build(variants=Variants('test', guard=guard))).registry


def test_guards_that_refuse_exponents_leave_their_groups_out():
    registry = _registry(
        (('.*/up_conv_1', 'plain'), ('.*/up_conv_0', 'planned'), ('.*/G_logit', 'plain'), ('.*', 'planned'))
    )
    groups = permitted_groups(registry)
    assert 'up_conv_1' not in groups and 'up_conv_0' in groups
    with pytest.raises(UserError, match='up_conv_1.*refuse exponents'):
        check_permission(registry, {'up_conv_1': 2})


def test_a_group_whose_layers_disagree_is_an_error():
    with pytest.raises(UserError, match='decoder .*up_conv_0 refuse'):
        permitted_groups(_registry((('.*/up_conv_0', 'clamp:256'), ('.*', 'planned'))))


def test_a_norm_that_is_none_is_not_scale_invariant():
    variants = Variants('test', norm=(('.*/ins_norm', 'none'), ('.*', 'default')))
    registry = Generator(support.LIGHT, 'generator_B', Build(variants=variants)).registry
    assert 'conv' not in permitted_groups(registry)
