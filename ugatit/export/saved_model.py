"""`--format=saved_model`: a folder for TensorFlow Serving and `tf.saved_model.load`, with one signature.

A SavedModel is read by the TensorFlow that wrote it and later ones; for earlier ones use a frozen graph.
"""

from __future__ import annotations

import pathlib
from typing import Dict, List

import numpy as np
import tensorflow as tf

from ugatit.errors import UserError
from ugatit.export.graph import without_large_constants
from ugatit.export.runner import Runner, Tensor, picture_input
from ugatit.export.trace import Traced, spec

SIGNATURE = 'serving_default'


def write(traced: Traced, path: pathlib.Path) -> None:
    """Writes the folder; its weights are variables in the file's own precision."""
    graph, lifted = without_large_constants(traced.graph_def)  # variables instead: the graph stays small
    weights = {node.name: tf.make_ndarray(node.attr['value'].tensor) for node in lifted}
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


def open_file(path: pathlib.Path) -> Runner:
    """The folder in TensorFlow, on the CPU; UserError where it is no SavedModel that this TensorFlow can read."""
    try:
        with tf.device('/CPU:0'):
            loaded = tf.saved_model.load(str(path))
            function = loaded.signatures[SIGNATURE]
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f'{path} should be a SavedModel with the signature {SIGNATURE}, but TensorFlow'
                        f' {tf.__version__} cannot read it ({reason}); export it again with this TensorFlow, or as a'
                        ' frozen graph.') from None  # fmt: skip
    entry = picture_input(path, [_tensor(*given) for given in function.structured_input_signature[1].items()])
    heatmap = any(key == 'heatmap' or found.shape.rank == 3 for key, found in function.structured_outputs.items())

    def run(pictures: np.ndarray) -> List[np.ndarray]:
        with tf.device('/CPU:0'):
            found = loaded.signatures[SIGNATURE](**{entry.name: tf.constant(pictures)})
        return [value.numpy() for value in found.values()]

    return Runner(entry, run, f'TensorFlow {tf.__version__} on CPU', heatmap)


def _tensor(name: str, given: tf.TensorSpec) -> Tensor:
    return Tensor(name, given.dtype.name, () if given.shape.rank is None else tuple(given.shape.as_list()))
