"""Small dumps made by hand, and the vendor's formulas written out again, whole arrays at once in float64."""

from __future__ import annotations

import pathlib
from typing import Dict, Optional, Sequence

import numpy as np

from ugatit.dumps.engines import NUMPY, Engine
from ugatit.dumps.metrics import Metrics, measure
from ugatit.dumps.tensors import TensorRef
from ugatit.dumps.writer import Tensor, write_dump

EPSILON = 2.0**-52


def npu_file(path: pathlib.Path, outputs: Sequence[Tensor], inputs: Sequence[Tensor] = (), name: str = 'a/b') -> None:
    """One dump file."""
    write_dump(path, name, inputs, outputs, 5)


def measured(
    folder: pathlib.Path,
    left: np.ndarray,
    right: np.ndarray,
    engine: Engine = NUMPY,
    data_type: Optional[int] = None,
) -> Metrics:
    """Left as a binary dump against right as .npy."""
    npu_file(folder / 'left', [Tensor(np.asarray(left), data_type=data_type)])
    np.save(folder / 'right.npy', right)
    tensors = TensorRef(folder / 'left', 'dump').open(), TensorRef(folder / 'right.npy', 'golden').open()
    return measure(*tensors, engine)


def reference(left: np.ndarray, right: np.ndarray) -> Dict[str, float]:
    """The formulas, slow and obvious."""
    x, y = np.asarray(left, np.float64).ravel(), np.asarray(right, np.float64).ravel()
    with np.errstate(all='ignore'):
        relative = np.where(np.abs(y) > EPSILON, np.abs(x / y - 1), 0.0)
        size = np.sqrt(np.sum(y * y))
        return {
            'cosine': _cosine(x, y),
            'max_absolute': np.max(np.abs(x - y)),
            'accumulated_relative': np.sum(relative),
            'relative_euclidean': 0.0 if size <= EPSILON else np.sqrt(np.sum((x - y) ** 2)) / size,
            'kl': _divergence(x, y),
            'left_mean': np.mean(x),
            'left_std': np.std(x),
            'right_mean': np.mean(y),
            'right_std': np.std(y),
            'mean_absolute': np.mean(np.abs(x - y)),
            'rmse': np.sqrt(np.mean((x - y) ** 2)),
            'max_relative': np.max(relative),
            'mean_relative': np.mean(relative),
            'left_amax': np.max(np.abs(x)),
            'right_amax': np.max(np.abs(y)),
        }


def _cosine(x: np.ndarray, y: np.ndarray) -> float:
    norms = [np.sqrt(np.sum(v * v)) for v in (x, y)]
    if max(norms) <= EPSILON:
        return 1.0
    if min(norms) <= EPSILON:
        return np.nan
    return min(1.0, np.sum(x * y) / (norms[0] * norms[1])) if np.isfinite(norms).all() else np.nan


def _divergence(x: np.ndarray, y: np.ndarray) -> float:
    scaled = []
    for v in (x, y):
        spread = v.max() - v.min()
        v = np.maximum((v - v.min()) / spread if spread != 0 else v, 2.0**-23)
        scaled.append(v / v.sum())
    return float(np.sum(scaled[0] * np.log(scaled[0] / scaled[1])))
