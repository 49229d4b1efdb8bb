"""Files that somebody else made, or another export: a sentence, never a traceback, and never a guess."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any, Callable, Sequence

import numpy as np
import pytest
import tensorflow as tf

import infer
from tests.diagnosis import tiny
from tests.export.models import Model
from ugatit.cli.main import run
from ugatit.errors import UserError
from ugatit.export import frozen_graph
from ugatit.export.exported import ExportedModel
from ugatit.export.formats import open_exported
from ugatit.export.sidecar import golden_path, json_path
from ugatit.export.verify import verify

Write = Callable[[pathlib.Path, Sequence[Any]], pathlib.Path]


def _onnx(folder: pathlib.Path, inputs: Sequence[Any]) -> pathlib.Path:
    """A model that adds up its inputs (or casts a single one), whatever they are."""
    onnx = pytest.importorskip('onnx')
    pytest.importorskip('onnxruntime')
    kinds = {'float32': onnx.TensorProto.FLOAT, 'int64': onnx.TensorProto.INT64, 'float16': onnx.TensorProto.FLOAT16}
    entries = [
        onnx.helper.make_tensor_value_info(f'x{i}', kinds[kind], shape) for i, (kind, shape) in enumerate(inputs)
    ]
    nodes = [onnx.helper.make_node('Cast', ['x0'], ['y'], to=onnx.TensorProto.FLOAT)]
    result = onnx.helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, inputs[0][1])
    graph = onnx.helper.make_graph(nodes, 'other', entries, [result])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 13)], ir_version=7)
    (folder / 'other.onnx').write_bytes(model.SerializeToString())
    return folder / 'other.onnx'


def _function(inputs: Sequence[Any]) -> Any:
    specs = [tf.TensorSpec(shape, kind, f'x{i}') for i, (kind, shape) in enumerate(inputs)]
    return tf.function(lambda *x: {'y': tf.cast(x[0], tf.float32) * 2.0}).get_concrete_function(*specs)


def _frozen_graph(folder: pathlib.Path, inputs: Sequence[Any]) -> pathlib.Path:
    definition = _function(inputs).graph.as_graph_def()
    definition.node[-1].name = 'generator_B/Tanh'
    (folder / 'other.pb').write_bytes(definition.SerializeToString())
    return folder / 'other.pb'


def _saved_model(folder: pathlib.Path, inputs: Sequence[Any]) -> pathlib.Path:
    module, function = tf.Module(), _function(inputs)
    tf.saved_model.save(module, str(folder / 'other'), signatures={'serving_default': function})
    return folder / 'other'


def _tflite(folder: pathlib.Path, inputs: Sequence[Any]) -> pathlib.Path:
    converter = tf.lite.TFLiteConverter.from_concrete_functions([_function(inputs)])
    (folder / 'other.tflite').write_bytes(converter.convert())
    return folder / 'other.tflite'


@pytest.mark.parametrize('write', [_onnx, _frozen_graph, _saved_model, _tflite])
@pytest.mark.parametrize(
    ('inputs', 'arrived'),
    [
        ([('float32', [1, 3, 16, 16])], r'float32 \[1, 3, 16, 16\]'),
        ([('int64', [1, 16, 16, 3])], r'int64 \[1, 16, 16, 3\]'),
        ([('float32', [1, 8])], r'float32 \[1, 8\]'),
    ],
)
def test_inputs_that_are_no_pictures(write: Write, inputs: Sequence[Any], arrived: str, tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, inputs)
    with pytest.raises(UserError, match=f'should have one input, .* but it has {arrived}; export the model'):
        open_exported(path)


def test_two_inputs_halves_and_oblong_pictures(tmp_path: pathlib.Path) -> None:
    both = [('float32', [1, 16, 16, 3]), ('float32', [1])]
    with pytest.raises(UserError, match=r'but it has float32 \[1, 16, 16, 3\] and float32 \[1\]'):
        open_exported(_onnx(tmp_path, both))
    with pytest.raises(UserError, match=r'but it has float16 '):
        open_exported(_onnx(tmp_path, [('float16', [1, 16, 16, 3])]))
    with pytest.raises(UserError, match='should take square pictures, but it takes 16x32'):
        ExportedModel(_onnx(tmp_path, [('float32', [1, 16, 32, 3])]))


def test_infer_says_so(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    pictures = tiny.write_pictures(tmp_path / 'pictures')
    path = _onnx(tmp_path, [('int64', [1, 16, 16, 3])])
    words = [f'--model={path}', f'--input={pictures}', f'--output={tmp_path / "out"}']
    assert run(infer.main, infer.FLAGS, words) == 2
    error = capsys.readouterr().err
    assert 'should have one input' in error and 'Traceback' not in error and not (tmp_path / 'out').exists()


def test_outputs_that_are_no_pictures(tmp_path: pathlib.Path) -> None:
    onnx = pytest.importorskip('onnx')
    path = _onnx(tmp_path, [('float32', [1, 16, 16, 3])])
    model = onnx.load(str(path))
    model.graph.node[0].op_type = 'GlobalAveragePool'
    del model.graph.node[0].attribute[:], model.graph.output[0].type.tensor_type.shape.dim[:]
    path.write_bytes(model.SerializeToString())
    with pytest.raises(UserError, match=r'but this file gives \[2, 16, 1, 1\]; export the model'):
        open_exported(path)(np.zeros((2, 16, 16, 3), np.float32))


def test_a_file_of_another_size_beside_the_json(healthy: Model, tmp_path: pathlib.Path) -> None:
    """The pictures beside it are those of the file that was there before."""
    healthy.export(tmp_path / 'a.pb', 'frozen_graph')
    larger = healthy.trace(dynamic_batch=True)
    node = next(node for node in larger.graph_def.node if node.op == 'Placeholder')
    for dim in node.attr['shape'].shape.dim[1:3]:
        dim.size = 32
    frozen_graph.write(larger, tmp_path / 'b.pb')
    shutil.copy(json_path(tmp_path / 'a.pb'), json_path(tmp_path / 'b.pb'))
    shutil.copy(golden_path(tmp_path / 'a.pb'), golden_path(tmp_path / 'b.pb'))
    with pytest.raises(UserError, match=r'takes pictures \[any, 32, 32, 3\], but \[1, 16, 16, 3\] arrived'):
        verify(tmp_path / 'b.pb')
