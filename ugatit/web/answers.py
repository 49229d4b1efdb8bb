"""From what a browser sent to what it shows: a user's mistake becomes a sentence in the place of the result."""

from __future__ import annotations

import time
from typing import Any, Callable, Optional, Tuple

import numpy as np
import tensorflow as tf

from ugatit.errors import UserError
from ugatit.inference.inputs import Prepared
from ugatit.inference.model import model_line
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION
from ugatit.web import words
from ugatit.web.lab import compare, translate
from ugatit.web.models import Arithmetic, Models
from ugatit.web.settings import PageSettings
from ugatit.web.upload import Upload, read_upload

Pair = Optional[Tuple[np.ndarray, np.ndarray]]
_OUT_OF_MEMORY = 'There is not enough memory for this; try again, or start the page with a light model.'


class Answers:
    """Every method is a function of its arguments: nothing of one visitor is kept for the next."""

    def __init__(self, models: Models, settings: PageSettings) -> None:
        self._models, self._settings = models, settings

    def translate(self, upload: Optional[Upload], direction: str, resize: str, face_crop: str) -> Tuple[Pair, Any, str]:
        """(input and result, attention, words)."""

        def compute() -> Tuple[Pair, Any, str]:
            prepared = self._prepare(upload, direction, resize, face_crop)
            begun = time.monotonic()
            found = translate(self._models, prepared, direction)
            line = model_line(self._models.describe(direction))
            said = words.status(upload.name, prepared, line, time.monotonic() - begun)
            return (found.before, found.picture), found.attention, said

        return _or_sentence(upload, compute, lambda said: (None, None, said))

    def lab(
        self,
        upload: Optional[Upload],
        direction: str,
        resize: str,
        face_crop: str,
        weights: str,  # 'loaded' or 'stressed'
        kind: str,
        overflow: str,
    ) -> Tuple[str, Pair, Any, str]:
        """(verdict, float32 and the chosen arithmetic, difference, ranges)."""

        def compute() -> Tuple[str, Pair, Any, str]:
            arithmetic = Arithmetic(kind, overflow, weights == 'stressed', self._settings.precision)
            prepared = self._prepare(upload, direction, resize, face_crop)
            found = compare(self._models, prepared, direction, arithmetic)
            measured_on = self._models.calibration(direction).words
            plot = words.ranges(found, arithmetic, measured_on)
            return words.verdict(found), (found.exact, found.picture), found.difference, plot

        return _or_sentence(upload, compute, lambda said: (said, None, None, ''))

    def _prepare(self, upload: Optional[Upload], direction: str, resize: str, face_crop: str) -> Prepared:
        if direction not in GENERATOR_OF_DIRECTION:
            raise UserError(f'The direction must be a2b or b2a, but {direction!r} arrived.')
        size = self._models.translator(direction).image_size
        return read_upload(upload, size, resize, face_crop, self._settings)


def _or_sentence(upload: Optional[Upload], compute: Callable[[], Any], refuse: Callable[[str], Any]) -> Any:
    try:
        return compute()
    except UserError as error:
        return refuse(words.refused(str(error)) if upload is not None else words.hint(str(error)))
    except (MemoryError, tf.errors.ResourceExhaustedError):
        return refuse(words.refused(_OUT_OF_MEMORY))
