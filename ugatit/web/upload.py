"""What arrives from a browser, read by the project's own decoder: upright, on the background, with its own refusals."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import NamedTuple, Optional

from ugatit.data.decode import DecodedImage, decode_image, read_picture
from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.inference.inputs import Input, Prepared, prepare
from ugatit.inference.settings import Settings
from ugatit.web.settings import MEGABYTE, SMALLEST_EDGE, PageSettings


class Upload(NamedTuple):
    """A file that somebody sent."""

    path: str  # where it lies on this machine
    name: str  # what they call it


@dataclasses.dataclass(frozen=True)
class _Arrived(Input):
    """An input that is decoded already, and called what its sender calls it."""

    decoded: Optional[DecodedImage] = None

    def __str__(self) -> str:
        return printable(self.name)

    def decode(self, settings: Settings) -> DecodedImage:
        del settings
        return self.decoded


def read_upload(upload: Optional[Upload], size: int, resize: str, face_crop: str, settings: PageSettings) -> Prepared:
    """The picture as a network of `size` pixels takes it; every message and warning begins with the file's name.

    Raises:
        UserError: nothing arrived, it is gone, too large, too small, or no readable picture.
    """
    if upload is None:
        raise UserError('There is no picture yet: drop a file, take one with the camera, or click an example.')
    name = printable(upload.name)
    try:
        decoded = _decode(upload, settings)
        _require_edges(decoded)
    except UserError as error:
        raise UserError(f'{name}: {error}') from error
    except MemoryError:
        raise UserError(f'{name}: too large for the free memory: make the picture smaller') from None
    named = DecodedImage(decoded.pixels, tuple(f'{name}: {warning}' for warning in decoded.warnings))
    arrived = _Arrived(None, pathlib.PurePath(upload.name), decoded=named)
    return prepare(arrived, size, Settings(resize=resize, face_crop=face_crop, background=settings.background))


def _decode(upload: Upload, settings: PageSettings) -> DecodedImage:
    try:
        arrived = os.path.getsize(upload.path)
    except OSError:
        raise UserError('this picture has been deleted here, as all are after a while: choose it again') from None
    if arrived > settings.max_megabytes * MEGABYTE:
        raise UserError(f'expected at most {settings.max_megabytes} MB, found {arrived / MEGABYTE:.1f} MB: make the'
                        ' picture smaller')  # fmt: skip
    os.utime(upload.path)  # its time until it is deleted begins anew
    return decode_image(read_picture(upload.path), background=settings.background, max_pixels=settings.max_pixels)


def _require_edges(decoded: DecodedImage) -> None:
    height, width = decoded.pixels.shape[:2]
    if min(height, width) < SMALLEST_EDGE:
        raise UserError(f'expected at least {SMALLEST_EDGE} pixels on each side, found {width} x {height}: give a'
                        ' picture with a face in it')  # fmt: skip
