"""Nearest-neighbour upsampling as the operator that compilers know.

The network reshapes, tiles and reshapes, because the resize operator's gradient has no XLA kernel; with six dimensions
that is more than many compilers take. The official graph has ResizeNearestNeighbor, which gives the same bits.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from ugatit.export.graph import constant_node, node_of, prune, without_large_constants

_DOUBLED = [1, 1, 2, 1, 2, 1]  # tiles of [N, H, 1, W, 1, C]


class _Upsampling(NamedTuple):
    """Where one upsampling by 2 stands."""

    source: str  # what is upsampled, [N, H, W, C]
    last: Any  # the node that gives the result


def with_resize(definition: Any, outputs: List[str]) -> Any:
    """The graph with every reshape, tile, reshape that doubles pictures replaced; others stay as they are."""
    found = {upsampling.last.name: upsampling for upsampling in _upsamplings(definition)}
    if not found:
        return definition
    shapes = inferred_shapes(definition)
    made = tf.compat.v1.GraphDef()
    made.versions.CopyFrom(definition.versions)
    for node in definition.node:
        made.node.extend(_resize(found[node.name], shapes) if node.name in found else [node])
    return prune(made, outputs, [node.name for node in definition.node if node.op == 'Placeholder'])


def inferred_shapes(definition: Any) -> Dict[str, Optional[List[Optional[int]]]]:
    """Node -> shape of its first output as far as TensorFlow can tell; None: not even the rank.

    Without the weights, on which no shape depends: they may be a gigabyte.
    """
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(without_large_constants(definition)[0], name='')
        shapes = {op.name: op.outputs[0].shape for op in graph.get_operations() if op.outputs}
    return {name: None if shape.rank is None else shape.as_list() for name, shape in shapes.items()}


def _upsamplings(definition: Any) -> Iterator[_Upsampling]:
    nodes = {node.name: node for node in definition.node}
    for node in definition.node:
        tile = nodes[node_of(node.input[0])] if node.op == 'Reshape' else None
        if tile is None or tile.op != 'Tile' or _value(nodes, tile.input[1]) != _DOUBLED:
            continue
        first = nodes[node_of(tile.input[0])]
        if first.op == 'Reshape':
            yield _Upsampling(first.input[0], node)


def _value(nodes: Dict[str, Any], source: str) -> Optional[List[int]]:
    node = nodes[node_of(source)]
    return tf.make_ndarray(node.attr['value'].tensor).tolist() if node.op == 'Const' else None


def _resize(upsampling: _Upsampling, shapes: Dict[str, Any]) -> List[Any]:
    last, height_and_width = upsampling.last, shapes[node_of(upsampling.source)][1:3]
    if None in height_and_width:
        size = _doubled_size(last.name, upsampling.source, last.attr['T'])
    else:
        size = [constant_node(f'{last.name}/size', np.int32([2 * side for side in height_and_width]))]
    node = tf.compat.v1.NodeDef(name=last.name, op='ResizeNearestNeighbor', input=[upsampling.source, size[-1].name])
    node.attr['T'].CopyFrom(last.attr['T'])
    node.attr['align_corners'].b = node.attr['half_pixel_centers'].b = False
    return [*size, node]


def _doubled_size(name: str, source: str, kind: Any) -> List[Any]:
    """Nodes whose last one gives [2 H, 2 W] of a picture of any size."""
    shape = tf.compat.v1.NodeDef(name=f'{name}/Shape', op='Shape', input=[source])
    shape.attr['T'].CopyFrom(kind)
    shape.attr['out_type'].type = tf.int32.as_datatype_enum
    bounds = [constant_node(f'{name}/{key}', np.int32([value])) for key, value in (('b', 1), ('e', 3), ('s', 1))]
    part = tf.compat.v1.NodeDef(name=f'{name}/sides', op='StridedSlice', input=[shape.name, *(b.name for b in bounds)])
    two = constant_node(f'{name}/two', np.int32([2, 2]))
    size = tf.compat.v1.NodeDef(name=f'{name}/size', op='Mul', input=[part.name, two.name])
    for node, key in ((part, 'T'), (size, 'T')):
        node.attr[key].type = tf.int32.as_datatype_enum
    part.attr['Index'].type = tf.int32.as_datatype_enum
    for key in ('begin_mask', 'end_mask', 'ellipsis_mask', 'new_axis_mask', 'shrink_axis_mask'):
        part.attr[key].i = 0
    return [shape, *bounds, part, two, size]
