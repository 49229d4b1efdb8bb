"""The frozen graph behind every format: operators, names, interface, folded constants, absorbed batch norms."""

from __future__ import annotations

from typing import Dict, Set

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.export.models import Model
from ugatit.errors import UserError
from ugatit.export.frozen_graph import graph_runner
from ugatit.export.settings import Interface
from ugatit.export.trace import Traced
from ugatit.nn.architecture import Architecture

# Everything that a runtime must know. Operators that only some statistics or interfaces need are listed apart.
NETWORK = {'AddV2', 'ConcatV2', 'Conv2D', 'MatMul', 'Mean', 'MirrorPad', 'Mul', 'RealDiv', 'Relu', 'Reshape',
           'ResizeNearestNeighbor', 'Sqrt', 'Square', 'Sub', 'Tanh'}  # fmt: skip
SLICES = (NETWORK - {'MirrorPad'}) | {'Slice'}
PRESCALED = {'Abs', 'Cast', 'Greater', 'GreaterEqual', 'Max', 'Maximum', 'SelectV2', 'StridedSlice', 'OnesLike',
             'ZerosLike', 'Fill', 'Shape'}  # fmt: skip
SIZES = {'Shape', 'StridedSlice', 'Pack', 'Cast'}
UINT8 = {'Cast', 'Floor', 'Maximum', 'Minimum'}
TRAINING = {'VarHandleOp', 'ReadVariableOp', 'AssignVariableOp', 'ResourceApplyAdam', 'StopGradient', 'Identity',
            'IdentityN', 'PartitionedCall', 'StatefulPartitionedCall', 'NoOp', 'Bitcast'}  # fmt: skip


def _kinds(traced: Traced) -> Set[str]:
    return set(traced.operators())


def test_operators_of_the_plain_graph(healthy: Model) -> None:
    assert _kinds(healthy.trace()) == NETWORK


def test_no_mirror_pad_with_slices(healthy: Model) -> None:
    assert _kinds(healthy.trace(reflect_pad='slices')) == SLICES


def test_mixed_float16_adds_casts_only(healthy: Model) -> None:
    assert _kinds(healthy.trace(precision='mixed_float16')) == NETWORK | {'Cast'}


def test_prescaled_float16_has_comparisons_and_no_bitcasts(healthy: Model) -> None:
    kinds = _kinds(healthy.trace(healthy.load(True, 'prescaled'), 'float16'))
    assert NETWORK | {'Abs', 'GreaterEqual', 'SelectV2'} < kinds <= NETWORK | PRESCALED


def test_free_sizes_and_bytes_add_what_they_need(healthy: Model) -> None:
    kinds = _kinds(healthy.trace(dynamic_batch=True, dynamic_size=True, uint8=True, heatmap=True, reflect_pad='slices'))
    assert kinds <= SLICES | SIZES | UINT8 | {'Sum'} and not kinds & TRAINING


def test_nothing_of_training_is_left_and_an_unasked_heat_map_neither(healthy: Model) -> None:
    traced = healthy.trace()
    assert not _kinds(traced) & TRAINING and 'Sum' not in _kinds(traced)
    assert [node.name for node in traced.graph_def.node if node.op == 'Placeholder'] == ['test_domain_A']
    assert traced.output_names == ['generator_B/Tanh']


def test_official_names_inside(healthy: Model) -> None:
    names = {node.name: node.op for node in healthy.trace().graph_def.node}
    expected: Dict[str, str] = {
        'generator_B/up_conv_0/conv2d/kernel': 'Const',
        'generator_B/up_conv_0/conv2d/Conv2D': 'Conv2D',
        'generator_B/up_conv_0/conv2d/BiasAdd': 'AddV2',
        'generator_B/adaptive_resblock0/res1/instance_layer_norm/moments/mean': 'Mean',
        'generator_B/adaptive_resblock0/res1/instance_layer_norm/Sqrt_1': 'Sqrt',
        'generator_B/ResizeNearestNeighbor': 'ResizeNearestNeighbor',
        'generator_B/MLP/linear_0/dense/MatMul': 'MatMul',
        'generator_B/Tanh': 'Tanh',
    }
    assert {name: names.get(name) for name in expected} == expected
    assert all(name.startswith('generator_B/') for name in names if name != 'test_domain_A')


def test_the_other_direction_has_the_other_names(tiny_checkpoint: object) -> None:
    traced = Model(tiny_checkpoint, 'b2a').trace()
    assert (traced.input.name, traced.output_names) == ('test_domain_B', ['generator_A/Tanh'])


def test_the_traced_graph_gives_the_same_bits(healthy: Model) -> None:
    """One by one, as the file takes them; the control is another picture."""
    run = graph_runner(healthy.trace().graph_def, 'traced')
    alone = np.concatenate([healthy.load()(healthy.images[i : i + 1]).image for i in range(3)])
    found, _ = run(healthy.images)
    assert np.array_equal(found, alone) and not np.array_equal(found[0], found[1])


def test_float16_weights_are_halves(healthy: Model) -> None:
    constants = [n for n in healthy.trace(precision='float16').graph_def.node if n.op == 'Const']
    kernels = [node for node in constants if node.name.endswith('/kernel')]
    assert len(kernels) == len([n for n in healthy.trace().graph_def.node if n.name.endswith('/kernel')])
    assert {node.attr['dtype'].type for node in kernels} == {tf.float16.as_datatype_enum}


@pytest.mark.parametrize('variants', ['batch', 'batch_swap', 'norm_after'])
def test_batch_norms_go_into_convolutions(healthy: Model, variants: str) -> None:
    translate = healthy.load(variants=variants)
    traced = healthy.trace(translate, dynamic_batch=True)
    found, _ = graph_runner(traced.graph_def, variants)(healthy.images)
    np.testing.assert_allclose(found, translate(healthy.images).image, atol=tolerances.NETWORK_FLOAT32)
    plain, operators = healthy.trace().operators(), traced.operators()
    batch = sum(row.get('norm') == 'batch' for row in translate.generator.registry.variants.values())
    assert batch == 0 or operators['Sub'] <= plain['Sub'] - batch
    assert operators['Conv2D'] == plain['Conv2D'] and operators['AddV2'] <= plain['AddV2']


def test_absorbing_a_batch_norm_leaves_the_model_as_it_was(healthy: Model) -> None:
    translate = healthy.load(variants='batch')
    before = translate(healthy.images).image
    healthy.trace(translate)
    assert np.array_equal(translate(healthy.images).image, before)


def test_a_full_model_has_one_size() -> None:
    with pytest.raises(UserError, match='--dynamic_size needs a light model'):
        Interface(dynamic_size=True).check(Architecture(image_size=32, ch=2))


def test_a_full_model_is_traced_with_its_flattened_map(tmp_path: object) -> None:
    from tests.diagnosis import tiny

    full = Architecture(image_size=tiny.SIZE, ch=2, n_res=1, n_dis=4, light=False)
    model = Model(tiny.write_checkpoint(tmp_path, full))
    found, _ = graph_runner(model.trace(dynamic_batch=True).graph_def, 'full')(model.images)
    np.testing.assert_allclose(found, model.source.image, atol=tolerances.NETWORK_FLOAT32)
