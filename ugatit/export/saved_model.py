"""`--format=saved_model`: a folder for TensorFlow Serving and `tf.saved_model.load`, with one signature.

A SavedModel is read by the TensorFlow that wrote it and later ones; for earlier ones use a frozen graph.
"""

from __future__ import annotations

import pathlib
from typing import Any, Dict, List, Tuple

import numpy as np
import tensorflow as tf

from ugatit.errors import UserError
from ugatit.export.runner import Runner, Tensor
from ugatit.export.trace import Traced, spec

SIGNATURE = 'serving_default'
_LARGE = 4096  # bytes; larger constants become variables, so that the graph stays small


def write(traced: Traced, path: pathlib.Path) -> None:
    """Writes the folder; its weights are variables in the file's own precision."""
    graph, weights = _lifted(traced.graph_def)
    module = tf.Module()
    with tf.device('/CPU:0'):
        module.weights = {name: tf.Variable(value, trainable=False) for name, value in weights.items()}
    keys = {output.name: 'heatmap' if len(output.shape) == 3 else 'picture' for output in traced.outputs}

    def serve(pictures: tf.Tensor) -> Dict[str, tf.Tensor]:
        given = {f'{traced.input.name}:0': pictures}
        given.update({f'{name}:0': tf.convert_to_tensor(variable) for name, variable in module.weights.items()})
        found = tf.import_graph_def(graph, given, [f'{name}:0' for name in keys], name='')
        return dict(zip(keys.values(), found))

    function = tf.function(serve, autograph=False).get_concrete_function(spec(traced.input))
    tf.saved_model.save(module, str(path), signatures={SIGNATURE: function})


def _lifted(definition: Any) -> Tuple[Any, Dict[str, np.ndarray]]:
    """The graph with placeholders for large constants, and their values."""
    graph, weights = tf.compat.v1.GraphDef(), {}
    graph.versions.CopyFrom(definition.versions)
    for node in definition.node:
        if node.op == 'Const' and node.ByteSize() > _LARGE:
            weights[node.name] = tf.make_ndarray(node.attr['value'].tensor)
            placeholder = graph.node.add(name=node.name, op='Placeholder')
            placeholder.attr['dtype'].CopyFrom(node.attr['dtype'])
        else:
            graph.node.append(node)
    return graph, weights


def open_file(path: pathlib.Path) -> Runner:
    """The folder in TensorFlow, on the CPU; UserError where it is no SavedModel that this TensorFlow can read."""
    try:
        with tf.device('/CPU:0'):
            loaded = tf.saved_model.load(str(path))
            function = loaded.signatures[SIGNATURE]
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f'{path} should be a SavedModel with the signature {SIGNATURE}, but TensorFlow'
                        f' {tf.__version__} cannot read it ({reason}).') from None  # fmt: skip
    (name, spec), *others = function.structured_input_signature[1].items()
    if others:
        raise UserError(f'{path} should have one input, but it has {1 + len(others)}; export it with export.py.')

    def run(pictures: np.ndarray) -> List[np.ndarray]:
        with tf.device('/CPU:0'):
            found = loaded.signatures[SIGNATURE](**{name: tf.constant(pictures)})
        return [value.numpy() for value in found.values()]

    return Runner(
        Tensor(name, spec.dtype.name, tuple(spec.shape.as_list())), run, f'TensorFlow {tf.__version__} on CPU'
    )
