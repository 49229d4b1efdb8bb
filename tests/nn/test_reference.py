"""Our float32 networks against the float64 twin, for architectures and variants that no golden has."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, Dict, List, NamedTuple, Set, Type

import numpy as np
import pytest
import tensorflow as tf

import ugatit.nn
from tests import reference, tolerances
from tests.nn.weights import arrays, deviation, pictures, well_scaled
from ugatit.nn.architecture import Architecture
from ugatit.nn.blueprint import network_class
from ugatit.nn.build import Build
from ugatit.nn.network import Network
from ugatit.nn.rules import DEFAULT_VARIANTS, SETTINGS, Variants

LIGHT: Dict[str, Any] = {'image_size': 24, 'ch': 3, 'n_dis': 4, 'light': True}
FULL = {**LIGHT, 'light': False, 'image_size': 28}


class Case(NamedTuple):
    """One network and the variants it is built with."""

    scope: str
    architecture: Architecture
    variants: Variants = DEFAULT_VARIANTS


def _generators() -> Dict[str, Case]:
    changes = {
        'default': {},
        'smoothing off': {'smoothing': False},
        'without CAM': {'cam_generator': False},
        'n_res 2': {'n_res': 2},
        'n_res 6': {'n_res': 6, 'smoothing': False},
        'ch 1': {'ch': 1},
    }
    return {
        f'generator, {kind}, {name}': Case('generator_B', Architecture(**{**base, **change}))
        for kind, base in (('light', LIGHT), ('full', FULL))
        for name, change in changes.items()
    }


def _discriminators() -> Dict[str, Case]:
    changes = {
        'default': {},
        'without spectral norm': {'sn': False},
        'without CAM': {'cam_discriminator': False},
        'without both': {'sn': False, 'cam_discriminator': False},
        'n_dis 5': {'n_dis': 5, 'image_size': 48},
        'n_dis 7': {'n_dis': 7, 'image_size': 192, 'ch': 1},
        '36 pixels': {'image_size': 36},
    }
    return {
        f'discriminator, {name}': Case('discriminator_A', Architecture(**{**LIGHT, **change}))
        for name, change in changes.items()
    }


ADAPTIVE = r'.*/instance_layer_norm'
KINDS = {  # norm rules; the first that matches counts
    'instance everywhere': (('.*', 'instance'),),
    'layer everywhere': (('.*', 'layer'),),
    'LIN everywhere': (('.*', 'layer_instance'),),
    'groups of three': (('.*', 'group:3'),),
    'batch everywhere': (('.*', 'batch'),),
    'none in the decoder': ((ADAPTIVE, 'none'), ('.*', 'default')),
    'AdaIN': ((ADAPTIVE, 'adaptive_instance'), ('.*', 'default')),
    'LIN with the gamma of its own': ((ADAPTIVE, 'layer_instance:own'), ('.*', 'default')),
    'groups with the gamma of their own': ((ADAPTIVE, 'group:4:own'), ('.*', 'default')),
    'AdaLIN, said explicitly': ((ADAPTIVE, 'adaptive_layer_instance'), ('.*', 'default')),
}
GUARDS = {
    'BatchNorm after every convolution': ((r'.*/(MLP/.*|CAM_logit)', 'planned'), ('.*', 'norm_after')),
    'BatchNorm folded': ((r'.*/(MLP/.*|CAM_logit)', 'planned'), ('.*', 'norm_after:folded')),
    'LayerNorm after the MLP': ((r'.*/MLP/.*', 'norm_after'), ('.*', 'planned')),
}


def _variants() -> Dict[str, Case]:
    named = {
        **{name: Variants(name, norm=rules) for name, rules in KINDS.items()},
        **{name: Variants(name, guard=rules) for name, rules in GUARDS.items()},
        **{
            f'statistics {name}': Variants(name, statistics=(('.*', name),))
            for name in ('plain', 'float32', 'prescaled')
        },
    }
    return {
        f'generator, {name}': Case('generator_A', Architecture(**LIGHT), variants) for name, variants in named.items()
    }


CASES = {**_generators(), **_discriminators(), **_variants()}


def _network(case: Case) -> Network:
    build = Build(factory=well_scaled(), variants=case.variants)
    return network_class(case.scope)(case.architecture, case.scope, build)


def _expected(case: Case, network: Network, x: np.ndarray) -> Any:
    a = case.architecture
    if case.scope.startswith('discriminator'):
        found = reference.discriminator(arrays(network), case.scope, x, n_dis=a.n_dis, cam=a.cam_discriminator)
        return found.local, found.global_
    return reference.generator(
        arrays(network),
        case.scope,
        x,
        light=a.light,
        smoothing=a.smoothing,
        n_res=a.n_res,
        cam=a.cam_generator,
        kinds=lambda scope: network.registry.variants[scope]['norm'],
    )


def _check(ours: Any, expected: Any) -> float:
    ours, expected = tf.nest.flatten(ours), tf.nest.flatten(expected)
    assert len(ours) == len(expected)
    found = 0.0
    for value, exact in zip(ours, expected):
        assert (value is None) == (exact is None)
        if value is not None:
            found = max(found, deviation(value, exact))
            assert found <= tolerances.NETWORK_FLOAT32
    return found


@pytest.mark.parametrize('name', CASES)
def test_float32_against_float64(name: str):
    case = CASES[name]
    network, x = _network(case), pictures(2, case.architecture.image_size)
    found = _check(network(tf.constant(x)), _expected(case, network, x))
    print(f'{name}: {found:.1e} of the largest value')


@pytest.mark.parametrize('height, width', [(24, 24), (16, 40), (44, 20)])
def test_a_light_generator_takes_any_size(height: int, width: int):
    case = CASES['generator, light, default']
    network = _network(case)
    x = np.random.RandomState(1).uniform(-1, 1, [1, height, width, 3]).astype(np.float32)
    output = network(tf.constant(x))
    assert output.image.shape == (1, height, width, 3) and output.heatmap.shape == (1, height // 4, width // 4)
    _check(output, _expected(case, network, x))


def test_a_traced_light_generator_takes_any_size_without_retracing():
    network = _network(CASES['generator, light, n_res 2'])
    traced = tf.function(lambda x: network(x).image)
    function = traced.get_concrete_function(tf.TensorSpec([None, None, None, 3], tf.float32))
    for height, width in ((24, 24), (16, 40)):
        x = tf.random.stateless_uniform([2, height, width, 3], [1, 2], -1.0, 1.0)
        assert deviation(function(x), network(x).image) <= tolerances.NETWORK_FLOAT32


def test_the_power_iteration_is_the_references():
    case = CASES['discriminator, default']
    network, x = _network(case), pictures(1, case.architecture.image_size)
    expected = reference.discriminator(arrays(network), case.scope, x, n_dis=case.architecture.n_dis).u_after
    found = {f'{name[: -len("kernel")]}u': pair.u for name, pair in network.power_iterations().items()}
    assert set(found) == set(expected)
    assert all(deviation(found[name], expected[name]) <= tolerances.NETWORK_FLOAT32 for name in expected)


def test_a_kernel_of_zeros_stays_zero_under_spectral_norm():
    network = _network(CASES['discriminator, default'])
    network.named_variables['discriminator_A/local/conv_0/kernel'].assign(tf.zeros([4, 4, 3, 3]))
    assert all(np.isfinite(value).all() for value in tf.nest.flatten(network(tf.constant(pictures(1, 24)))))


def _layer_classes() -> Set[Type[tf.Module]]:
    found: Set[Type[tf.Module]] = set()
    for module in pkgutil.iter_modules(ugatit.nn.__path__):
        members = vars(importlib.import_module(f'ugatit.nn.{module.name}')).values()
        found |= {value for value in members if isinstance(value, type) and issubclass(value, tf.Module)}
    return found - {tf.Module, Network}  # Network has no layers of its own


@pytest.fixture(scope='module')
def networks() -> List[Network]:
    return [_network(case) for case in CASES.values()]


def test_every_layer_class_is_in_a_case(networks: List[Network]):
    used = {type(module) for network in networks for module in (network, *network.submodules)}
    assert _layer_classes() == used


def test_every_norm_kind_is_in_a_case(networks: List[Network]):
    used = {
        chosen['norm'].split(':')[0]
        for network in networks
        for chosen in network.registry.variants.values()
        if 'norm' in chosen
    }
    assert used == set(SETTINGS['norm'])


def test_the_comparison_sees_a_wrong_epsilon(monkeypatch: pytest.MonkeyPatch):
    """The control."""
    case = CASES['generator, light, default']
    network, x = _network(case), pictures(1, 24)
    kernel = network.named_variables['generator_B/up_conv_1/conv2d/kernel']
    kernel.assign(kernel * 0.01)  # a variance near epsilon
    _check(network(tf.constant(x)), _expected(case, network, x))
    monkeypatch.setattr(reference, 'instance', lambda x: reference.standardize(x, (1, 2), 2e-5))
    with pytest.raises(AssertionError):
        _check(network(tf.constant(x)), _expected(case, network, x))
