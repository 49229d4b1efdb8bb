"""`--format=frozen_graph`: one `.pb` with everything in it, for ATC and for any TensorFlow from 1.15 on.

Input `test_domain_A` (a2b) or `test_domain_B`, output `generator_B/Tanh` or `generator_A/Tanh`, as the official test
graph has them.
"""

from __future__ import annotations

import pathlib
from typing import Any, List

import numpy as np
import tensorflow as tf

from ugatit.data.convert import PathLike
from ugatit.errors import UserError
from ugatit.export.graph import without_large_constants
from ugatit.export.runner import Runner, Tensor, picture_input
from ugatit.export.trace import Traced


def write(traced: Traced, path: pathlib.Path) -> None:
    """Writes the serialised GraphDef."""
    path.write_bytes(traced.graph_def.SerializeToString())


def read(path: pathlib.Path) -> Any:
    """The GraphDef in a file; UserError where it is none."""
    definition = tf.compat.v1.GraphDef()
    try:
        definition.ParseFromString(path.read_bytes())
    except Exception as error:  # protobuf's own type differs between its implementations
        raise UserError(f'{path} should be a frozen graph, but it cannot be read ({error}); export it again.') from None
    return definition


def open_file(path: pathlib.Path) -> Runner:
    """The graph in TensorFlow, on the CPU."""
    return graph_runner(read(path), path)


def graph_runner(definition: Any, name: PathLike) -> Runner:
    """A GraphDef as a function.

    Its weights are handed in as arguments: TensorFlow's optimiser copies a graph again and again, a full model's
    gigabyte included, which takes longer than all the rest.
    """
    entry = picture_input(name, [_tensor(node) for node in definition.node if node.op == 'Placeholder'])
    outputs = output_nodes(definition)
    if not outputs:
        raise UserError(f'{name} has no generator_B/Tanh or generator_A/Tanh; export it with export.py.')
    graph, large = without_large_constants(definition)
    with tf.device('/CPU:0'):
        weights = [tf.constant(tf.make_ndarray(node.attr['value'].tensor)) for node in large]
        wrapped = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph, name=''), [])
        feeds = [f'{source}:0' for source in (entry.name, *(node.name for node in large))]
        function = wrapped.prune(feeds, [f'{output}:0' for output in outputs])

    def run(pictures: np.ndarray) -> List[np.ndarray]:
        with tf.device('/CPU:0'):
            return [value.numpy() for value in function(tf.constant(pictures), *weights)]

    return Runner(entry, run, f'TensorFlow {tf.__version__} on CPU', len(outputs) > 1)


def _tensor(node: Any) -> Tensor:
    dims = [dim.size if dim.size >= 0 else None for dim in node.attr['shape'].shape.dim]
    return Tensor(node.name, tf.as_dtype(node.attr['dtype'].type).name, tuple(dims))


def output_nodes(definition: Any) -> List[str]:
    """The picture and the heat map where there is one, by their official names.

    With uint8 pictures `generator_B/Tanh` is inside, and `generator_B/pixels` comes out.
    """
    names = [node.name for node in definition.node]
    by_kind = {kind: [name for name in names if name.endswith(f'/{kind}')] for kind in ('pixels', 'Tanh', 'Squeeze')}
    return (by_kind['pixels'] or by_kind['Tanh'])[:1] + by_kind['Squeeze'][:1]
