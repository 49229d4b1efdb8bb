"""One name for one thing: variables and tensors carry the official graph's names, in the official order."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Dict, List

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.nn.golden_cases import OVERFLOW, TAGS, golden_case
from tests.nn.weights import pictures, well_scaled
from ugatit.nn.architecture import NETWORKS, Architecture
from ugatit.nn.blueprint import network_class, variable_specs
from ugatit.nn.build import Build
from ugatit.nn.call import Call, Recorder
from ugatit.nn.pad import PADDINGS, margins, mirror_pad, reflect_pad, slices_pad, upsample

SMALL = Architecture(image_size=24, ch=2, n_dis=4, light=True)
# Not tensors of the official graph: what a layer multiplies (after spectral norm and exponents, before padding); and
# x_hat at instance norms, where the official code multiplies gamma into 1 / sigma first.
OURS = r'.*/(kernel|bias|input)|.*/(ins_norm(_[01])?|instance_norm)/(sub|truediv|mul_2)'


def _recorded_tensors(architecture: Architecture, scope: str) -> Dict[str, tf.Tensor]:
    network = network_class(scope)(architecture, scope, Build(factory=well_scaled()))
    recorder = Recorder()
    network(tf.constant(pictures(1, architecture.image_size)), Call(tap=recorder))
    return recorder.tensors


@pytest.mark.parametrize('kind', ['full', 'light'])
def test_variables_are_the_official_ones(kind: str, golden: pathlib.Path):
    listed = json.loads((golden / f'variables_{kind}.json').read_text())['variables']
    official = [
        (entry['name'], tuple(entry['shape']), entry['trainable'])
        for entry in listed
        if not re.search(r'/Adam(_1)?$|^beta[12]_power', entry['name'])
    ]
    specs = {scope: variable_specs(Architecture(light=kind == 'light'), scope) for scope in NETWORKS}
    ours = [(name, spec.shape, spec.trainable) for scope in NETWORKS for name, spec in specs[scope].items()]
    assert ours == official
    assert sum(trainable for _, _, trainable in ours) == 248


@pytest.mark.parametrize('tag', TAGS)
def test_variables_of_other_architectures_are_those_of_their_checkpoints(tag: str, golden: pathlib.Path):
    case = golden_case(golden, tag)
    held = {name.partition('/')[0] for name in case.weights}
    specs = {
        name: spec.shape
        for scope in NETWORKS
        if scope in held
        for name, spec in variable_specs(case.architecture, scope).items()
    }
    assert specs == {name: value.shape for name, value in case.weights.items()}


@pytest.mark.parametrize('scope', NETWORKS)
@pytest.mark.parametrize('changes', [{}, {'sn': False, 'light': False}], ids=['light', 'full without spectral norm'])
def test_variable_objects_carry_their_names(scope: str, changes: dict):
    architecture = Architecture(**{**vars(SMALL), **changes})
    network = network_class(scope)(architecture, scope)
    specs = variable_specs(architecture, scope)
    assert list(network.named_variables) == list(specs)
    for name, variable in network.named_variables.items():
        assert variable.name == f'{name}:0'
        assert (tuple(variable.shape), variable.trainable) == specs[name]


def test_names_are_the_same_inside_a_function_and_under_a_strategy():
    made: List[tf.Module] = []

    @tf.function
    def build() -> tf.Tensor:
        if not made:
            made.append(network_class('discriminator_A')(SMALL, 'discriminator_A'))
        return tf.constant(0)

    build()
    with tf.distribute.MirroredStrategy(['/cpu:0']).scope():
        made.append(network_class('discriminator_A')(SMALL, 'discriminator_A'))
    for network in made:
        assert all(variable.name == f'{name}:0' for name, variable in network.named_variables.items())


def test_initial_values_do_not_depend_on_the_order_of_creation():
    first, second = (network_class('generator_B')(SMALL, 'generator_B') for _ in range(2))
    other = network_class('generator_A')(SMALL, 'generator_A')
    kernel = '{}/conv_0/conv2d/kernel'.format
    assert np.array_equal(first.named_variables[kernel('generator_B')], second.named_variables[kernel('generator_B')])
    assert not np.array_equal(
        first.named_variables[kernel('generator_B')], other.named_variables[kernel('generator_A')]
    )


@pytest.mark.parametrize('tag', OVERFLOW)
@pytest.mark.parametrize(
    'key', ['generator_B/input0', 'generator_B/input1', 'generator_B/input2', 'generator_A/input0']
)
def test_tensors_are_the_official_ones(tag: str, key: str, golden: pathlib.Path):
    """The layer tables have every float tensor of the official generator: a name of ours means what it means there."""
    case, scope = golden_case(golden, tag), key.partition('/')[0]
    table = json.loads((golden / 'outputs' / f'{tag}_layer_table.json').read_text())[key]
    official = {name.partition(':')[0]: entry for name, entry in table.items()}
    recorder = Recorder()
    x = case.inputs('x_A' if scope == 'generator_B' else 'x_B')[int(key[-1])]
    case.network(scope)(tf.constant(x), Call(tap=recorder))
    ours = {name: value.numpy() for name, value in recorder.tensors.items()}
    assert [name for name in ours if name not in official and not re.fullmatch(OURS, name)] == []
    assert len(set(ours) & set(official)) > 250
    for name in set(ours) & set(official):
        value, entry = ours[name], official[name]
        assert value.size == np.prod(entry['shape'], dtype=int)
        assert value.ndim == len(entry['shape']) or name.endswith('/Squeeze')  # the official one loses the batch axis
        allowed = tolerances.OFFICIAL_OUTPUT * _scale(name, ours) + tolerances.TABLE_DIGITS
        for statistic in (np.min, np.max, np.mean):
            assert statistic(value) == pytest.approx(entry[statistic.__name__.strip('a_')], abs=allowed), name


def _scale(name: str, ours: Dict[str, np.ndarray]) -> float:
    """The tensor's largest value; of a mean, which is what cancellation left of them, the largest that went into it."""
    mean = re.fullmatch(r'(.*)/moments(_1)?/mean', name)
    return float(np.abs(ours[f'{mean[1]}/sub{mean[2] or ""}' if mean else name]).max())


def test_the_discriminators_tensors_are_the_official_ones(golden: pathlib.Path):
    """Of discriminators only a selection is recorded; the values are compared with the other outputs."""
    recorded = 0
    for tag in TAGS:
        case, prefix = golden_case(golden, tag), 'D/call0/act/'
        official = {name[len(prefix) : -2] for name in case.recorded if name.startswith(prefix)}
        if official:
            assert official <= set(_recorded_tensors(case.architecture, 'discriminator_A'))
        recorded += len(official)
    assert recorded > 100


@pytest.mark.parametrize('scope', ['generator_B', 'discriminator_A'])
def test_every_tensor_has_one_name_and_a_layer_in_it(scope: str):
    names: List[str] = []

    def tap(name: str, x: tf.Tensor) -> tf.Tensor:
        names.append(name)
        return x

    network = network_class(scope)(SMALL, scope)
    network(tf.constant(pictures(1, 24)), Call(tap=tap))
    assert len(names) == len(set(names))
    assert all(any(name.startswith(f'{layer}/') for name in names) for layer in network.registry.layers)


def test_a_few_names_by_heart():
    generator = _recorded_tensors(SMALL, 'generator_B')
    assert {
        'generator_B/up_conv_0/conv2d/Conv2D',
        'generator_B/up_conv_0/conv2d/BiasAdd',
        'generator_B/ins_norm/instancenorm/add_1',
        'generator_B/adaptive_resblock0/res1/instance_layer_norm/add_3',
        'generator_B/layer_ins_norm_1/add_3',
        'generator_B/adaptive_resblock3/add',
        'generator_B/MLP/Reshape',
        'generator_B/MLP/Reshape_1',
        'generator_B/concat',
        'generator_B/Squeeze',
        'generator_B/Tanh',
    } <= set(generator)
    assert {'discriminator_A/local/CAM_logit/MatMul_4', 'discriminator_A/global/D_logit/BiasAdd'} <= set(
        _recorded_tensors(SMALL, 'discriminator_A')
    )


def test_a_tap_may_replace_what_flows_on():
    network = network_class('generator_B')(SMALL, 'generator_B', Build(factory=well_scaled()))
    x = tf.constant(pictures(1, 24))

    def tap(name: str, value: tf.Tensor) -> tf.Tensor:
        return tf.zeros_like(value) if name == 'generator_B/G_logit/conv2d/BiasAdd' else value

    assert np.all(network(x, Call(tap=tap)).image.numpy() == 0.0)


@pytest.mark.parametrize(
    'kernel, stride, pad, expected',
    [(3, 1, 1, (1, 1)), (7, 1, 3, (3, 3)), (3, 2, 1, (1, 0)), (4, 2, 1, (1, 1)), (4, 1, 1, (1, 2)), (1, 1, 0, (0, 0))],
)
def test_padding_margins(kernel: int, stride: int, pad: int, expected: tuple):
    assert margins(kernel, stride, pad) == expected


@pytest.mark.parametrize('before, after', [(1, 1), (3, 3), (1, 0), (1, 2), (0, 0)])
def test_both_paddings_give_the_same_bits(before: int, after: int):
    x = tf.random.stateless_normal([2, 5, 7, 3], [1, 2])
    expected = np.pad(x.numpy(), [(0, 0), (before, after), (before, after), (0, 0)], mode='reflect')
    traced = tf.function(lambda x: slices_pad(x, before, after))
    traced = traced.get_concrete_function(tf.TensorSpec([None, None, None, 3], tf.float32))
    for padded in (mirror_pad(x, before, after), slices_pad(x, before, after), traced(x)):
        assert np.array_equal(padded, expected)
    for mode in PADDINGS:
        assert np.array_equal(reflect_pad(x, before, after, mode), expected)


def test_a_network_padded_by_slices_gives_the_same_bits():
    for scope in ('generator_B', 'discriminator_A'):
        x = tf.constant(pictures(1, 24))
        outputs = [
            tf.nest.flatten(network_class(scope)(SMALL, scope, Build(factory=well_scaled(), pad_mode=mode))(x))
            for mode in PADDINGS
        ]
        assert all(np.array_equal(a, b) for a, b in zip(*outputs))


def test_upsampling_is_nearest_neighbour():
    x = tf.random.stateless_normal([2, 3, 5, 4], [1, 2])
    expected = tf.raw_ops.ResizeNearestNeighbor(images=x, size=[6, 10])
    assert np.array_equal(upsample(x), expected)
    traced = tf.function(upsample, input_signature=[tf.TensorSpec([None, None, None, 4], tf.float32)])
    assert np.array_equal(traced(x), expected)
