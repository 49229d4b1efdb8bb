"""From what the user named to pictures that the network takes."""

from __future__ import annotations

import dataclasses
import logging
import os
import pathlib
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from PIL import Image

from ugatit.data.convert import channel_range, to_float
from ugatit.data.decode import DecodedImage, decode_file
from ugatit.data.face_crop import FaceCrop, Window, cut, find_crop
from ugatit.data.files import Ignored, list_images
from ugatit.data.names import printable
from ugatit.data.resize import Geometry, resize
from ugatit.errors import UserError
from ugatit.inference import portrait
from ugatit.inference.settings import RESIZES, Settings

_log = logging.getLogger(__name__)

THUMBNAIL = 512  # longer edge of the small copies, pixels


@dataclasses.dataclass(frozen=True)
class Input:
    """One picture to translate."""

    path: Optional[pathlib.Path]  # None: the embedded portrait
    name: pathlib.PurePath  # below the folder or pattern that was named; results are called after it
    listed: bool = False  # found in a folder or by a pattern, not named itself
    crop: Optional[FaceCrop] = None  # the part to translate, where that is decided already
    face: int = 0  # which of several faces of its picture, from the left; 0: the only one

    def __str__(self) -> str:
        return printable(self.name if self.path is None else self.path) + (f', face {self.face}' if self.face else '')

    def decode(self, settings: Settings) -> DecodedImage:
        """Its pixels, upright RGB; UserError for what is no readable picture."""
        if self.path is None:
            return DecodedImage(portrait.portrait())
        try:
            return decode_file(self.path, background=settings.background, max_pixels=settings.max_pixels)
        except MemoryError:
            raise UserError(f'{self}: too large for the free memory: make the picture smaller') from None


class Found(NamedTuple):
    """Everything that the named places hold."""

    inputs: Tuple[Input, ...]  # in the order in which places were named, sorted by name within each
    ignored: Tuple[Ignored, ...]  # (path, reason) of what is no picture


class Prepared(NamedTuple):
    """A picture as the network takes it."""

    square: np.ndarray  # float32 [S, S, 3] in [-1, 1]
    geometry: Geometry
    flat: bool  # one colour everywhere
    warnings: Tuple[str, ...]
    thumbnail: Optional[np.ndarray]  # uint8, the input in small: what was cut from it, unless that is put back
    crop: Optional[FaceCrop] = None  # what was cut from the input; None: nothing, it is used whole


def find_inputs(sources: Sequence[str], recursive: bool = False) -> Found:
    """The pictures of files, folders and patterns, each once; the embedded portrait where nothing is named.

    Raises:
        UserError: a place does not exist or holds no picture.
    """
    if not sources:
        _log.info('no --input: this is a drawn portrait that comes with ugatit; name pictures of your own')
        return Found((Input(None, pathlib.PurePath(portrait.NAME)),), ())
    inputs: List[Input] = []
    ignored: List[Ignored] = []
    seen = set()
    for source in map(_with_home, sources):
        named = os.path.isfile(source)
        listing = list_images(source, recursive)
        ignored += listing.ignored
        for path in listing.paths:
            key = os.path.abspath(path)
            if key not in seen:
                seen.add(key)
                inputs.append(Input(path, _below(path, listing.root), not named))
    return Found(tuple(inputs), tuple(ignored))


def prepare(source: Input, size: int, settings: Settings) -> Prepared:
    """Decodes and resizes one picture for a model of `size` pixels. UserError begins with the file's name."""
    decoded = source.decode(settings)
    prepared = prepare_decoded(decoded, size, settings, source.crop)
    if prepared.crop is None:
        return prepared
    notes = tuple(f'{source}: {note}' for note in prepared.crop.notes)
    return prepared._replace(warnings=decoded.warnings + notes)


def prepare_decoded(decoded: DecodedImage, size: int, settings: Settings, crop: Optional[FaceCrop] = None) -> Prepared:
    """`prepare` of a picture that is in memory already; `crop`: its part to translate, where that is known."""
    if crop is None and settings.face_crop != 'off':
        crop = find_crop(decoded.pixels)
    pixels = decoded.pixels if crop is None else cut(decoded.pixels, crop.window)
    mode, filter = RESIZES[settings.resize]
    resized = resize(pixels, size, mode, filter)
    low, high = channel_range(pixels)
    small = thumbnail(decoded.pixels if settings.pastes_each else pixels) if settings.thumbnails else None
    geometry, warnings = resized.geometry, decoded.warnings
    if crop is not None:
        geometry = _placed(geometry, crop.window, *decoded.pixels.shape[:2])
        warnings += crop.notes
    return Prepared(to_float(resized.pixels), geometry, bool((low == high).all()), warnings, small, crop)


def _placed(geometry: Geometry, window: Window, height: int, width: int) -> Geometry:
    """A crop's geometry, told of the photograph that it was cut from; `restore` gives the crop at its own scale."""
    box = (window.top, window.left, window.side, window.side)
    return dataclasses.replace(geometry, input_size=(height, width), source=box)


def sample(inputs: Sequence[Input], size: int, settings: Settings, most: int) -> np.ndarray:
    """The first `most` readable pictures by sorted name, [N, S, S, 3]: what ranges and statistics are measured on.

    Unreadable ones are passed over without a word: they are named when their turn comes. N may be 0.
    """
    squares = list(_squares(sorted(inputs, key=_by_name)[:most], size, settings))
    return np.stack(squares) if squares else np.zeros((0, size, size, 3), np.float32)


def thumbnail(pixels: np.ndarray, longest: int = THUMBNAIL) -> np.ndarray:
    """A copy of uint8 [H, W, 3] whose longer edge has at most `longest` pixels."""
    image = Image.fromarray(pixels)
    image.thumbnail((longest, longest), Image.BILINEAR)
    return np.array(image)


def _squares(inputs: Sequence[Input], size: int, settings: Settings) -> Iterator[np.ndarray]:
    for source in inputs:
        try:
            yield prepare(source, size, dataclasses.replace(settings, thumbnails=False)).square
        except UserError:
            continue


def _by_name(source: Input) -> Tuple[str, ...]:
    return source.name.parts if source.path is None else source.path.parts


def _with_home(source: str) -> str:
    """`--input=~/photos` reaches us as it stands: shells expand ~ only at the beginning of a word."""
    return source if os.path.lexists(source) else os.path.expanduser(source)


def _below(path: pathlib.Path, root: pathlib.Path) -> pathlib.PurePath:
    try:
        return path.relative_to(root)
    except ValueError:
        return pathlib.PurePath(path.name)
