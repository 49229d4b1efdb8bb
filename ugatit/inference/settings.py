"""What is done to every picture, whichever model translates it."""

from __future__ import annotations

import dataclasses
from typing import Dict, Tuple

from ugatit.data.decode import DEFAULT_MAX_PIXELS
from ugatit.data.samples import parse_colour
from ugatit.errors import UserError

RESIZES: Dict[str, Tuple[str, str]] = {
    'stretch': ('stretch', 'antialiased'),
    'pad': ('pad', 'antialiased'),
    'crop': ('crop', 'antialiased'),
    'official': ('stretch', 'official'),
    'antialiased': ('stretch', 'antialiased'),
}
"""What `--resize` accepts: name -> (mode, filter) of `ugatit.data.resize.resize`."""

FACE_CROPS = ('off', 'auto', 'all')


@dataclasses.dataclass(frozen=True)
class Settings:
    """A value that is passed in; the defaults are the command's."""

    resize: str = 'stretch'  # a key of RESIZES: how any picture becomes the network's square
    keep_size: bool = False  # results have their input's size (after crop: the cropped square's)
    heatmap: bool = False  # also write where the network looked, laid over the input
    arrays: bool = False  # also write the network's own result as float32 .npy
    batch_size: int = 1  # pictures per call of the network
    background: str = 'white'  # shows through transparent parts
    max_pixels: int = DEFAULT_MAX_PIXELS  # larger pictures are refused before they are decoded
    thumbnails: bool = False  # keep small copies for a gallery
    face_crop: str = 'off'  # one of FACE_CROPS: translate the picture, its largest face, or each of its faces
    paste_back: bool = False  # the face's result goes back into the photograph; with 'all' into an additional picture

    def __post_init__(self) -> None:
        if self.resize not in RESIZES:
            raise UserError(
                f'resize must be one of {", ".join(RESIZES)}, but {self.resize!r} arrived; choose one of these.'
            )
        if self.batch_size < 1:
            raise UserError(f'batch_size must be at least 1, but {self.batch_size} arrived; use 1 or more.')
        if self.face_crop not in FACE_CROPS:
            raise UserError(
                f'face_crop must be one of {", ".join(FACE_CROPS)}, but {self.face_crop!r} arrived; choose one.'
            )
        if self.paste_back and self.face_crop == 'off':
            raise UserError('--paste_back puts faces back into their photographs, so it needs --face_crop=auto or'
                            ' --face_crop=all, but neither arrived.')  # fmt: skip
        parse_colour(self.background)

    @property
    def pastes_each(self) -> bool:
        """Whether every result is a whole photograph."""
        return self.paste_back and self.face_crop == 'auto'
