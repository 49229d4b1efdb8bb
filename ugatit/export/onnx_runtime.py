"""ONNX files in onnxruntime, on the CPU."""

from __future__ import annotations

import pathlib
from typing import List

import numpy as np

from ugatit.errors import UserError
from ugatit.export.packages import require
from ugatit.export.runner import Runner, Tensor

_DTYPES = {'tensor(float)': 'float32', 'tensor(uint8)': 'uint8', 'tensor(float16)': 'float16'}


def open_file(path: pathlib.Path) -> Runner:
    """A session; UserError where the package is missing or the file is no ONNX model that it can run."""
    runtime = require('onnxruntime', 'Running an ONNX file')
    runtime.set_default_logger_severity(3)
    try:
        session = runtime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
    except Exception as error:  # every kind of failure has a type of its own in the C extension
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f'{path} should be an ONNX model, but onnxruntime {runtime.__version__} cannot run it:'
                        f' {reason}') from None  # fmt: skip
    entry = session.get_inputs()[0]

    def run(pictures: np.ndarray) -> List[np.ndarray]:
        return session.run(None, {entry.name: pictures})

    shape = tuple(side if isinstance(side, int) else None for side in entry.shape)
    provider = ', '.join(session.get_providers())
    return Runner(
        Tensor(entry.name, _DTYPES[entry.type], shape), run, f'onnxruntime {runtime.__version__} ({provider})'
    )
