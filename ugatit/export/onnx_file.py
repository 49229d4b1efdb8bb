"""`--format=onnx`: opset 13 to 18, float32 or float16, channels-last pictures in and out as everywhere here.

Written operator by operator from the traced graph. Converters for any TensorFlow graph turn a choice (`SelectV2`) into
products with 0 and 1, where an infinity becomes NaN, and need a minute for a graph with `prescaled` statistics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from ugatit.export.onnx_graph import OnnxGraph
from ugatit.export.onnx_operators import write_node
from ugatit.export.onnx_opsets import OPSETS, check_opset
from ugatit.export.trace import Traced
from ugatit.export.upsampling import inferred_shapes


def to_onnx(traced: Traced, opset: int = OPSETS[0]) -> Any:
    """The ModelProto of a traced graph; UserError for an opset that is not written."""
    graph = OnnxGraph(check_opset(opset), inferred_shapes(traced.graph_def), traced.output_names)
    for node in traced.graph_def.node:
        if node.op == 'Const':
            graph.constants[node.name] = np.asarray(tf.make_ndarray(node.attr['value'].tensor))
        elif node.op == 'Placeholder':
            graph.named(node.name)
        else:
            write_node(graph, node)
    return graph.finish([traced.input], traced.outputs, 'ugatit')
