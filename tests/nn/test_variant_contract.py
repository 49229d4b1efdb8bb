"""What every variant promises: it runs on light and full, it does what it says, and the default adds nothing."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from tests import reference, tolerances
from tests.nn.weights import arrays, deviation, pictures, well_scaled
from ugatit.nn.architecture import Architecture
from ugatit.nn.blueprint import check_variants, network_class
from ugatit.nn.build import Build
from ugatit.nn.call import Call, Recorder
from ugatit.nn.network import Network
from ugatit.nn.norm import Norm
from ugatit.nn.policy import FLOAT32_POLICY, Policy, make_policy
from ugatit.nn.rules import DEFAULT_VARIANTS, SETTINGS, Variants
from ugatit.nn.scaling import UNPLANNED, Live, Scaling

ADAPTIVE = r'.*/instance_layer_norm'
HALF_OF_ADAPTIVE = r'.*/res1/instance_layer_norm'  # the other half keeps the MLP in use
MLP = r'.*/MLP/(linear_0|linear_1|gamma|beta)'
OWN = ('instance', 'layer', 'layer_instance', 'group:2', 'batch', 'none')
DEFAULT = ('.*', 'default')
CONVS = r'.*/(conv|conv_0|conv_1|conv_1x1|conv_last|up_conv_[01])'
LIGHT = Architecture(image_size=24, ch=4, n_res=1, n_dis=4, light=True)
FULL = Architecture(image_size=24, ch=4, n_res=1, n_dis=4)
X = tf.constant(pictures(2, 24))


class Promise(NamedTuple):
    """The rules with which a variant is tried, and what it does to the float32 picture."""

    rules: Dict[str, Any]
    effect: str  # 'same bits', 'same' up to float32 rounding, or 'other': another network


# Each variant of rules.SETTINGS with each form of its parameters, everywhere it may stand; a new one without a line
# here fails the first test. A word after the variant tells the place.
CONTRACT: Dict[str, Dict[str, Promise]] = {
    'norm': {
        'default': Promise({'norm': (DEFAULT,)}, 'same bits'),
        'instance': Promise({'norm': (('.*', 'instance'),)}, 'other'),
        'layer': Promise({'norm': (('.*', 'layer'),)}, 'other'),
        'layer_instance': Promise({'norm': (('.*', 'layer_instance'),)}, 'other'),
        'adaptive_layer_instance': Promise({'norm': ((ADAPTIVE, 'adaptive_layer_instance'), DEFAULT)}, 'same bits'),
        'adaptive_instance': Promise({'norm': ((ADAPTIVE, 'adaptive_instance'), DEFAULT)}, 'other'),
        'group': Promise({'norm': (('.*', 'group'),)}, 'other'),
        'group:2': Promise({'norm': (('.*', 'group:2'),)}, 'other'),
        'batch': Promise({'norm': (('.*', 'batch'),)}, 'other'),
        'none': Promise({'norm': (('.*', 'none'),)}, 'other'),
        **{f'{norm}:own': Promise({'norm': ((HALF_OF_ADAPTIVE, f'{norm}:own'), DEFAULT)}, 'other') for norm in OWN},
    },
    'statistics': {
        'plain': Promise({'statistics': (('.*', 'plain'),)}, 'same bits'),
        'float32': Promise({'statistics': (('.*', 'float32'),)}, 'same bits'),
        'prescaled': Promise({'statistics': (('.*', 'prescaled'),)}, 'same'),
    },
    'guard': {
        'planned': Promise({'guard': (('.*', 'planned'),)}, 'same bits'),
        'plain': Promise({'guard': (('.*', 'plain'),)}, 'same bits'),
        'clamp': Promise({'guard': (('.*', 'clamp'),)}, 'same bits'),  # it acts in float16 only
        'clamp:256': Promise({'guard': (('.*', 'clamp:256'),)}, 'same bits'),
        'norm_after': Promise({'guard': ((CONVS, 'norm_after'), ('.*', 'planned'))}, 'other'),
        'norm_after:folded': Promise({'guard': ((CONVS, 'norm_after:folded'), ('.*', 'planned'))}, 'other'),
        'norm_after MLP': Promise({'guard': ((MLP, 'norm_after'), ('.*', 'planned'))}, 'other'),
    },
}
NAMES = [(setting, variant) for setting, variants in CONTRACT.items() for variant in variants]
NETWORKS = {
    'light': (LIGHT, 'generator_B'),
    'full': (FULL, 'generator_A'),
    'discriminator': (LIGHT, 'discriminator_A'),
}


def _network(
    kind: str,
    variants: Variants = DEFAULT_VARIANTS,
    policy: Policy = FLOAT32_POLICY,
    scaling: Scaling = UNPLANNED,
) -> Network:
    architecture, scope = NETWORKS[kind]
    build = Build(policy=policy, variants=variants, factory=well_scaled(), scaling=scaling)
    return network_class(scope)(architecture, scope, build)


def _variants(setting: str, variant: str) -> Variants:
    return Variants(variant, **CONTRACT[setting][variant].rules)


def _outputs(output: Any) -> List[np.ndarray]:
    return [value.numpy() for value in tf.nest.flatten(output) if value is not None]


def test_every_variant_is_in_the_contract():
    plain = {setting: {name for name in variants if name.isidentifier()} for setting, variants in CONTRACT.items()}
    assert plain == {setting: set(variants) for setting, variants in SETTINGS.items()}
    forms = {name for variants in CONTRACT.values() for name in variants if not name.isidentifier()}
    own = {f'{norm}:own' for norm in OWN}
    assert forms == {'group:2', 'clamp:256', 'norm_after:folded', 'norm_after MLP'} | own
    without_own = {'default', 'adaptive_layer_instance', 'adaptive_instance'}  # theirs is the paper's or the MLP's
    assert {norm.split(':')[0] for norm in OWN} == set(SETTINGS['norm']) - without_own


@pytest.mark.parametrize('architecture', [LIGHT, FULL], ids=['light', 'full'])
@pytest.mark.parametrize('setting, variant', NAMES)
def test_the_contracts_rules_fit_all_four_networks(setting: str, variant: str, architecture: Architecture):
    table = check_variants(architecture, _variants(setting, variant))
    assert variant.split()[0] in {chosen[setting] for chosen in table.values() if setting in chosen}


@pytest.mark.parametrize('kind', NETWORKS)
@pytest.mark.parametrize('setting, variant', NAMES)
def test_a_variant_runs_and_has_the_promised_effect(setting: str, variant: str, kind: str):
    expected = _outputs(_network(kind)(X))
    found = _outputs(_network(kind, _variants(setting, variant))(X))
    assert [value.shape for value in found] == [value.shape for value in expected]
    assert all(np.isfinite(value).all() for value in found)
    effect = CONTRACT[setting][variant].effect
    if kind == 'discriminator' and (setting != 'guard' or variant == 'norm_after MLP'):
        effect = 'same bits'  # it has no norm and no MLP
    if effect == 'same bits':
        assert all(np.array_equal(a, b) for a, b in zip(found, expected))
    else:
        found_deviation = max(deviation(a, b) for a, b in zip(found, expected))
        assert (found_deviation <= tolerances.NETWORK_FLOAT32) is (effect == 'same')


@pytest.mark.parametrize('setting, variant', NAMES)
@pytest.mark.parametrize('kind', NETWORKS)
def test_a_variant_runs_in_all_float16(setting: str, variant: str, kind: str):
    outputs = _outputs(_network(kind, _variants(setting, variant), make_policy('float16', 'saturate'))(X))
    assert all(value.dtype == np.float32 and np.isfinite(value).all() for value in outputs)


@pytest.mark.parametrize('setting, variant', NAMES)
@pytest.mark.parametrize('kind', ['light', 'full'])
def test_every_variable_of_a_variant_gets_a_gradient(setting: str, variant: str, kind: str):
    network = _network(kind, _variants(setting, variant))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(X).image - 0.5))
    gradients = tape.gradient(loss, network.trainable_variables)
    assert all(gradient is not None and np.isfinite(gradient).all() for gradient in gradients)


def test_gamma_of_its_own_leaves_the_mlp_without_effect():
    """The one exception: with `:own` at every adaptive place nothing reads the MLP."""
    network = _network('light', Variants('own', norm=((ADAPTIVE, 'layer:own'), DEFAULT)))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(X).image))
    variables = network.named_variables
    gradients = tape.gradient(loss, variables)
    without = {name for name, gradient in gradients.items() if gradient is None and variables[name].trainable}
    assert without == {name for name in variables if '/MLP/' in name}


@pytest.mark.parametrize('kind', NETWORKS)
def test_float32_and_the_default_are_the_plain_network_bit_for_bit(kind: str):
    architecture, scope = NETWORKS[kind]
    plain = network_class(scope)(architecture, scope, Build(factory=well_scaled()))
    explicit = Variants('explicit', norm=(DEFAULT,), statistics=(('.*', 'plain'),), guard=(('.*', 'planned'),))
    chosen = _network(kind, explicit, make_policy('float32'), Live({}))
    assert list(plain.named_variables) == list(chosen.named_variables)
    assert all(np.array_equal(a, b) for a, b in zip(_outputs(plain(X)), _outputs(chosen(X))))


# ------------------------------------------------------------------------------------------------------ clamp


@pytest.mark.parametrize(
    'kind, suffixes', [('light', ('/MLP/Relu', '/MLP/Reshape')), ('discriminator', ('/LeakyRelu',))]
)
def test_a_clamp_limits_what_layers_give_on_in_float16(kind: str, suffixes: tuple):
    variants, mixed = Variants('clamp', guard=(('.*', 'clamp:0.5'),)), make_policy('mixed_float16')
    largest = {}
    for which, chosen in (('clamped', variants), ('free', DEFAULT_VARIANTS)):
        recorder = Recorder()
        _network(kind, chosen, mixed)(X, Call(tap=recorder))
        given = [
            v for k, v in recorder.tensors.items() if k.endswith((*suffixes, '/CAM_logit/add', '/CAM_logit_1/add'))
        ]
        assert len(given) >= 4
        largest[which] = max(float(np.abs(value).max()) for value in given)
    assert largest['clamped'] == 0.5 < largest['free']


# ------------------------------------------------------------------------------------- running statistics

RUNNING = {
    'batch': Variants('batch', norm=(('.*', 'batch'),)),
    'norm_after': Variants('after', guard=((CONVS, 'norm_after'), ('.*', 'planned'))),
    'norm_after:folded': Variants('folded', guard=((CONVS, 'norm_after:folded'), ('.*', 'planned'))),
}


def _moving(network: Network) -> Dict[str, np.ndarray]:
    return {name: value for name, value in arrays(network).items() if '/moving_' in name}


@pytest.mark.parametrize('name', RUNNING)
def test_calibration_stores_the_batchs_statistics(name: str):
    network, recorder = _network('light', RUNNING[name]), Recorder()
    before = _moving(network)
    network(X)
    assert all(np.array_equal(before[key], value) for key, value in _moving(network).items())  # inference stores none
    network(X, Call(tap=recorder, batch_momentum=0.0))
    assert set(network.registry.running) == {key.rpartition('/')[0] for key in before}
    for layer in network.registry.running:
        mean, variance = reference.batch_statistics(recorder.tensors[_input_of(layer)].numpy())
        assert deviation(network.named_variables[f'{layer}/moving_mean'], mean) <= tolerances.NETWORK_FLOAT32
        assert deviation(network.named_variables[f'{layer}/moving_variance'], variance) <= tolerances.NETWORK_FLOAT32


def _input_of(layer: str) -> str:
    """The convolution in front of a norm; a `batch_norm` is named below its convolution."""
    head, _, leaf = layer.rpartition('/')
    if leaf == 'batch_norm':
        return f'{head}/conv2d/BiasAdd'
    conv = {'layer_ins_norm_0': 'up_conv_0', 'layer_ins_norm_1': 'up_conv_1'}.get(
        leaf, leaf.replace('ins_norm', 'conv')
    )
    return f'{head}/{"conv_0" if "res" in head.rpartition("/")[2] else conv}/conv2d/BiasAdd'


@pytest.mark.parametrize('name', RUNNING)
def test_inference_after_calibration_gives_the_calibrations_picture(name: str):
    network = _network('light', RUNNING[name])
    calibrated = network(X, Call(batch_momentum=0.0)).image
    assert deviation(network(X).image, calibrated) <= tolerances.NETWORK_FLOAT32


def test_calibration_may_be_repeated_and_momentum_mixes():
    network = _network('light', RUNNING['batch'])
    network(X, Call(batch_momentum=0.0))
    first = _moving(network)
    network(X, Call(batch_momentum=0.0))
    assert all(np.array_equal(first[key], value) for key, value in _moving(network).items())
    variable = network.named_variables['generator_B/ins_norm/moving_mean']
    variable.assign(tf.zeros_like(variable))
    network(X, Call(batch_momentum=0.75))
    assert deviation(variable, 0.25 * first['generator_B/ins_norm/moving_mean']) <= tolerances.NETWORK_FLOAT32


@pytest.mark.parametrize('name', ['batch'])
def test_calibration_under_exponents_stores_the_true_statistics(name: str):
    """Bit for bit, so that a checkpoint does not depend on the plan that was active when it was written."""
    plain = _network('light', RUNNING[name])
    planned = _network('light', RUNNING[name], scaling=Live({group: 3 for group in plain.registry.members}))
    for network in (plain, planned):
        network(X, Call(batch_momentum=0.0))
    stored = _moving(planned)
    assert all(np.array_equal(value, stored[key]) for key, value in _moving(plain).items())


def test_a_batch_norm_at_inference_is_affine():
    def made(variants: Variants) -> Norm:
        build = Build(factory=well_scaled(), variants=variants)
        return Norm(build, 'generator_B/ins_norm', 4, 'instance', 'conv', 'ins_norm')

    a, b = (tf.constant(np.random.RandomState(seed).normal(size=[2, 5, 5, 4]), tf.float32) for seed in (0, 1))

    def difference_from_affine(layer: Norm) -> float:
        return deviation(layer(0.5 * (a + b), Call()), 0.5 * (layer(a, Call()) + layer(b, Call())).numpy())

    assert difference_from_affine(made(RUNNING['batch'])) <= tolerances.NETWORK_FLOAT32
    assert difference_from_affine(made(DEFAULT_VARIANTS)) > tolerances.ANOTHER_FUNCTION  # the control


def test_folding_the_batch_norm_is_the_same_function():
    unfolded, folded = (_network('light', RUNNING[name]) for name in ('norm_after', 'norm_after:folded'))
    for network in (unfolded, folded):
        network(X, Call(batch_momentum=0.0))
    assert deviation(folded(X).image, unfolded(X).image) <= tolerances.NETWORK_FLOAT32
