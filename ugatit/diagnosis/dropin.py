"""A folded checkpoint put to the test: as our runtime reads it, and as code does that knows nothing of exponents."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from typing import Dict, Iterator, Mapping, Optional, Tuple

import numpy as np

from ugatit.checkpoints.location import PathLike
from ugatit.nn.call import Membership
from ugatit.planning import profile_ranges
from ugatit.ranges import RangeProfile, TensorRange
from ugatit.ranges.kinds import INPUT, SQUARE
from ugatit.translate import Translation, Translator, load, load_as_official


@dataclasses.dataclass(frozen=True)
class Agreement:
    """One generator's outputs against those of the checkpoint it was folded from, float32, the same pictures."""

    picture_bits: bool  # the pictures are equal bit for bit
    picture_levels: float  # largest difference, in levels of 0..255
    logit_bits: bool
    logit_difference: float  # largest absolute difference of a CAM logit

    def picture_text(self) -> str:
        """'the same float32 picture bit for bit', or by how much it differs."""
        if self.picture_bits:
            return 'the same float32 picture bit for bit'
        return f'a float32 picture that differs by at most {self.picture_levels:.2g} of 255 levels'

    def to_json(self) -> Dict[str, object]:
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class DropIn:
    """What a folded generator does in both hands."""

    direction: str
    pictures: int
    ours: Agreement  # our runtime: knows the exponents stored in the file
    official: Agreement  # epsilon 1e-5 everywhere, logits as they come
    profile: RangeProfile  # of the second: everything as it stores it
    members: Mapping[str, Membership]  # its tensors' range groups

    def over(self) -> Tuple[TensorRange, ...]:
        """Convolution and dense results, weights, sums and activations over 65504 in unaware code's hands."""
        kinds = (INPUT, SQUARE)
        return tuple(t for t in self.profile.values() if t.overflows and t.kind not in kinds)

    def squares_over(self) -> int:
        """How many squared differences and variances are over 65504: float32 in most modes of most devices."""
        return sum(t.overflows for t in self.profile.values() if t.kind == SQUARE)

    def largest(self) -> TensorRange:
        """The largest of what `over` looks at."""
        kinds = (INPUT, SQUARE)
        return max((t for t in self.profile.values() if t.kind not in kinds), key=lambda t: t.amax)

    def to_json(self) -> Dict[str, object]:
        largest = self.largest()
        return {
            'direction': self.direction,
            'pictures': self.pictures,
            'our_runtime': self.ours.to_json(),
            'unaware_code': self.official.to_json(),
            'largest': {'name': largest.name, 'amax': largest.amax},
            'over_65504': [t.name for t in self.over()],
            'squares_over_65504': self.squares_over(),
        }


def try_drop_in(
    original: PathLike, folded: PathLike, direction: str, images: np.ndarray, image_size: Optional[int] = None
) -> DropIn:
    """Runs both checkpoints on `images` [N, H, W, 3] in float32; one model is in memory at a time."""
    with quietly():
        wanted = _outputs(load(original, direction, image_size=image_size), images)
        ours = _outputs(load(folded, direction, image_size=image_size), images)
        unaware = load_as_official(folded, direction, image_size=image_size)
        official = _outputs(unaware, images)
        profile, members = profile_ranges(unaware, images), unaware.generator.range_members()
    return DropIn(direction, len(images), agreement(ours, wanted), agreement(official, wanted), profile, members)


def agreement(found: Translation, wanted: Translation) -> Agreement:
    """How far two results of one network on the same pictures agree."""
    without = found.cam_logits is None or wanted.cam_logits is None
    return Agreement(
        picture_bits=np.array_equal(found.image, wanted.image),
        picture_levels=127.5 * float(np.max(np.abs(found.image - wanted.image))),
        logit_bits=without or np.array_equal(found.cam_logits, wanted.cam_logits),
        logit_difference=0.0 if without else float(np.max(np.abs(found.cam_logits - wanted.cam_logits))),
    )


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Keeps the log of loading the same files again and again from the terminal; warnings still show."""
    log = logging.getLogger('ugatit')
    before = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)


def _outputs(translate: Translator, images: np.ndarray, batch_size: int = 4) -> Translation:
    parts = [translate(images[start : start + batch_size]) for start in range(0, len(images), batch_size)]
    image, logits, heatmap = ([part[i] for part in parts] for i in range(3))
    return Translation(
        np.concatenate(image), None if logits[0] is None else np.concatenate(logits), np.concatenate(heatmap)
    )
