"""An exported file opened in its own runtime: names, shapes, and a function from arrays to arrays."""

from __future__ import annotations

import dataclasses
from typing import Callable, List, Optional, Sequence, Tuple

import numpy as np

from ugatit.data.convert import PathLike
from ugatit.errors import UserError


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One input or output of an exported file."""

    name: str  # without ':0'
    dtype: str  # 'float32' or 'uint8' in files that are opened
    shape: Tuple[Optional[int], ...]  # None where it is free


@dataclasses.dataclass(frozen=True)
class Runner:
    """What every runtime looks like; `run` takes one array and gives the outputs in any order."""

    input: Tensor
    run: Callable[[np.ndarray], List[np.ndarray]]
    runtime: str  # 'onnxruntime 1.20.1 (CPUExecutionProvider)'
    heatmap: bool  # whether maps are among the outputs

    def __call__(self, pictures: np.ndarray) -> Tuple[np.ndarray, Optional[np.ndarray]]:
        """pictures [N, H, W, 3] in the input's own dtype -> (pictures, heat maps or None), as the file gives them.

        A file with a batch of its own is run so many times as it takes.
        """
        self._require_fit(pictures)
        batch = self.input.shape[0] or len(pictures)
        parts = [self.run(pictures[start : start + batch]) for start in range(0, len(pictures), batch)]
        outputs = [np.concatenate(values) for values in zip(*parts)]
        maps = [value for value in outputs if value.ndim == 3]  # [N, H / 4, W / 4]
        found = [value for value in outputs if value.shape == pictures.shape]
        if not found:
            shapes = ' and '.join(_text(value.shape) for value in outputs)
            raise UserError(f'pictures {_text(pictures.shape)} should come out of an exported generator as they went'
                            f' in, but this file gives {shapes}; export the model with export.py.')  # fmt: skip
        return found[0], maps[0] if maps else None

    def _require_fit(self, pictures: np.ndarray) -> None:
        """UserError for pictures of another size than the file has; runtimes would each fail in a way of their own."""
        wanted, arrived = self.input.shape[1:], pictures.shape[1:]
        if any(side not in (None, given) for side, given in zip(wanted, arrived)):
            raise UserError(f'the file takes pictures {_text((None, *wanted))}, but {_text(pictures.shape)} arrived;'
                            ' export it for that size, or a light model with --dynamic_size.')  # fmt: skip


def picture_input(path: PathLike, inputs: Sequence[Tensor]) -> Tensor:
    """The one input of a file; UserError where pictures as everywhere here are not what it takes."""
    if len(inputs) == 1 and inputs[0].dtype in ('float32', 'uint8') and len(inputs[0].shape) == 4:
        if inputs[0].shape[3] in (None, 3):
            return inputs[0]
    arrived = ' and '.join(f'{found.dtype} {_text(found.shape)}' for found in inputs) or 'none'
    raise UserError(f'{path} should have one input, float32 or uint8 [N, height, width, 3], but it has {arrived};'
                    ' export the model with export.py.')  # fmt: skip


def _text(shape: Sequence[Optional[int]]) -> str:
    return f'[{", ".join("any" if side is None else str(side) for side in shape)}]'
