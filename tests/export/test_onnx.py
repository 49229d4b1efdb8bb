"""ONNX: opsets, structure, true half arithmetic, and what a usual converter makes of our files."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from tests import tolerances
from tests.export.models import Model
from ugatit.errors import UserError
from ugatit.export.onnx_file import to_onnx
from ugatit.export.onnx_opsets import OPSETS
from ugatit.export.true_half import converted, run_true_half
from ugatit.nn.policy import make_policy
from ugatit.numerics import psnr

onnx = pytest.importorskip('onnx')


@pytest.mark.slow
@pytest.mark.parametrize('opset', OPSETS)
def test_every_opset_is_valid_and_right(healthy: Model, opset: int) -> None:
    runtime = pytest.importorskip('onnxruntime')
    model = to_onnx(healthy.trace(reflect_pad='slices' if opset % 2 else 'mirror', dynamic_size=True), opset)
    onnx.checker.check_model(model, full_check=True)
    if opset > 15 and tuple(map(int, runtime.__version__.split('.')[:2])) < (1, 14):
        pytest.skip(f'onnxruntime {runtime.__version__} does not know opset {opset}')
    session = runtime.InferenceSession(model.SerializeToString(), providers=['CPUExecutionProvider'])
    found = session.run(None, {'test_domain_A': healthy.images[:1]})[0]
    np.testing.assert_allclose(found, healthy.source.image[:1], atol=tolerances.NETWORK_FLOAT32)


@pytest.mark.parametrize('opset', [12, 19])
def test_other_opsets_are_refused(healthy: Model, opset: int) -> None:
    with pytest.raises(UserError, match='--opset must be from 13 to 18'):
        to_onnx(healthy.trace(), opset)


def test_operators(healthy: Model) -> None:
    """The transpositions are the two ends, and gamma and beta of the MLP: none between convolutions."""
    found = collections.Counter(node.op_type for node in to_onnx(healthy.trace()).graph.node)
    assert set(found) == {'Add', 'Concat', 'Conv', 'Div', 'MatMul', 'Mul', 'Pad', 'ReduceMean', 'Relu', 'Reshape',
                          'Resize', 'Sqrt', 'Sub', 'Tanh', 'Transpose'}  # fmt: skip
    assert found['Transpose'] == 4
    sliced = collections.Counter(n.op_type for n in to_onnx(healthy.trace(reflect_pad='slices')).graph.node)
    assert 'Pad' not in sliced and sliced['Transpose'] == 4


def test_free_sides_have_names(healthy: Model) -> None:
    model = to_onnx(healthy.trace(dynamic_batch=True, dynamic_size=True, heatmap=True))
    shapes = [[dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
              for value in [*model.graph.input, *model.graph.output]]  # fmt: skip
    assert shapes == [['batch', 'height', 'width', 3]] * 2 + [['batch', 'height/4', 'width/4']]


def _half(model: Model, planned: bool, precision: str, statistics: str) -> float:
    """dB in true half arithmetic; -inf for NaN or infinity."""
    made = to_onnx(model.trace(model.load(planned, statistics), precision))
    return _decibels(run_true_half(made, model.images), model)


def _decibels(found: np.ndarray, model: Model) -> float:
    return psnr(found, model.source.image) if np.isfinite(found).all() else -np.inf


@pytest.mark.slow
@pytest.mark.parametrize(
    ('precision', 'statistics'), [('mixed_float16', 'plain'), ('float16', 'prescaled'), ('float16', 'float32')]
)
def test_true_half_is_right_with_a_plan_and_broken_without(broken: Model, precision: str, statistics: str) -> None:
    """onnx's evaluator stores halves. What runtimes with float32 in between show: tests/export/test_golden.py."""
    pytest.importorskip('onnx.reference')
    translate = broken.load(False, statistics)
    floor = psnr(translate.twin(make_policy(precision).floor())(broken.images).image.numpy(), broken.source.image)
    assert _half(broken, True, precision, statistics) > floor - tolerances.FLOOR_DB
    assert _half(broken, False, precision, statistics) < floor - tolerances.BROKEN_DB


@pytest.mark.slow
@pytest.mark.filterwarnings('ignore:the float32 number:UserWarning')  # the converter's, of every weight that it cuts
def test_a_usual_converter_needs_the_plan_too(broken: Model) -> None:
    """Our planned float32 file through onnxconverter-common is right, the unplanned one is broken."""
    pytest.importorskip('onnx.reference')
    pytest.importorskip('onnxconverter_common')
    found = {}
    for planned in (True, False):
        made = converted(to_onnx(broken.trace(broken.load(planned, 'prescaled'))))
        found[planned] = _decibels(run_true_half(made, broken.images), broken)
    assert found[True] > tolerances.CONVERTED_DB and found[False] < tolerances.BROKEN_PICTURE_DB
