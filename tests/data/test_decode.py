"""One decoder for every format and kind of pixel: the picture that the user sees."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageOps

from tests import tolerances
from tests.data import odd_files as odd
from tests.data.odd_files import grey_rgb, levels
from ugatit.data.decode import decode_file, decode_image

PHOTO = odd.photo()


@pytest.mark.parametrize('kind', ['PNG', 'BMP', 'TIFF'])
def test_lossless_formats_are_exact(kind: str) -> None:
    decoded = decode_image(odd.encode(PHOTO, kind))
    assert np.array_equal(decoded.pixels, PHOTO) and decoded.warnings == ()
    assert decoded.pixels.dtype == np.uint8 and decoded.pixels.flags.c_contiguous and decoded.pixels.flags.writeable


def test_webp_lossless_is_exact() -> None:
    assert np.array_equal(decode_image(odd.encode(PHOTO, 'WEBP', lossless=True)).pixels, PHOTO)


@pytest.mark.parametrize('options', [{}, {'progressive': True}, {'subsampling': 0}])
def test_jpeg(options: dict) -> None:
    assert (
        levels(decode_image(odd.encode(PHOTO, 'JPEG', quality=95, **options)).pixels, PHOTO) <= tolerances.JPEG_LEVELS
    )


@pytest.mark.parametrize('kind', ['PNG', 'JPEG', 'BMP', 'TIFF', 'GIF'])
def test_grey_becomes_rgb(kind: str) -> None:
    grey = np.full((5, 7), 77, np.uint8)
    assert np.array_equal(decode_image(odd.encode(grey, kind)).pixels, grey_rgb(grey))


@pytest.mark.parametrize('kind', ['PNG', 'BMP', 'TIFF', 'GIF'])
def test_one_bit(kind: str) -> None:
    bits = np.eye(9, dtype=bool)
    data = odd.encode_image(Image.fromarray(bits), kind)
    assert np.array_equal(decode_image(data).pixels, grey_rgb(bits.astype(np.uint8) * 255))


@pytest.mark.parametrize('kind', ['PNG', 'BMP', 'TIFF', 'GIF'])
def test_palette(kind: str) -> None:
    image = Image.fromarray(PHOTO).quantize(16)
    expected = np.asarray(image.convert('RGB'))
    assert np.array_equal(decode_image(odd.encode_image(image, kind)).pixels, expected)


@pytest.mark.parametrize('orientation', range(1, 9))
@pytest.mark.parametrize('kind', ['JPEG', 'PNG', 'TIFF', 'WEBP'])
def test_exif_orientation_is_applied_once(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = Image.fromarray(PHOTO)
    decoded = decode_image(odd.encode_image(stored, kind, exif=exif, **({'quality': 95} if kind == 'JPEG' else {})))
    turn = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}  # Pillow's transpose codes: 6 means turned by 270 degrees
    expected = np.asarray(stored.transpose(turn[orientation]) if orientation > 1 else stored)
    allowed = {'JPEG': tolerances.JPEG_LEVELS, 'WEBP': tolerances.WEBP_LEVELS}.get(kind, 0)
    assert decoded.pixels.shape == ((24, 32, 3) if orientation < 5 else (32, 24, 3))
    assert levels(decoded.pixels, expected) <= allowed


def test_orientation_6_turns_the_top_left_corner_to_the_top_right() -> None:
    marked = np.zeros((8, 16, 3), np.uint8)
    marked[0, 0] = 255
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = decode_image(odd.encode(marked, 'PNG', exif=exif)).pixels
    assert pixels.shape == (16, 8, 3) and pixels[0, 7].min() == 255


def test_damaged_exif_costs_no_picture(monkeypatch) -> None:
    def fail(image):
        raise SyntaxError('not a TIFF header')

    monkeypatch.setattr(ImageOps, 'exif_transpose', fail)
    decoded = decode_image(odd.encode(PHOTO, 'PNG'))
    assert np.array_equal(decoded.pixels, PHOTO) and 'EXIF' in decoded.warnings[0]


@pytest.mark.parametrize('kind', ['PNG', 'WEBP', 'TIFF'])
def test_transparency_shows_the_background_not_the_hidden_colour(kind: str) -> None:
    rgba = np.zeros((1, 3, 4), np.uint8)
    rgba[0] = [[20, 234, 90, 0], [20, 234, 90, 128], [20, 234, 90, 255]]
    options = {'lossless': True, 'exact': True} if kind == 'WEBP' else {}
    data = odd.encode(rgba, kind, **options)
    assert decode_image(data).pixels[0].tolist() == [[255, 255, 255], [137, 244, 172], [20, 234, 90]]
    assert decode_image(data, background='#000010').pixels[0, 0].tolist() == [0, 0, 16]


def test_grey_alpha_palette_alpha_and_colour_keys() -> None:
    assert decode_image(odd.encode(np.array([[[9, 0], [9, 255]]], np.uint8))).pixels[0, :, 0].tolist() == [255, 9]
    palette = odd.with_mode(np.array([[0, 1]], np.uint8), 'P')
    palette.putpalette([10, 20, 30, 40, 50, 60])
    for kind in ('PNG', 'GIF'):
        pixels = decode_image(odd.encode_image(palette, kind, transparency=1)).pixels
        assert pixels[0].tolist() == [[10, 20, 30], [255, 255, 255]]
    grey16 = Image.fromarray(np.array([[1000, 65535]], np.uint16))
    assert decode_image(odd.encode_image(grey16, transparency=1000)).pixels[0, :, 0].tolist() == [255, 255]
    rgb = Image.fromarray(np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8))
    assert decode_image(odd.encode_image(rgb, transparency=(1, 2, 3))).pixels[0].tolist() == [[255] * 3, [4, 5, 6]]


def test_an_entirely_transparent_picture_is_said() -> None:
    assert 'transparent' in decode_image(odd.encode(np.zeros((2, 2, 4), np.uint8))).warnings[0]


@pytest.mark.parametrize(
    'data',
    [
        odd.encode_image(odd.with_mode(odd.cmyk(PHOTO), 'CMYK'), 'JPEG', quality=98),
        odd.encode_image(odd.with_mode(odd.cmyk(PHOTO), 'CMYK'), 'TIFF'),
        odd.ycck_jpeg(PHOTO),
    ],
    ids=['jpeg', 'tiff', 'ycck'],
)
def test_cmyk_has_the_colours_of_its_source(data: bytes) -> None:
    assert levels(decode_image(data).pixels, PHOTO) <= tolerances.CMYK_LEVELS


def test_lab_has_the_colours_of_its_source() -> None:
    lab = ImageCms.profileToProfile(
        Image.fromarray(PHOTO), ImageCms.createProfile('sRGB'), ImageCms.createProfile('LAB'), outputMode='LAB'
    )
    pixels = decode_image(odd.encode_image(lab, 'TIFF')).pixels
    assert np.abs(pixels.astype(int) - PHOTO).mean() <= tolerances.LAB_MEAN_LEVELS


@pytest.mark.parametrize('kind', ['GIF', 'WEBP', 'PNG', 'TIFF'])
def test_the_first_of_several_frames(kind: str) -> None:
    first, second = (Image.new('RGB', (6, 4), colour) for colour in ('#ff0000', '#0000ff'))
    options = {'lossless': True} if kind == 'WEBP' else {}
    decoded = decode_image(odd.encode_image(first, kind, save_all=True, append_images=[second], **options))
    assert (decoded.pixels == [255, 0, 0]).all() and 'first' in decoded.warnings[0]


def test_phone_jpegs_with_an_appended_preview_give_no_warning() -> None:
    preview = Image.fromarray(PHOTO[::2, ::2])
    data = odd.encode_image(Image.fromarray(PHOTO), 'MPO', save_all=True, append_images=[preview], quality=95)
    decoded = decode_image(data)
    assert levels(decoded.pixels, PHOTO) <= tolerances.JPEG_LEVELS and decoded.warnings == ()


@pytest.mark.parametrize('name', ['写真 café.png', "<b>&'.png", 'no_extension', 'really_a_png.jpg', ' spaced .PNG'])
def test_names_do_not_matter(name: str, tmp_path) -> None:
    (tmp_path / name).write_bytes(odd.encode(PHOTO))
    assert np.array_equal(decode_file(tmp_path / name).pixels, PHOTO)
    assert np.array_equal(decode_file(str(tmp_path / name)).pixels, PHOTO)
