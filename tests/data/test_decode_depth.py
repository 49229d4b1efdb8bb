"""More than 8 bits a channel, integer and float: scaled rightly, guesses said."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tests import tolerances
from tests.data import odd_files as odd
from tests.data.odd_files import grey_rgb, levels
from ugatit.data.decode import decode_image
from ugatit.errors import UserError

RAMP16 = np.tile(np.arange(0, 65536, 64, dtype=np.uint16), (3, 1))
RAMP8 = np.rint(RAMP16 / 257.0)


def test_sixteen_bit_orientation() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = decode_image(odd.encode(RAMP16, 'PNG', exif=exif)).pixels
    assert levels(pixels[..., 0], np.rot90(RAMP8, -1)) <= tolerances.SIXTEEN_BIT_LEVELS


SIXTEEN_BIT = {
    'png': odd.encode(RAMP16, 'PNG'),
    'tiff': odd.encode(RAMP16, 'TIFF'),
    'tiff_lzw': odd.encode(RAMP16, 'TIFF', compression='tiff_lzw'),
    'tiff_white_is_zero': odd.tiff(65535 - RAMP16, odd.TIFF_WHITE_IS_ZERO),
    'png_rgb': odd.png16(np.stack([RAMP16] * 3, axis=-1), odd.PNG_RGB),
    'png_grey_alpha': odd.png16(np.stack([RAMP16, np.full_like(RAMP16, 65535)], axis=-1), odd.PNG_GREY_ALPHA),
    'png_rgba': odd.png16(np.stack([RAMP16] * 3 + [np.full_like(RAMP16, 65535)], axis=-1), odd.PNG_RGBA),
    'tiff_rgb': odd.tiff(np.stack([RAMP16] * 3, axis=-1), odd.TIFF_RGB),
    'tiff_signed_32': odd.tiff(RAMP16.astype('<i4'), odd.TIFF_BLACK_IS_ZERO, odd.TIFF_SIGNED),
}


@pytest.mark.parametrize('name', SIXTEEN_BIT)
def test_a_16_bit_ramp_stays_a_ramp(name: str) -> None:
    decoded = decode_image(SIXTEEN_BIT[name])
    assert levels(decoded.pixels, grey_rgb(RAMP8)) <= tolerances.SIXTEEN_BIT_LEVELS
    assert decoded.warnings == ()


@pytest.mark.parametrize('bits', [8, 12])
@pytest.mark.parametrize('kind', ['PNG', 'TIFF'])
def test_low_range_is_scaled_and_said(kind: str, bits: int) -> None:
    top = 2**bits - 1
    ramp = np.linspace(0, top, 257).round().astype(np.uint16)[None]
    decoded = decode_image(odd.encode(ramp, kind))
    assert levels(decoded.pixels[..., 0], np.rint(ramp * 255.0 / top)) <= tolerances.SIXTEEN_BIT_LEVELS
    assert f'{bits}-bit' in decoded.warnings[0] and str(top) in decoded.warnings[0]


def test_13_bits_are_a_dark_16_bit_picture() -> None:
    decoded = decode_image(odd.encode(np.full((4, 4), 8191, np.uint16)))
    assert decoded.pixels.max() == 32 and decoded.warnings == ()


def test_black_16_bit_is_black_without_a_word() -> None:
    decoded = decode_image(odd.encode(np.zeros((4, 4), np.uint16)))
    assert decoded.pixels.max() == 0 and decoded.warnings == ()


def test_low_range_16_bit_colour_is_said() -> None:
    decoded = decode_image(odd.png16(np.full((4, 4, 3), 4000, np.uint16), odd.PNG_RGB))
    assert 'lowest 1/16' in decoded.warnings[0]
    assert decode_image(odd.encode(np.full((4, 4, 3), 9, np.uint8))).warnings == ()  # plain dark 8-bit


def test_32_bit_and_negative_integers() -> None:
    ramp = np.linspace(0, 2**24, 100).astype('<i4')[None]
    decoded = decode_image(odd.tiff(ramp, odd.TIFF_BLACK_IS_ZERO, odd.TIFF_SIGNED))
    assert decoded.pixels.min() == 0 and decoded.pixels.max() == 255 and '32-bit' in decoded.warnings[0]
    with pytest.raises(UserError, match='-5..9'):
        decode_image(odd.tiff(np.array([[-5, 9]], '<i2'), odd.TIFF_BLACK_IS_ZERO, odd.TIFF_SIGNED))


@pytest.mark.parametrize(('factor', 'said'), [(1.0, False), (255.0, True), (65535.0, True), (1e6, True)])
def test_float_tiff(factor: float, said: bool) -> None:
    ramp = np.linspace(0, 1, 64, dtype=np.float32)[None]
    decoded = decode_image(odd.encode(ramp * np.float32(factor), 'TIFF'))
    assert levels(decoded.pixels[..., 0], np.rint(ramp * 255)) <= tolerances.SIXTEEN_BIT_LEVELS
    assert bool(decoded.warnings) == said


def test_float_overshoot_is_clipped_and_nan_refused() -> None:
    decoded = decode_image(odd.encode(np.array([[-0.1, 0.5, 1.3]], np.float32), 'TIFF'))
    assert decoded.pixels[0, :, 0].tolist() == [0, 128, 255] and 'clipped' in decoded.warnings[0]
    with pytest.raises(UserError, match='1 NaN'):
        decode_image(odd.encode(np.array([[0.5, np.nan]], np.float32), 'TIFF'))
