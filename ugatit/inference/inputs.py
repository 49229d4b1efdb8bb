"""From what the user named to pictures that the network takes."""

from __future__ import annotations

import dataclasses
import logging
import os
import pathlib
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from PIL import Image

from ugatit.data.convert import to_float
from ugatit.data.decode import DecodedImage, decode_file
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

    def __str__(self) -> str:
        return printable(self.name if self.path is None else self.path)

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
    thumbnail: Optional[np.ndarray]  # uint8, the whole input in small


def find_inputs(sources: Sequence[str], recursive: bool = False) -> Found:
    """The pictures of files, folders and patterns, each once; the embedded portrait where nothing is named.

    Raises:
        UserError: a place does not exist or holds no picture.
    """
    if not sources:
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
    return prepare_decoded(source.decode(settings), size, settings)


def prepare_decoded(decoded: DecodedImage, size: int, settings: Settings) -> Prepared:
    """`prepare` of a picture that is in memory already."""
    mode, filter = RESIZES[settings.resize]
    resized = resize(decoded.pixels, size, mode, filter)
    flat = bool((decoded.pixels.min(axis=(0, 1)) == decoded.pixels.max(axis=(0, 1))).all())
    small = thumbnail(decoded.pixels) if settings.thumbnails else None
    return Prepared(to_float(resized.pixels), resized.geometry, flat, decoded.warnings, small)


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
