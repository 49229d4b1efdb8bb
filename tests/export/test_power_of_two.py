"""The exponent arithmetic of `prescaled` by comparisons: the same bits in ONNX and TFLite, over all exponents."""

from __future__ import annotations

import pathlib
from typing import Any, Tuple

import numpy as np
import pytest
import tensorflow as tf

from ugatit.export import graph as graphs
from ugatit.export import tflite
from ugatit.export.runner import Tensor
from ugatit.export.trace import Traced
from ugatit.numerics import power_of_two_near


def _amplitudes() -> np.ndarray:
    """[1, 1, N, 3]: for every exponent of a normal float32 its power of two, both neighbours, and 1.5 times; 0; inf."""
    powers = np.ldexp(np.float32(1), np.arange(-126, 128)).astype(np.float32)
    above, below = np.nextafter(powers, np.float32(np.inf)), np.nextafter(powers[1:], np.float32(0))
    special = np.float32([0.0, np.finfo(np.float32).max, np.inf, 3.0, 5.0])  # so many that the number is one of 3
    values = [powers, above, below, np.float32(1.5) * powers, special]
    return np.concatenate(values).astype(np.float32).reshape(1, 1, -1, 3)


def _traced(shape: Tuple[int, ...]) -> Traced:
    spec = tf.TensorSpec(shape, tf.float32, name='x')
    concrete = tf.function(lambda x: power_of_two_near(x)).get_concrete_function(spec)
    definition = graphs.without_control_inputs(concrete.graph.as_graph_def())
    end = graphs.behind(definition, concrete.outputs[0].op.name)
    definition = graphs.fold_constants(graphs.prune(definition, [end], ['x']), {})
    end = graphs.behind(definition, end)
    definition = graphs.portable(graphs.bypass(definition, [end]))
    return Traced(definition, Tensor('x', 'float32', shape), (Tensor(end, 'float32', shape),))


def _onnx(traced: Traced, values: np.ndarray, path: pathlib.Path) -> np.ndarray:
    runtime = pytest.importorskip('onnxruntime')
    from ugatit.export.onnx_file import to_onnx

    del path
    session = runtime.InferenceSession(to_onnx(traced).SerializeToString(), providers=['CPUExecutionProvider'])
    return session.run(None, {'x': values})[0]


def _tflite(traced: Traced, values: np.ndarray, path: pathlib.Path) -> np.ndarray:
    tflite.write(traced, path, half=False)
    return tflite.open_file(path).run(values)[0]


@pytest.mark.parametrize('run', [_onnx, _tflite])
def test_the_same_bits_over_all_exponents(run: Any, tmp_path: pathlib.Path) -> None:
    values = _amplitudes()
    traced = _traced(values.shape)
    assert 'Bitcast' not in traced.operators()
    found = run(traced, values, tmp_path / 'x.tflite')
    wanted = power_of_two_near(tf.constant(values)).numpy()
    assert np.array_equal(found.view(np.int32), wanted.view(np.int32))
    finite = values[np.isfinite(values) & (values > 0)]
    exact = np.ldexp(1.0, np.frexp(finite.astype(np.float64))[1] - 1)
    assert np.array_equal(found[np.isfinite(values) & (values > 0)], exact)
