"""An ONNX graph while it is written: values under TensorFlow's names, each in the order of axes that its reader wants.

TensorFlow's pictures are [N, H, W, C], ONNX's convolutions take [N, C, H, W]. Every value may exist in both orders;
the second is transposed from the first when somebody asks, so a chain between two convolutions has no transposition.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import tensorflow as tf
from onnx import TensorProto, helper, numpy_helper

LAST, FIRST = 'channels last', 'channels first'
TO_FIRST = {4: (0, 3, 1, 2), 5: (0, 3, 1, 2, 4)}  # rank 5: one more axis behind the channels (tables, groups)
TYPES = {'float32': TensorProto.FLOAT, 'float16': TensorProto.FLOAT16, 'int32': TensorProto.INT32,
         'int64': TensorProto.INT64, 'uint8': TensorProto.UINT8, 'bool': TensorProto.BOOL}  # fmt: skip


def to_last(rank: int) -> Tuple[int, ...]:
    """The permutation back to TensorFlow's order."""
    return tuple(int(axis) for axis in np.argsort(TO_FIRST[rank]))


class OnnxGraph:
    """Nodes, initialisers and the names of every value in both orders."""

    def __init__(self, opset: int, shapes: Dict[str, Optional[List[Optional[int]]]], outputs: Sequence[str]) -> None:
        self.opset, self.nodes, self.initialisers = opset, [], []
        self._shapes, self._outputs = shapes, set(outputs)
        self._views: Dict[str, Dict[str, str]] = {}  # TensorFlow's name -> order -> ONNX's name
        self.constants: Dict[str, np.ndarray] = {}  # TensorFlow's name -> value
        self._known: Dict[Any, str] = {}  # initialisers made so far, by content

    def rank(self, name: str) -> int:
        """Number of axes of a value."""
        if name in self.constants:
            return self.constants[name].ndim
        shape = self._shapes[name]
        assert shape is not None, f'{name}: an exported graph knows the rank of every tensor'
        return len(shape)

    def is_picture(self, name: str) -> bool:
        """Whether the value has two orders of axes."""
        return name not in self.constants and self.rank(name) in TO_FIRST

    def order(self, *names: str) -> str:
        """In which order to compute from these values: channels first, unless none exists so."""
        pictures = [name for name in names if self.is_picture(name)]
        return FIRST if any(FIRST in self._views[name] for name in pictures) else LAST

    def get(self, name: str, order: str = LAST, rank: Optional[int] = None) -> str:
        """ONNX's name of a value; a constant is laid out to be broadcast against values of that rank."""
        if name in self.constants:
            return self._constant(name, order, rank)
        views = self._views[name]
        if order not in views and self.is_picture(name):
            source = next(iter(views.values()))
            perm = TO_FIRST[self.rank(name)] if order == FIRST else to_last(self.rank(name))
            output = name if name in self._outputs else f'{name}/{order.replace(" ", "_")}'
            views[order] = self.add('Transpose', [source], output, perm=perm)
        return views.get(order) or next(iter(views.values()))

    def _constant(self, name: str, order: str, rank: Optional[int]) -> str:
        value = self.constants[name]
        if order == FIRST and rank in TO_FIRST and value.ndim:
            value = value.reshape((1,) * (rank - value.ndim) + value.shape).transpose(TO_FIRST[rank])
            while value.ndim > 1 and value.shape[0] == 1 and name not in self._outputs:
                value = value[0]
        return self.constant(value, name)

    def constant(self, value: np.ndarray, name: str) -> str:
        """An initialiser; equal ones are shared."""
        value = np.ascontiguousarray(value).reshape(np.shape(value))
        key = (value.dtype.str, value.shape, value.tobytes() if value.size < 4096 else (name, value.shape))
        if key not in self._known:
            unique = name if name not in self._known.values() else f'{name}/{len(self._known)}'
            self._known[key] = unique
            self.initialisers.append(numpy_helper.from_array(value, unique))
        return self._known[key]

    def integers(self, values: Sequence[int], name: str) -> str:
        """An int64 vector, which shapes, axes and pads are."""
        return self.constant(np.int64(list(values)), name)

    def add(self, kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Appends a node and gives the name of its output."""
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output

    def emit(self, name: str, kind: str, inputs: Sequence[str], order: str = LAST, **attributes: Any) -> None:
        """A node that computes TensorFlow's value `name` in the given order of axes."""
        self.add(kind, inputs, self.named(name, order), **attributes)

    def named(self, name: str, order: str = LAST) -> str:
        """Registers that a value will exist in that order; gives its ONNX name."""
        picture = self._shapes.get(name) is not None and len(self._shapes[name]) in TO_FIRST
        order = order if picture else LAST
        unique = f'{name}/channels_first' if order == FIRST and name in self._outputs else name
        self._views.setdefault(name, {})[order] = unique
        return unique

    def cast(self, source: str, kind: str, output: str) -> str:
        """Another number format."""
        return self.add('Cast', [source], output, to=TYPES[kind])

    def finish(self, inputs: Sequence[Any], outputs: Sequence[Any], name: str) -> Any:
        """The ModelProto. inputs, outputs: `ugatit.export.trace.Tensor`."""
        for output in outputs:
            made = self.get(output.name, LAST)
            assert made == output.name, made
        graph = helper.make_graph(self.nodes, name, [_info(t) for t in inputs], [_info(t) for t in outputs],
                                  self.initialisers)  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', self.opset)], producer_name='ugatit')
        model.ir_version = 7 if self.opset < 15 else 8  # the oldest that has the opset: old runtimes read it
        return model


def _info(tensor: Any) -> Any:
    scale = 4 if len(tensor.shape) == 3 else 1  # a heat map has a quarter of the picture's sides
    free = ('batch', 'height', 'width') if scale == 1 else ('batch', 'height/4', 'width/4')
    shape = [free[i] if side is None else side for i, side in enumerate(tensor.shape)]
    return helper.make_tensor_value_info(tensor.name, TYPES[tensor.dtype], shape)


def attribute(node: Any, name: str) -> Any:
    """A TensorFlow node's attribute: bool, int, list of ints or type name."""
    value = node.attr[name]
    kind = value.WhichOneof('value')
    if kind == 'type':
        return tf.as_dtype(value.type).name
    return list(value.list.i) if kind == 'list' else getattr(value, kind) if kind else None
