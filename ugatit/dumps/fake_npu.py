"""A dump folder as an NPU leaves it, made of our own run: binary files, three graphs, overflow records.

    TIME/DEVICE/MODEL/ID/STEP/Conv2D.generator_B_conv_conv2d_Conv2D.12.3.1629880658000123
    graph/pid_1_deviceid_0/ge_proto_00012_MODEL_Build.txt

As there, biases are fused into convolutions, layers read float16 copies (Cast, TransData) of float32 values, images
are stored as NC1HWC0, and names over 255 characters are numbers that `mapping.csv` explains.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import pathlib
from typing import Dict, Iterator, List, Sequence, Tuple

import numpy as np

from ugatit.data.convert import write_file
from ugatit.dumps.capture import FIRST_TIME, Capture, Captured, float16_values
from ugatit.dumps.formats import FRACTAL_NZ, NC1HWC0, ND, NHWC
from ugatit.dumps.message import Original
from ugatit.dumps.names import MAPPING, make_dump_name
from ugatit.dumps.opdebug import encode_old
from ugatit.dumps.writer import Tensor, dump_bytes
from ugatit.numerics import FLOAT16
from ugatit.ranges.kinds import INPUT, kind_of

STREAM, DEVICE, STAMP = 3, 0, '20210825083738'
MOST_NAME = 255  # bytes of a file name
VALIDATION, TRAINING, INITIAL = 'ge_default_20210825083738_21', 'ge_default_20210825083738_11', 'ge_default_1'
_TYPES = {
    'Conv2D': 'Conv2D', 'MatMul': 'MatMulV2', 'BiasAdd': 'BiasAdd', 'Relu': 'Relu', 'Tanh': 'Tanh', 'concat': 'ConcatD',
    'Mean': 'ReduceMeanD', 'Max': 'ReduceMaxD', 'Sum': 'ReduceSumD', 'Squeeze': 'Squeeze', 'Reshape': 'Reshape',
    'mean': 'ReduceMeanD', 'variance': 'ReduceMeanD', 'SquaredDifference': 'SquaredDifference', 'truediv': 'RealDiv',
    'sub': 'Sub', 'mul': 'Mul', 'Mul': 'Mul', 'add': 'Add', 'ResizeNearestNeighbor': 'ResizeNearestNeighborV2',
    'GatherV2': 'GatherV2',
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Node:
    """One operator of the made-up graph."""

    name: str
    type: str
    inputs: Tuple[str, ...]  # producers
    reads: Tuple[Tensor, ...]
    gives: Tensor


def write_tree(root: pathlib.Path, captured: Capture, training: Sequence[Capture] = ()) -> None:
    """Writes the folder. `training`: runs that make up the training graph, the other generator's among them."""
    nodes = list(npu_nodes(captured))
    _write_graph(root, VALIDATION, 21, nodes, _graph_text(VALIDATION, nodes))
    training_nodes = [node for run in (captured, *training) for node in npu_nodes(run)]
    training_nodes += list(_of_training(training_nodes))
    _write_graph(root, TRAINING, 11, training_nodes, _graph_text(TRAINING, training_nodes))
    initial = [Node(f'{captured.scope}/conv/conv2d/kernel/Assign', 'Assign', (), (), Tensor(np.zeros(4, np.float32)))]
    _write_graph(root, INITIAL, 1, initial, _graph_text(INITIAL, initial))
    _write_overflows(root / STAMP / str(DEVICE) / VALIDATION / '21' / '0', nodes)


def npu_nodes(captured: Capture) -> Iterator[Node]:
    """The operators as the compiler leaves them, in order of execution."""
    before: List[str] = []
    inputs: Dict[str, Captured] = {}
    hidden: Dict[str, str] = {}  # a swallowed operator's official name -> the operator that does its work
    casts: Dict[str, Node] = {}
    tensors = {t.name: t for t in captured.tensors}
    for tensor in captured.tensors:
        if kind_of(tensor.name) == INPUT:
            inputs[tensor.name.rpartition('/')[0]] = tensor
    for tensor in captured.outputs():
        layer, _, leaf = tensor.name.rpartition('/')
        if leaf == 'BiasAdd' and f'{layer}/Conv2D' in tensors:
            continue  # fused, see below
        if leaf in ('Conv2D', 'MatMul') and layer in inputs:
            read = inputs[layer]
            source = hidden.get(read.source or '', read.source) or (before[-1] if before else 'input')
            yield from _converted(read, source, f'{layer}/{leaf}', casts)
            fused = tensors.get(f'{layer}/BiasAdd') if leaf == 'Conv2D' else None
            given = fused or tensor
            hidden[given.name] = tensor.name
            half = Tensor(float16_values(read), _format(read.values))
            gives = Tensor(given.values, _format(given.values), Original(given.name, 0, 2, NHWC))
            yield Node(tensor.name, _TYPES[leaf], (f'trans_Cast_{len(casts)}',), (half,), gives)
        else:
            producers = tuple(hidden.get(name, name) for name in _producers(tensor.name, before, tensors))
            gives = Tensor(tensor.values, NHWC if tensor.values.ndim == 4 else ND, Original(tensor.name, 0, 1, NHWC))
            yield Node(tensor.name, _type(leaf), producers, (), gives)
        before.append(tensor.name)


def _converted(read: Captured, source: str, reader: str, casts: Dict[str, Node]) -> Iterator[Node]:
    """TransData and Cast in front of a layer that reads float16 tiles."""
    number = len(casts) + 1
    tiles = Tensor(read.values.astype(np.float32), _format(read.values))
    trans = Node(f'trans_TransData_{number}', 'TransData', (source,), (), tiles)
    half = Tensor(float16_values(read), _format(read.values))
    casts[reader] = Node(f'trans_Cast_{number}', 'Cast', (trans.name,), (tiles,), half)
    yield trans
    yield casts[reader]


def _producers(name: str, before: List[str], tensors: Dict[str, Captured]) -> Tuple[str, ...]:
    """Of operators that are no layers: the one before; a residual sum also reads its block's input."""
    found = before[-1:]
    layer, _, leaf = name.rpartition('/')
    if leaf == 'add' and f'{layer}/res1/conv_0/conv2d/input' in tensors:
        source = tensors[f'{layer}/res1/conv_0/conv2d/input'].source
        found = [*found, source] if source else found
    return tuple(found)


def _of_training(nodes: List[Node]) -> Iterator[Node]:
    """What marks a training graph, values made up: discriminators, gradients, the optimiser."""
    for name in ('discriminator_A/global/conv_0/conv2d/Conv2D', 'discriminator_B/local/conv_0/conv2d/Conv2D'):
        yield Node(name, 'Conv2D', (), (), Tensor(np.zeros((1, 4, 4, 8), np.float16), NC1HWC0))
    for node in nodes[::4]:
        if node.type == 'Conv2D':
            zero = Tensor(np.zeros(16, np.float16))
            name = f'gradients/{node.name}_grad/Conv2DBackpropInput'
            yield Node(name, 'Conv2DBackpropInputD', (node.name,), (), zero)
    yield Node('Adam/update', 'ApplyAdamD', (), (), Tensor(np.zeros(4, np.float32)))


def _format(values: np.ndarray) -> int:
    return {4: NC1HWC0, 2: FRACTAL_NZ}.get(values.ndim, ND)


def _type(leaf: str) -> str:
    """'Relu_2' -> 'Relu'."""
    stem = leaf if leaf in _TYPES else leaf.rstrip('0123456789').rstrip('_')
    return _TYPES.get(stem, stem)


def _write_graph(root: pathlib.Path, model: str, number: int, nodes: Sequence[Node], text: str) -> None:
    folder = root / STAMP / str(DEVICE) / model / str(number) / '0'
    mapping = []
    for i, node in enumerate(nodes):
        time = FIRST_TIME + 1000 * number + i
        name = make_dump_name(node.type, node.name, i, STREAM, time)
        if len(name) > MOST_NAME:
            mapping.append((str(time * 1000), name))
            name = mapping[-1][0]
        write_file(folder / name, dump_bytes(node.name, node.reads, [node.gives], time))
    if mapping:
        out = io.StringIO()
        csv.writer(out, lineterminator='\n').writerows(mapping)
        write_file(folder / MAPPING, out.getvalue().encode())
    write_file(root / 'graph' / 'pid_1_deviceid_0' / f'ge_proto_{number:05d}_{model}_Build.txt', text.encode())


def _graph_text(model: str, nodes: Sequence[Node]) -> str:
    lines = ['name: "made up"', 'graph {', f'  name: "{model}"']
    for i, node in enumerate(nodes):
        edges = ''.join(f'    input: "{name}:0"\n' for name in node.inputs)
        lines.append(f'  op {{\n    name: "{node.name}"\n    type: "{node.type}"\n{edges}    id: {i}\n'
                     '    attr {\n      key: "stream_label"\n      value {\n        s: "a \\"b\\" {"\n      }\n    }\n'
                     f'    stream_id: {STREAM}\n  }}')  # fmt: skip
    return '\n'.join([*lines, '}', ''])


def _write_overflows(folder: pathlib.Path, nodes: Sequence[Node]) -> None:
    """One record per operator whose float16 output ends at 65504, as overflow detection would leave them."""
    for i, node in enumerate(nodes):
        values = node.gives.values
        if values.dtype == np.float16 and not float(np.max(np.abs(values), initial=0)) < FLOAT16.max_finite:
            time = FIRST_TIME + 1000 * 21 + i
            name = make_dump_name('Opdebug', 'Node_OpDebug', len(nodes) + i, STREAM, time + 500000)
            status = 0x100 if node.type == 'Cast' else 0x400
            record = np.frombuffer(encode_old('AI Core', i, STREAM, status, model=21), np.uint8)
            write_file(folder / name, dump_bytes('Node_OpDebug', (), [Tensor(record)], time))
