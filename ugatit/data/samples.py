"""From whatever Pillow decoded (16-bit, float, palette, CMYK, transparency) to uint8 RGB pixels."""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np
from PIL import Image, ImageColor

from ugatit.errors import UserError

Colour = Tuple[int, int, int]

_MAX_8, _MAX_12, _MAX_16 = 255, 4095, 65535


def parse_colour(background: str) -> Colour:
    """(red, green, blue) of a name such as 'white' or of '#rrggbb'; UserError for anything else."""
    try:
        return tuple(ImageColor.getrgb(background)[:3])
    except (ValueError, AttributeError, TypeError):
        raise UserError(
            f'expected a background colour such as white, black or #ff8800, got {background!r}: write one of these'
        ) from None


def to_rgb(
    image: Image.Image,
    background: Colour,  # shows through transparent parts
    notes: List[str],  # remarks for the user are appended
    deep: bool = False,  # the file holds 16 bits a channel in colour, of which Pillow keeps the high byte only
    inverted: bool = False,  # deep grey whose zero is white
) -> np.ndarray:
    """uint8 [H, W, 3] of a loaded image. UserError for grey values that have no meaning: negative, NaN, infinite."""
    if image.mode == 'F' or image.mode.startswith('I'):
        return _grey(image, background, notes, inverted)
    if 'transparency' in image.info or image.mode in ('RGBA', 'LA', 'PA', 'RGBa', 'La'):
        return _composite(image.convert('RGBA'), background, notes)
    pixels = np.array(image if image.mode == 'RGB' else image.convert('RGB'))
    if deep and pixels.max() <= _MAX_12 >> 8:
        notes.append(
            'all values of this 16-bit colour picture lie in the lowest 1/16 of the range and it stays '
            'nearly black: save it with the full range, or as 8-bit'
        )
    return pixels


def _composite(image: Image.Image, background: Colour, notes: List[str]) -> np.ndarray:
    """Colour over background by alpha, on the stored (gamma) values as browsers do, rounded to nearest."""
    rgba = np.asarray(image).astype(np.uint16)
    alpha = rgba[..., 3:]
    if not alpha.any():
        notes.append('the picture is entirely transparent: only the background is visible')
    mixed = rgba[..., :3] * alpha + np.array(background, np.uint16) * (255 - alpha)  # at most 65025: fits
    return ((mixed + 127) // 255).astype(np.uint8)


def _grey(image: Image.Image, background: Colour, notes: List[str], inverted: bool) -> np.ndarray:
    """One channel of more than 8 bits: a scale is chosen from the values, and said where it is a guess."""
    values = np.asarray(image)
    if image.mode == 'F':
        grey = _float_to_8(values, notes)
    else:
        grey = _integer_to_8(values, notes)
    if inverted:
        grey = 255 - grey
    pixels = np.repeat(grey[..., None], 3, axis=-1)
    key = image.info.get('transparency')
    if isinstance(key, int):
        pixels[values == key] = background
    return pixels


def _integer_to_8(values: np.ndarray, notes: List[str]) -> np.ndarray:
    low, high = int(values.min()), int(values.max())
    if low < 0:
        raise UserError(f'expected grey values of 0 or more, found {low}..{high}: save the picture as 8-bit or 16-bit')
    full = _integer_range(high)
    note = _range_note(high, full)
    if note:
        notes.append(note)
    if full > _MAX_16:
        return np.rint(values * (255.0 / full)).astype(np.uint8)
    table = (np.arange(_MAX_16 + 1) * 255 + full // 2) // full  # rounds to nearest; no large temporaries
    return table.astype(np.uint8)[values]


def _integer_range(high: int) -> int:
    """The value that means white. Cameras and scanners put 8 or 12 bits unshifted into 16; a *picture* whose brightest
    pixel is below 1/16 of white would be black anyway, so taking it as 12 bits loses nothing."""
    for full in (_MAX_8, _MAX_12, _MAX_16):
        if 0 < high <= full:
            return full
    return max(high, _MAX_16)


def _range_note(high: int, full: int) -> Optional[str]:
    if full == _MAX_16 or high == 0:
        return None
    if full > _MAX_16:
        return f'32-bit grey values up to {high}: {high} is taken as white; save it as 16-bit to choose the scale'
    bits = 8 if full == _MAX_8 else 12
    return (
        f'low range: the largest value of this 16-bit picture is {high}, so it is read as {bits}-bit data with '
        f'{full} as white; if it really is that dark, save it as 8-bit'
    )


def _float_to_8(values: np.ndarray, notes: List[str]) -> np.ndarray:
    if not np.isfinite(values).all():
        bad = int(values.size - np.isfinite(values).sum())
        raise UserError(f'expected finite values, found {bad} NaN or infinite ones: repair it, or save it as 8-bit')
    low, high = float(values.min()), float(values.max())
    full = _float_range(high)
    if full != 1.0:
        notes.append(f'float values {low:g}..{high:g}: 0 is taken as black and {full:g} as white')
    elif low < 0.0 or high > 1.0:
        notes.append(f'float values {low:g}..{high:g}: what lies outside 0..1 is clipped')
    return np.rint(np.clip(values.astype(np.float64) / full, 0.0, 1.0) * 255.0).astype(np.uint8)


def _float_range(high: float) -> float:
    """1 for the usual range (up to 2: overshooting highlights), else the integer range that the values seem to use."""
    if high <= 2.0:
        return 1.0
    return float(_MAX_8) if high <= _MAX_8 else float(max(high, _MAX_16))
