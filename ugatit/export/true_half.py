"""An ONNX file with true half arithmetic: every result is stored in the type that the file gives it.

CPU runtimes keep float32 between float16 operators, so a value of 400,000 survives there, which no device with halves
can store. onnx's reference evaluator computes with NumPy's halves. It is slow: for pictures of 32 or 64 pixels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ugatit.export.packages import require

# What onnxconverter-common's convert_float_to_float16 needs to be told: its own defaults cut weights at 10,000 and sum
# means in half, where 65504 is soon passed.
CONVERTER_LIMITS = {'min_positive_val': 6e-8, 'max_finite_val': 65504.0}
CONVERTER_KEEPS = ('ReduceMean',)


def run_true_half(model: Any, images: np.ndarray) -> np.ndarray:
    """The first output of a ModelProto for pictures in [-1, 1], one by one."""
    evaluator = require('onnx.reference', 'True half arithmetic').ReferenceEvaluator(model)
    name = model.graph.input[0].name
    with np.errstate(all='ignore'):  # overflow is what is looked for
        return np.concatenate([evaluator.run(None, {name: images[i : i + 1]})[0] for i in range(len(images))])


def converted(model: Any) -> Any:
    """A float32 model through onnxconverter-common, told what it must know; the model itself is left alone."""
    import copy

    tool = require('onnxconverter_common.float16', 'Converting to float16')
    blocked = [*tool.DEFAULT_OP_BLOCK_LIST, *CONVERTER_KEEPS]
    return tool.convert_float_to_float16(
        copy.deepcopy(model), keep_io_types=True, op_block_list=blocked, **CONVERTER_LIMITS
    )
