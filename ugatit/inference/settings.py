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

    def __post_init__(self) -> None:
        if self.resize not in RESIZES:
            raise UserError(
                f'resize must be one of {", ".join(RESIZES)}, but {self.resize!r} arrived; choose one of these.'
            )
        if self.batch_size < 1:
            raise UserError(f'batch_size must be at least 1, but {self.batch_size} arrived; use 1 or more.')
        parse_colour(self.background)
