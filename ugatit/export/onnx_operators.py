"""TensorFlow's operators in ONNX: one function per operator that an inference graph of a generator has."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

import numpy as np

from ugatit.errors import UserError
from ugatit.export.graph import node_of
from ugatit.export.onnx_graph import FIRST, LAST, TO_FIRST, OnnxGraph, attribute

Write = Callable[[OnnxGraph, Any, List[str]], None]  # graph, TensorFlow's node, names of its inputs


def write_node(graph: OnnxGraph, node: Any) -> None:
    """Appends what the node does; UserError for an operator that has no form here."""
    if node.op not in _WRITERS:
        raise UserError(f'The network uses the operator {node.op} ({node.name}), which has no ONNX form here; export it'
                        ' as frozen_graph or saved_model, or choose other --variants.')  # fmt: skip
    _WRITERS[node.op](graph, node, [node_of(source) for source in node.input])


def _same(kind: str) -> Write:
    """Operators that work value by value, with broadcasting."""

    def write(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
        order = graph.order(*inputs)
        rank = max(graph.rank(name) for name in inputs)
        graph.emit(node.name, kind, [graph.get(name, order, rank) for name in inputs], order)

    return write


def _square(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    order = graph.order(*inputs)
    source = graph.get(inputs[0], order)
    graph.emit(node.name, 'Mul', [source, source], order)


def _cast(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    order = graph.order(*inputs)
    graph.cast(graph.get(inputs[0], order), attribute(node, 'DstT'), graph.named(node.name, order))


def _conv(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    assert attribute(node, 'data_format') in (b'NHWC', None) and node.attr['padding'].s == b'VALID'
    kernel = graph.constants[inputs[1]]  # [height, width, in, out]
    weights = graph.constant(kernel.transpose(3, 2, 0, 1), inputs[1])
    strides = attribute(node, 'strides')[1:3]
    source = graph.get(inputs[0], FIRST)
    graph.emit(node.name, 'Conv', [source, weights], FIRST, strides=strides, kernel_shape=kernel.shape[:2])


def _matmul(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    assert not node.attr['transpose_a'].b and not node.attr['transpose_b'].b
    graph.emit(node.name, 'MatMul', [graph.get(name) for name in inputs])


def _pad(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    pads = graph.constants[inputs[1]][list(TO_FIRST[4])]  # [axis, before and after]
    where = graph.integers([*pads[:, 0], *pads[:, 1]], f'{node.name}/pads')
    graph.emit(node.name, 'Pad', [graph.get(inputs[0], FIRST), where], FIRST, mode='reflect')


def _resize(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    scales = graph.constant(np.float32([1, 1, 2, 2]), f'{node.name}/scales')  # see ugatit.export.upsampling
    graph.emit(node.name, 'Resize', [graph.get(inputs[0], FIRST), '', scales], FIRST, mode='nearest',
               coordinate_transformation_mode='asymmetric', nearest_mode='floor')  # fmt: skip


def _reduce(kind: str, since: int) -> Write:
    """Means, sums and maxima; `since`: the opset in which the axes became an input."""

    def write(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
        rank, keep = graph.rank(inputs[0]), bool(node.attr['keep_dims'].b)
        axes = sorted(int(axis) % rank for axis in np.atleast_1d(graph.constants[inputs[1]]))
        # Dropping axes in front of the channels leaves no picture, but one axis behind them does.
        order = graph.order(inputs[0]) if keep or axes == [4] else LAST
        if order == LAST and graph.order(inputs[0]) == FIRST and axes in ([1, 2], [3]):
            order = FIRST  # [N, C] and [N, H, W] are the same in both orders
        source = graph.get(inputs[0], order)
        mapped = [TO_FIRST[rank].index(axis) for axis in axes] if order == FIRST else axes
        result = order if keep or axes == [4] else LAST
        if graph.opset < since:
            graph.emit(node.name, kind, [source], result, axes=mapped, keepdims=int(keep))
        else:
            where = graph.integers(mapped, f'{node.name}/axes')
            graph.emit(node.name, kind, [source, where], result, keepdims=int(keep))

    return write


def _concat(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    rank = graph.rank(inputs[0])
    axis, order = int(graph.constants[inputs[-1]]) % rank, graph.order(*inputs[:-1])
    mapped = TO_FIRST[rank].index(axis) if order == FIRST else axis
    graph.emit(node.name, 'Concat', [graph.get(name, order) for name in inputs[:-1]], order, axis=mapped)


def _reshape(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    if inputs[1] in graph.constants:
        shape = graph.integers(graph.constants[inputs[1]], f'{node.name}/shape')
    else:
        shape = graph.cast(graph.get(inputs[1]), 'int64', f'{node.name}/shape')
    graph.emit(node.name, 'Reshape', [graph.get(inputs[0]), shape])


def _shape(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    graph.add('Shape', [graph.get(inputs[0])], f'{node.name}/int64')
    graph.cast(f'{node.name}/int64', attribute(node, 'out_type'), graph.named(node.name))


def _strided_slice(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    masks = [node.attr[f'{kind}_mask'].i for kind in ('ellipsis', 'new_axis', 'shrink_axis', 'begin', 'end')]
    begin, end, stride = ([int(v) for v in graph.constants[name]] for name in inputs[1:])
    if masks == [1, 2, 0, 0, 0]:  # x[..., newaxis]
        order, rank = graph.order(inputs[0]), graph.rank(inputs[0])
        axis = graph.integers([rank], f'{node.name}/axis')
        graph.emit(node.name, 'Unsqueeze', [graph.get(inputs[0], order), axis], order)
        return
    assert graph.rank(inputs[0]) == 1 and stride == [1] and not masks[0] and not masks[1], node.name
    if masks[2]:  # x[i]
        index = graph.constant(np.int64(begin[0]), f'{node.name}/index')
        graph.emit(node.name, 'Gather', [graph.get(inputs[0]), index])
        return
    last = np.iinfo(np.int32).max if masks[4] else end[0]
    bounds = [graph.integers([v], f'{node.name}/bounds') for v in (0 if masks[3] else begin[0], last)]
    graph.emit(node.name, 'Slice', [graph.get(inputs[0]), *bounds])


def _slice(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    order, rank = graph.order(inputs[0]), graph.rank(inputs[0])
    size = graph.constants[inputs[2]]
    axes = [TO_FIRST[rank].index(axis) for axis in range(rank)] if order == FIRST else list(range(rank))
    begin = _int64(graph, inputs[1], f'{node.name}/begin')
    rest = np.int64([np.iinfo(np.int32).max if side < 0 else side for side in size])  # -1: to the end
    if inputs[1] in graph.constants:
        ends = graph.integers(np.minimum(graph.constants[inputs[1]] + rest, np.iinfo(np.int32).max), f'{node.name}/end')
    else:
        ends = graph.add('Add', [begin, graph.integers(rest, f'{node.name}/size')], f'{node.name}/end')
    where = graph.integers(axes, f'{node.name}/axes')
    graph.emit(node.name, 'Slice', [graph.get(inputs[0], order), begin, ends, where], order)


def _int64(graph: OnnxGraph, name: str, output: str) -> str:
    if name in graph.constants:
        return graph.integers(graph.constants[name], output)
    return graph.cast(graph.get(name), 'int64', output)


def _pack(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    axis = graph.integers([0], f'{node.name}/axis')
    parts = [graph.add('Unsqueeze', [graph.get(name), axis], f'{node.name}/{i}') for i, name in enumerate(inputs)]
    graph.emit(node.name, 'Concat', parts, axis=0)


def _like(value: float) -> Write:
    """OnesLike and ZerosLike: where they are chosen from, one number that broadcasts is enough."""

    def write(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
        kind = attribute(node, 'T')
        graph.constants[node.name] = np.array(value, kind)

    return write


def _fill(graph: OnnxGraph, node: Any, inputs: List[str]) -> None:
    graph.constants[node.name] = graph.constants[inputs[1]]  # as `_like`: TensorFlow 2.6 writes ones_like so


_WRITERS: Dict[str, Write] = {
    **{kind: _same(onnx) for kind, onnx in {
        'AddV2': 'Add', 'Sub': 'Sub', 'Mul': 'Mul', 'RealDiv': 'Div', 'Maximum': 'Max', 'Minimum': 'Min', 'Abs': 'Abs',
        'Sqrt': 'Sqrt', 'Relu': 'Relu', 'Tanh': 'Tanh', 'Floor': 'Floor', 'Greater': 'Greater',
        'GreaterEqual': 'GreaterOrEqual', 'SelectV2': 'Where', 'Neg': 'Neg',
    }.items()},
    'Square': _square,
    'Cast': _cast,
    'Conv2D': _conv,
    'MatMul': _matmul,
    'MirrorPad': _pad,
    'ResizeNearestNeighbor': _resize,
    'Mean': _reduce('ReduceMean', 18),
    'Max': _reduce('ReduceMax', 18),
    'Sum': _reduce('ReduceSum', 13),
    'ConcatV2': _concat,
    'Reshape': _reshape,
    'Shape': _shape,
    'StridedSlice': _strided_slice,
    'Slice': _slice,
    'Pack': _pack,
    'OnesLike': _like(1.0),
    'ZerosLike': _like(0.0),
    'Fill': _fill,
}  # fmt: skip
