"""From a loaded generator to a graph of plain operators and constants, under the official names: what every format
writes. The model is traced, not written down a second time, so whatever its layers do is exported.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Tuple

import numpy as np
import tensorflow as tf

from ugatit.export import graph as graphs
from ugatit.export.naming import official_names, renamed
from ugatit.export.runner import Tensor
from ugatit.export.settings import Interface
from ugatit.export.upsampling import with_resize
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION
from ugatit.nn.call import Call
from ugatit.nn.generator import Generator
from ugatit.ranges.kinds import INPUT, kind_of

INPUT_OF_DIRECTION: Dict[str, str] = {'a2b': 'test_domain_A', 'b2a': 'test_domain_B'}  # as in the official test graph


@dataclasses.dataclass(frozen=True)
class Traced:
    """A frozen graph and what it is called from outside."""

    graph_def: tf.compat.v1.GraphDef
    input: Tensor
    outputs: Tuple[Tensor, ...]  # the picture, and the heat map where it was asked for

    @property
    def output_names(self) -> List[str]:
        return [output.name for output in self.outputs]

    def without_weights(self) -> Traced:
        """For what is said about a written file, names and operators: a full model has a gigabyte of weights."""
        return dataclasses.replace(self, graph_def=graphs.without_large_constants(self.graph_def)[0])

    def operators(self) -> Dict[str, int]:
        """Operator type -> how often it occurs, constants and the input aside."""
        return graphs.operators(self.graph_def)


def spec(tensor: Tensor) -> tf.TensorSpec:
    """What TensorFlow traces with."""
    return tf.TensorSpec(tensor.shape, tensor.dtype, tensor.name)


def trace(generator: Generator, direction: str, interface: Interface) -> Traced:
    """Traces the generator in its own policy and makes everything constant that no picture reaches."""
    scope, name = GENERATOR_OF_DIRECTION[direction], INPUT_OF_DIRECTION[direction]
    dtype = 'uint8' if interface.uint8 else 'float32'
    source = Tensor(name, dtype, interface.input_shape(generator.architecture.image_size))
    tapped: Dict[str, str] = {}

    def tap(official: str, x: tf.Tensor) -> tf.Tensor:
        if kind_of(official) != INPUT:  # an input is the tensor of the layer before, under another name
            tapped.setdefault(x.op.name, official)
        return x

    def run(pictures: tf.Tensor) -> Dict[str, tf.Tensor]:
        found = generator(from_pixels(pictures), Call(tap=tap))
        outputs = {f'{scope}/Tanh': found.image}
        if interface.uint8:
            outputs = {f'{scope}/pixels': _to_pixels(found.image)}
        if interface.heatmap:
            outputs[f'{scope}/Squeeze'] = found.heatmap
        return outputs

    with tf.device('/CPU:0'):
        concrete = tf.function(run, autograph=False).get_concrete_function(spec(source))
    return _frozen(concrete, source, tapped, f'{scope}/')


def _frozen(concrete: Any, source: Tensor, tapped: Dict[str, str], scope: str) -> Traced:
    returned = dict(zip(sorted(concrete.structured_outputs), concrete.outputs))  # tf.nest flattens by sorted key
    order = [key for key in (f'{scope}Tanh', f'{scope}pixels', f'{scope}Squeeze') if key in returned]
    definition = graphs.without_control_inputs(concrete.graph.as_graph_def())
    ends = {key: graphs.behind(definition, returned[key].op.name) for key in order}
    entry = concrete.inputs[0].op.name
    definition = graphs.prune(definition, ends.values(), keep=[entry])
    tapped = {**_casts_of(definition, tapped), **tapped}
    definition = graphs.fold_constants(definition, _weights(concrete))
    definition = with_resize(graphs.bypass(definition, ends.values()), list(ends.values()))
    definition = graphs.share_constants(definition, tapped)
    fixed = {entry: source.name, **{node: key for key, node in ends.items()}}
    definition = renamed(definition, official_names(definition, tapped, fixed, scope))
    return Traced(graphs.portable(definition), source, tuple(_output(key, returned[key], source) for key in order))


def _output(name: str, value: tf.Tensor, source: Tensor) -> Tensor:
    """Its shape follows from the input's, also where TensorFlow's inference gives up."""
    batch, height, width, channels = source.shape
    if name.endswith('Squeeze'):
        return Tensor(name, value.dtype.name, (batch, *(side and side // 4 for side in (height, width))))
    return Tensor(name, value.dtype.name, (batch, height, width, channels))


def _casts_of(definition: Any, tapped: Dict[str, str]) -> Dict[str, str]:
    """A kernel or bias in float16 is a cast of the tensor that was given the name, and takes it over."""
    return {
        node.name: tapped[graphs.node_of(node.input[0])]
        for node in definition.node
        if node.op == 'Cast' and tapped.get(graphs.node_of(node.input[0]), '').endswith(('/kernel', '/bias'))
    }


def _weights(concrete: Any) -> Dict[str, np.ndarray]:
    """Name of the graph's stand-in for a variable -> the variable's value."""
    by_handle = {id(variable.handle): variable for variable in concrete.graph.variables}
    return {
        internal.op.name: by_handle[id(external)].numpy() if id(external) in by_handle else external.numpy()
        for external, internal in concrete.graph.captures
    }


def from_pixels(pictures: tf.Tensor) -> tf.Tensor:
    """uint8 0..255 to [-1, 1] as `ugatit.data.convert.to_float`; float32 as it is."""
    if pictures.dtype != tf.uint8:
        return pictures
    return (tf.cast(pictures, tf.float32) - 127.5) / 127.5


def _to_pixels(image: tf.Tensor) -> tf.Tensor:
    """[-1, 1] to uint8, rounded to nearest as `ugatit.data.convert.to_uint8`."""
    return tf.cast(tf.clip_by_value(tf.floor((image + 1.0) * 127.5 + 0.5), 0.0, 255.0), tf.uint8)
