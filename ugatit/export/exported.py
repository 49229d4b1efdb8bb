"""Exported files where a loaded checkpoint would stand: `infer.py --model=FILE`."""

from __future__ import annotations

import pathlib
from typing import Any, Dict, Optional

import numpy as np

from ugatit.data.convert import PathLike
from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.export.check import as_image, as_input
from ugatit.export.formats import format_of, open_exported
from ugatit.export.sidecar import read_json
from ugatit.export.trace import INPUT_OF_DIRECTION
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION
from ugatit.translate import Translation

_DIRECTION_OF_INPUT = {name: direction for direction, name in INPUT_OF_DIRECTION.items()}


class ExportedModel:
    """A file that translates pictures; call it like a `Translator`."""

    plan = None  # its exponents are in the weights

    def __init__(self, path: PathLike, image_size: Optional[int] = None) -> None:
        self.path = path = pathlib.Path(path)
        self.format = format_of(path).name
        self.facts = read_json(path) or {}
        self._runner = open_exported(path)
        self.direction = self.facts.get('direction') or _DIRECTION_OF_INPUT.get(self._runner.input.name, 'a2b')
        self.image_size = self._size(image_size)

    def _size(self, wanted: Optional[int]) -> int:
        side, width = self._runner.input.shape[1:3]
        if side != width:
            raise UserError(f'{printable(self.path)} should take square pictures, but it takes {side or "any"}x'
                            f'{width or "any"}; export the model with export.py.')  # fmt: skip
        if side is None:
            return wanted or self.facts.get('architecture', {}).get('image_size', 256)
        if wanted not in (None, side):
            raise UserError(f'{printable(self.path)} takes pictures of {side}x{side} only, but --image_size={wanted}'
                            ' arrived; leave it out, or export a light model with --dynamic_size.')  # fmt: skip
        return side

    @property
    def runtime(self) -> str:
        """What computes: 'onnxruntime 1.20.1 (CPUExecutionProvider)'."""
        return self._runner.runtime

    def __call__(self, images: np.ndarray) -> Translation:
        """images [N, H, W, 3] in [-1, 1] -> Translation; a file without a heat map gives one of zeros."""
        pictures, heatmap = self._runner(as_input(self._runner, np.asarray(images, np.float32)))
        if heatmap is None:
            heatmap = np.zeros((len(images), images.shape[1] // 4, images.shape[2] // 4), np.float32)
        return Translation(as_image(pictures), None, np.asarray(heatmap, np.float32))

    def require_heatmap(self) -> None:
        """UserError for a file that gives none."""
        if not self._runner.heatmap:
            raise UserError(f'{printable(self.path)} gives no heat map; export it with --heatmap, or leave --heatmap'
                            ' out here.')  # fmt: skip

    def describe(self) -> Dict[str, Any]:
        """For the report."""
        return {
            'model': str(self.path),
            'format': self.format,
            'checkpoint': self.facts.get('checkpoint'),
            'step': self.facts.get('step'),
            'direction': self.direction,
            'network': GENERATOR_OF_DIRECTION[self.direction],
            'image_size': self.image_size,
            'precision': self.facts.get('precision'),
            'planned': bool(self.facts.get('exponents')),
            'variants': self.facts.get('variants', 'default'),
            'runtime': self.runtime,
        }

    def line(self) -> str:
        """'model: a2b.onnx, generator_B (a2b), 256x256 pixels, float16, onnxruntime 1.20.1 (CPUExecutionProvider)'."""
        parts = [printable(self.path), f'{GENERATOR_OF_DIRECTION[self.direction]} ({self.direction})',
                 f'{self.image_size}x{self.image_size} pixels', self.facts.get('precision'), self.runtime]  # fmt: skip
        return 'model: ' + ', '.join(part for part in parts if part)
