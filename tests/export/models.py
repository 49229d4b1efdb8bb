"""Loaded models for the tests of exported files, each made once."""

from __future__ import annotations

import functools
import pathlib
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from tests.diagnosis import tiny
from ugatit.checkpoints.folding import fold_exponents
from ugatit.checkpoints.naming import PROJECT_STATE
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.data.convert import to_float
from ugatit.export.check import default_bound
from ugatit.export.generator import exportable, with_statistics
from ugatit.export.settings import ExportSettings, Interface
from ugatit.export.trace import Traced, trace
from ugatit.export.write import Exported, export_file
from ugatit.nn.presets import load_variants
from ugatit.planning import plan_ranges, profile_ranges
from ugatit.ranges import RangePlan
from ugatit.translate import Translation, Translator, load

PLAIN = Interface()
BROKEN = {'generator_B': {'decoder': -18, 'up_conv_0': -17, 'encoder': -15, 'cam': -16}}


def pictures() -> np.ndarray:
    """Three pictures in [-1, 1], of 256 levels, so that bytes hold them."""
    return to_float(np.random.RandomState(5).randint(0, 256, (3, tiny.SIZE, tiny.SIZE, 3)))


def overflowing(folder: pathlib.Path) -> pathlib.Path:
    """A checkpoint, written as the official code would, whose a2b direction overflows float16 in four groups."""
    fold_exponents(tiny.write_checkpoint(folder / 'healthy'), BROKEN, folder / 'folded')
    reader = CheckpointReader(folder / 'folded')
    names = [name for name in reader.variables() if not name.startswith(f'{PROJECT_STATE}folded/')]
    (folder / 'plain').mkdir()
    tf.raw_ops.SaveV2(
        prefix=str(folder / 'plain' / 'UGATIT_light.model-7'), tensor_names=names, shape_and_slices=[''] * len(names),
        tensors=[reader.read_one(name) for name in names],
    )  # fmt: skip
    return folder / 'plain'


class Model:
    """A checkpoint's generator: what it computes in float32, and itself with a plan, variants and statistics."""

    def __init__(self, checkpoint: pathlib.Path, direction: str = 'a2b') -> None:
        self.checkpoint, self.direction, self.images = checkpoint, direction, pictures()
        self._loaded = functools.lru_cache(maxsize=None)(self._load)

    @functools.cached_property
    def source(self) -> Translation:
        """In float32 without a plan."""
        return self.load()(self.images)

    @functools.cached_property
    def plan(self) -> RangePlan:
        """Measured on the pictures."""
        return plan_ranges(self.load(), profile_ranges(self.load(), self.images))

    def load(self, planned: bool = False, statistics: Optional[str] = None, variants: str = 'default') -> Translator:
        """Loaded once for each choice."""
        return self._loaded(planned, statistics, variants)

    def _load(self, planned: bool, statistics: Optional[str], variants: str) -> Translator:
        chosen = with_statistics(load_variants(variants), statistics)
        made = load(self.checkpoint, self.direction, ranges=self.plan if planned else None, variants=chosen)
        if made.uncalibrated:
            made.calibrate(self.images)
        return made

    def trace(self, translate: Optional[Translator] = None, precision: str = 'float32', reflect_pad: str = 'mirror',
              **interface: Any) -> Traced:  # fmt: skip
        """The traced graph."""
        generator = exportable(translate or self.load(), precision, reflect_pad)
        return trace(generator, self.direction, Interface(**interface))

    def export(self, output: pathlib.Path, format: str, precision: str = 'float32', planned: bool = True,
               statistics: Optional[str] = None, interface: Interface = PLAIN,
               **settings: Any) -> Exported:  # fmt: skip
        """Writes a file with the default bound."""
        translate = self.load(planned, statistics)
        bound = default_bound(precision, interface.uint8, None, None)
        chosen = ExportSettings(format, bound, precision, statistics or 'plain', interface, **settings)
        return export_file(self.source, translate, self.images, output, chosen, {'checkpoint': 'tiny', 'step': 5})
