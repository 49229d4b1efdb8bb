"""The one image decoder of training, inference and export.

It decides by content, turns pictures upright (EXIF), puts transparency on a background and returns 8-bit RGB.
ICC colour profiles are not applied, as the official code does not apply them either; CMYK is converted by the plain
formula (1 - ink) * (1 - black).
JPEG goes through Pillow's accurate DCT. TensorFlow's decode_jpeg, which the official training used, takes the fast one
by default and differs from it by up to 13 of 255 levels on the pictures measured.
"""

from __future__ import annotations

import io
import os
import pathlib
from dataclasses import dataclass
from typing import BinaryIO, Callable, Dict, List, Tuple, Union

import numpy as np
from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    ImageOps,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from ugatit.data import sniff
from ugatit.data.names import printable
from ugatit.data.samples import parse_colour, to_rgb
from ugatit.errors import UserError

DEFAULT_MAX_PIXELS = 100_000_000  # 300 MB as 8-bit RGB; the largest phone pictures with 100 megapixels still pass

_TIFF_PHOTOMETRIC, _WHITE_IS_ZERO = 262, 0

# Called directly instead of through Image.open, whose own pixel limit is a global of Pillow and names no flag.
_OPENERS: Dict[str, Callable[[BinaryIO, str], Image.Image]] = {
    'JPEG': JpegImagePlugin.jpeg_factory,
    'PNG': PngImagePlugin.PngImageFile,
    'WebP': WebPImagePlugin.WebPImageFile,
    'BMP': BmpImagePlugin.BmpImageFile,
    'TIFF': TiffImagePlugin.TiffImageFile,
    'GIF': GifImagePlugin.GifImageFile,
}


@dataclass(frozen=True)
class DecodedImage:
    """pixels: uint8 [height, width, 3], RGB, upright. warnings: sentences on what had to be guessed or left out."""

    pixels: np.ndarray
    warnings: Tuple[str, ...] = ()


def decode_image(
    data: bytes,
    *,
    background: str = 'white',  # shows through transparent parts: a colour name or #rrggbb
    max_pixels: int = DEFAULT_MAX_PIXELS,  # width * height above this is refused before anything is decoded
) -> DecodedImage:
    """Decodes the first picture of a JPEG, PNG, WebP, BMP, TIFF or GIF file given as bytes.

    16-bit and float grey is scaled to 8 bits (see `samples`), 16-bit colour loses its low byte.
    Raises UserError for what is no readable picture: other content, broken or truncated data, too many pixels.
    """
    colour = parse_colour(background)
    image = _open(data, max_pixels)
    notes: List[str] = []
    deep, inverted = _has_deep_colour(image), _is_inverted(image)
    _load(image)
    pixels = to_rgb(_upright(image, notes), colour, notes, deep, inverted)
    _note_frames(image, notes)
    return DecodedImage(np.ascontiguousarray(pixels), tuple(notes))


def decode_file(
    path: Union[str, os.PathLike[str]],
    *,
    background: str = 'white',
    max_pixels: int = DEFAULT_MAX_PIXELS,
) -> DecodedImage:
    """`decode_image` of a file; every message and warning begins with the file's name."""
    name = printable(path)
    try:
        decoded = decode_image(read_picture(path), background=background, max_pixels=max_pixels)
    except UserError as error:
        raise UserError(f'{name}: {error}') from error
    return DecodedImage(decoded.pixels, tuple(f'{name}: {warning}' for warning in decoded.warnings))


def read_picture(path: Union[str, os.PathLike[str]]) -> bytes:
    """A file's bytes, refusing by its head first: a video of 4 GB called photo.jpg is not read. Raises UserError."""
    try:
        with pathlib.Path(path).open('rb') as file:
            head = file.read(sniff.HEAD_BYTES)
            sniff.require_readable(head)
            return head + file.read()
    except OSError as error:
        raise UserError(
            f'expected a readable file, but: {error.strerror or error}: check the path and the permissions'
        ) from error


def _open(data: bytes, max_pixels: int) -> Image.Image:
    """The image with only its header parsed, size checked."""
    kind = sniff.require_readable(data[: sniff.HEAD_BYTES])
    opener = _heic_opener(data) if kind == 'HEIC' else _OPENERS[kind]
    try:
        image = opener(io.BytesIO(data), '')
    except Exception as error:  # as in _load
        raise UserError(_broken(kind, error)) from error
    _require_size(image.width, image.height, max_pixels)
    return image


def _load(image: Image.Image) -> None:
    try:
        image.load()
    except Exception as error:  # decoders of hostile data raise anything: OSError, SyntaxError, KeyError
        raise UserError(_broken(image.format, error)) from error


def _heic_opener(data: bytes) -> Callable[[BinaryIO, str], Image.Image]:
    try:
        from pillow_heif import HeifImageFile
    except ImportError:
        raise UserError(sniff.refusal(data[: sniff.HEAD_BYTES])) from None
    return HeifImageFile


def _require_size(width: int, height: int, max_pixels: int) -> None:
    if width * height > max_pixels:
        raise UserError(
            f'expected at most {max_pixels} pixels, found {width * height} ({width} x {height}): make the picture '
            f'smaller, or raise the limit with --max_pixels={width * height} if it is meant to be that large'
        )


def _has_deep_colour(image: Image.Image) -> bool:
    # A tile's arguments name the raw layout, 'RGB;16B' for instance; they are gone once the image is loaded.
    return image.mode in ('RGB', 'RGBA') and any('16' in str(tile[-1]) for tile in getattr(image, 'tile', ()))


def _is_inverted(image: Image.Image) -> bool:
    # Pillow inverts TIFF files whose zero is white up to 8 bits, but not the deeper ones.
    return isinstance(image, TiffImagePlugin.TiffImageFile) and image.tag_v2.get(_TIFF_PHOTOMETRIC) == _WHITE_IS_ZERO


def _upright(image: Image.Image, notes: List[str]) -> Image.Image:
    """Turned and mirrored as EXIF says; damaged EXIF data is no reason to lose the picture."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception as error:  # as in _load
        notes.append(f'the EXIF data are damaged ({error}): the picture is used as stored, perhaps not upright')
        return image


def _broken(kind: str, error: Exception) -> str:
    reason = ' '.join(str(error).split()) or type(error).__name__
    return f'expected a complete {kind} picture, but it is broken or truncated ({reason}): copy or export it again'


def _note_frames(image: Image.Image, notes: List[str]) -> None:
    if image.format in ('JPEG', 'MPO'):
        return  # phones append previews and depth maps to JPEG files: nothing that the user would miss
    try:
        animated = getattr(image, 'is_animated', False)
    except Exception:  # a broken second frame: the first one is decoded already
        animated = True
    if animated:
        notes.append('the file holds several frames or pages: only the first is used')
