"""The pictures that range plans and stressed twins are made of, one set per direction."""

from __future__ import annotations

import dataclasses
from typing import Mapping, NamedTuple, Optional

import numpy as np

from ugatit.data.convert import to_float
from ugatit.data.resize import resize
from ugatit.diagnosis.pictures import noise_pictures, read_pictures
from ugatit.inference.portrait import portrait
from ugatit.planning import AUTO_PICTURES

_STAND_INS = 4


class Pictures(NamedTuple):
    """What ranges are measured on."""

    images: np.ndarray  # [N, size, size, 3] float32 in [-1, 1]
    headroom_bits: float  # more of it where the pictures are not of the domain
    words: str  # what they are, for the page


@dataclasses.dataclass(frozen=True)
class Calibration:
    """direction -> folder, pattern or file that somebody named; where there is none, stand-ins."""

    sources: Mapping[str, Optional[str]]

    def of(self, direction: str, size: int) -> Pictures:
        """UserError where the place that was named holds no readable picture."""
        source = self.sources.get(direction)
        if source is None:
            return Pictures(_stand_ins(size), 2.0, 'a drawn portrait and noise, because no pictures were named')
        found = read_pictures([source], size, AUTO_PICTURES)
        count = len(found.images)
        return Pictures(found.images, 1.0, f'{count} picture{"" if count == 1 else "s"}')


def _stand_ins(size: int) -> np.ndarray:
    drawn = to_float(resize(portrait(), size).pixels)
    return np.concatenate([drawn[None], noise_pictures(_STAND_INS - 1, size)])
