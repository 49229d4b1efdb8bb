"""An exported file opened in its own runtime: names, shapes, and a function from arrays to arrays."""

from __future__ import annotations

import dataclasses
from typing import Callable, List, Optional, Tuple

import numpy as np


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One input or output of an exported file."""

    name: str  # without ':0'
    dtype: str  # 'float32' or 'uint8'
    shape: Tuple[Optional[int], ...]  # None where it is free


@dataclasses.dataclass(frozen=True)
class Runner:
    """What every runtime looks like; `run` takes one array and gives the outputs in any order."""

    input: Tensor
    run: Callable[[np.ndarray], List[np.ndarray]]
    runtime: str  # 'onnxruntime 1.20.1 (CPUExecutionProvider)'

    def __call__(self, pictures: np.ndarray) -> Tuple[np.ndarray, Optional[np.ndarray]]:
        """pictures [N, H, W, 3] in the input's own dtype -> (pictures, heat maps or None), as the file gives them.

        A file with a batch of its own is run so many times as it takes.
        """
        batch = self.input.shape[0] or len(pictures)
        parts = [self.run(pictures[start : start + batch]) for start in range(0, len(pictures), batch)]
        outputs = [np.concatenate(values) for values in zip(*parts)]
        maps = [value for value in outputs if value.ndim == 3]  # [N, H / 4, W / 4]
        return next(value for value in outputs if value.ndim == 4), maps[0] if maps else None
