"""ONNX files in onnxruntime, on the CPU."""

from __future__ import annotations

import pathlib
from typing import Any, List

import numpy as np

from ugatit.errors import UserError
from ugatit.export.packages import require
from ugatit.export.runner import Runner, Tensor, picture_input


def open_file(path: pathlib.Path) -> Runner:
    """A session; UserError where the package is missing, or the file is no ONNX model of pictures that it can run."""
    runtime = require('onnxruntime', 'Running an ONNX file')
    runtime.set_default_logger_severity(3)
    try:
        session = runtime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
    except Exception as error:  # every kind of failure has a type of its own in the C extension
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f'{path} should be an ONNX model, but onnxruntime {runtime.__version__} cannot run it'
                        f' ({reason}); export it again, for an old onnxruntime with a lower --opset.'
                        ) from None  # fmt: skip
    entry = picture_input(path, [_tensor(found) for found in session.get_inputs()])

    def run(pictures: np.ndarray) -> List[np.ndarray]:
        return session.run(None, {entry.name: pictures})

    runtime_text = f'onnxruntime {runtime.__version__} ({", ".join(session.get_providers())})'
    return Runner(entry, run, runtime_text, any(len(found.shape) == 3 for found in session.get_outputs()))


def _tensor(found: Any) -> Tensor:
    shape = tuple(side if isinstance(side, int) else None for side in found.shape or ())
    kind = found.type.partition('(')[2].rstrip(')')  # 'tensor(float)'
    return Tensor(found.name, 'float32' if kind == 'float' else kind or found.type, shape)
