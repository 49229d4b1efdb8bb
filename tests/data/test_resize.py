"""The network's square and back: parity with the official loaders, antialiasing, no distortion."""

from __future__ import annotations

import numpy as np
import pytest

from tests import tolerances
from tests.data import odd_files as odd
from ugatit.data.convert import to_float
from ugatit.data.decode import decode_file
from ugatit.data.official_resize import opencv_bilinear
from ugatit.data.resize import FILTERS, MODES, plan_geometry, resize, restore, scale
from ugatit.errors import UserError

GOLDEN_PICTURES = {'A': 'female_2321.jpg', 'B': '3414.png'}
SHAPES = [(1, 1), (3, 500), (500, 3), (1, 64), (64, 64), (37, 200), (360, 640)]


@pytest.mark.parametrize('key', ['A/32', 'A/48', 'A/64', 'B/32', 'B/64', 'B/100'])
def test_official_equals_the_recorded_test_loader(golden, key) -> None:
    recorded = np.load(golden / 'image_io.npz')[f'load_test_data/{key}'][0]
    picture = decode_file(golden / 'images' / GOLDEN_PICTURES[key[0]]).pixels
    square = resize(picture, recorded.shape[0], 'stretch', 'official').pixels
    assert np.array_equal(square.astype(np.float64) / 127.5 - 1, recorded)
    assert np.array_equal(to_float(square), recorded.astype(np.float32))


@pytest.mark.parametrize('size', [32, 64])
def test_official_train_equals_the_recorded_training_loader(golden, size) -> None:
    # Only the PNG: TensorFlow decodes the JPEG with its fast DCT, up to 13 levels from ours.
    recorded = np.load(golden / 'image_io.npz')[f'train_image_processing_noaug/B/{size}']
    picture = decode_file(golden / 'images' / GOLDEN_PICTURES['B']).pixels
    square = resize(picture, size, 'stretch', 'official_train').pixels
    assert np.abs(to_float(square) - recorded).max() <= tolerances.LOADER_ULP


def opencv_by_the_book(row: np.ndarray, target: int) -> np.ndarray:
    """One row in exact arithmetic: half-pixel grid, clamped at the border."""
    position = np.clip((np.arange(target) + 0.5) * len(row) / target - 0.5, 0, len(row) - 1)
    return np.interp(position, np.arange(len(row)), row)


@pytest.mark.parametrize(('source', 'target'), [(7, 5), (5, 13), (100, 50), (64, 64), (1, 9), (9, 1)])
def test_official_is_bilinear_on_the_half_pixel_grid(source, target) -> None:
    row = np.random.randint(0, 256, source)
    pixels = np.repeat(np.repeat(row[None, :, None], 3, axis=2), 3, axis=0).astype(np.uint8)
    result = opencv_bilinear(pixels, 3, target)
    assert np.abs(result[1, :, 0] - opencv_by_the_book(row, target)).max() <= tolerances.FIXED_POINT_LEVELS


def test_official_equals_opencv_to_the_last_bit() -> None:
    cv2 = pytest.importorskip('cv2', reason='OpenCV is not installed; the recorded results are tested instead')
    random = np.random.RandomState(3)
    for trial in range(200):
        height, width, new_height, new_width = random.randint(1, 200, 4)
        if trial % 10 == 0:
            height, width = 2 * new_height, 2 * new_width  # OpenCV's own path at exactly one half
        pixels = random.randint(0, 256, (height, width, 3)).astype(np.uint8)
        expected = cv2.resize(pixels, (int(new_width), int(new_height)))
        assert np.array_equal(opencv_bilinear(pixels, new_height, new_width), expected)


def test_antialiasing_averages_where_official_picks() -> None:
    stripes = np.zeros((64, 64, 3), np.uint8)
    stripes[:, ::4] = 255  # mean 63.75, and 1 in 4 columns hit by the official filter's two taps or none
    soft = resize(stripes, 16).pixels[4:-4, 4:-4]
    hard = resize(stripes, 16, filter='official').pixels[4:-4, 4:-4]
    assert np.abs(soft - 63.75).max() <= tolerances.STRIPE_LEVELS < np.abs(hard - 63.75).max()


@pytest.mark.parametrize('filter', FILTERS)
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('shape', SHAPES)
def test_any_shape_fits_and_comes_back(shape, mode, filter) -> None:
    picture = np.random.randint(0, 256, shape + (3,)).astype(np.uint8)
    square = resize(picture, 32, mode, filter)
    assert square.pixels.shape == (32, 32, 3) and square.pixels.dtype == np.float32
    assert 0 <= square.pixels.min() and square.pixels.max() <= 255
    back = restore(to_float(square.pixels), square.geometry)
    edge = min(shape)
    assert back.shape == ((edge, edge, 3) if mode == 'crop' else shape + (3,)) and back.dtype == np.float32
    assert -1 <= back.min() and back.max() <= 1


@pytest.mark.parametrize('filter', FILTERS)
@pytest.mark.parametrize('mode', MODES)
def test_a_flat_picture_stays_flat(mode, filter) -> None:
    picture = np.full((50, 70, 3), 201, np.uint8)
    square = resize(picture, 32, mode, filter)
    assert (square.pixels == 201).all() and (restore(square.pixels, square.geometry) == 201).all()


@pytest.mark.parametrize('filter', ['antialiased', 'official'])
def test_a_picture_of_the_right_size_is_unchanged(filter) -> None:
    picture = odd.photo(32, 32)
    for mode in MODES:
        square = resize(picture, 32, mode, filter)
        assert np.array_equal(square.pixels, picture)
        assert np.array_equal(restore(square.pixels, square.geometry), picture)


def axes(disc: np.ndarray) -> np.ndarray:
    """Height and width of a bright ellipse on black [H, W, C], from its second moments."""
    weights = disc[..., 0].astype(np.float64)
    total = weights.sum()
    extents = []
    for grid in np.mgrid[0 : weights.shape[0], 0 : weights.shape[1]]:
        mean = (weights * grid).sum() / total
        extents.append(4 * np.sqrt((weights * (grid - mean) ** 2).sum() / total))  # a disc's variance is r^2 / 4
    return np.array(extents)


def circle(height: int, width: int, diameter: float) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width]
    inside = (y - (height - 1) / 2) ** 2 + (x - (width - 1) / 2) ** 2 <= (diameter / 2) ** 2
    return np.repeat(inside[..., None], 3, axis=-1).astype(np.uint8) * 255


@pytest.mark.parametrize('shape', [(360, 640), (640, 361), (333, 500)])
@pytest.mark.parametrize('mode', MODES)
def test_a_circle_comes_back_as_the_same_circle(mode, shape) -> None:
    square = resize(circle(*shape, diameter=200), 128, mode)
    back = restore(square.pixels, square.geometry)
    if mode != 'crop':
        assert back.shape[:2] == shape
    assert np.abs(axes(back) - 200).max() <= tolerances.CIRCLE_PIXELS


@pytest.mark.parametrize(('mode', 'round'), [('pad', True), ('crop', True), ('stretch', False)])
def test_the_network_sees_a_circle_except_after_stretch(mode, round) -> None:
    square = resize(circle(360, 640, diameter=200), 128, mode)
    top, left, height, width = square.geometry.target
    high, wide = axes(square.pixels[top : top + height, left : left + width])
    assert (abs(high - wide) <= tolerances.CIRCLE_PIXELS) == round


@pytest.mark.parametrize('mode', MODES)
def test_restore_puts_everything_where_it_was(mode) -> None:
    y, x = np.mgrid[0:90, 0:150]
    picture = np.rint(np.stack([y / 90, x / 150, (x + y) / 240], axis=-1) * 255).astype(np.uint8)
    square = resize(picture, 64, mode)
    back = restore(square.pixels / np.float32(255), square.geometry)
    top, left, height, width = square.geometry.source
    part = picture[top : top + height, left : left + width] / 255.0
    assert np.abs(back - part)[4:-4, 4:-4].max() <= tolerances.RESTORE_GRADIENT


def test_margins_mirror_the_picture() -> None:
    picture = odd.photo(32, 64)
    square = resize(picture, 64, 'pad')
    assert square.geometry.target == (16, 0, 32, 64) and square.geometry.source == (0, 0, 32, 64)
    assert np.array_equal(square.pixels[16:48], picture)
    assert np.array_equal(square.pixels[:16], picture[15::-1]) and np.array_equal(square.pixels[48:], picture[:15:-1])


def test_maps_and_other_channel_counts_are_restored() -> None:
    geometry = plan_geometry(30, 60, 32, 'pad')
    assert restore(np.ones((32, 32), np.float32), geometry).shape == (30, 60)
    assert restore(np.ones((32, 32, 5), np.float32), geometry).shape == (30, 60, 5)
    assert scale(np.array([[-1e9, 1e9]], np.float32), 1, 2).tolist() == [[-1e9, 1e9]]


def test_mistakes_are_sentences() -> None:
    picture = odd.photo()
    for arguments, words in (
        ((picture, 32, 'squash'), 'resize mode among stretch, pad, crop'),
        ((picture, 32, 'pad', 'lanczos'), 'resize filter among antialiased, official, official_train'),
        ((picture, 0), 'at least 1 pixel, got 0'),
        ((picture[..., 0], 32), r'got uint8 \[24, 32\]'),
        ((picture.astype(np.float32), 32), 'got float32'),
    ):
        with pytest.raises(UserError, match=words):
            resize(*arguments)
    with pytest.raises(UserError, match='32 x 32'):
        restore(np.ones((16, 16, 3), np.float32), plan_geometry(9, 9, 32, 'pad'))
