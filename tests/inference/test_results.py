"""What is written: pictures at the right size, maps over the right part, all files of an input or none."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tests import tolerances
from tests.data import odd_files as odd
from ugatit.data.convert import to_float, to_uint8
from ugatit.data.decode import decode_file
from ugatit.data.resize import plan_geometry, resize
from ugatit.errors import UserError
from ugatit.inference import results
from ugatit.inference.inputs import Prepared
from ugatit.inference.outputs import OutputFiles
from ugatit.inference.results import Result, finished_heatmap, finished_picture, write_result
from ugatit.inference.settings import Settings

SIZE = 16


def _prepared(pixels: np.ndarray, mode: str = 'stretch') -> Prepared:
    resized = resize(pixels, SIZE, mode)
    flat = bool((pixels == pixels[0, 0]).all())
    return Prepared(to_float(resized.pixels), resized.geometry, flat, (), None)


def _files(folder: pathlib.Path) -> OutputFiles:
    return OutputFiles(folder / 'a.png', folder / 'a_heatmap.png', folder / 'a.npy')


IMAGE = to_float(odd.photo(SIZE, SIZE))
MAP = np.arange(16, dtype=np.float32).reshape(4, 4)


def test_all_three_files(tmp_path: pathlib.Path) -> None:
    settings = Settings(heatmap=True, arrays=True, thumbnails=True)
    small = write_result(_prepared(odd.photo()), Result(IMAGE, MAP), _files(tmp_path), settings)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['a.npy', 'a.png', 'a_heatmap.png']
    assert np.array_equal(np.load(tmp_path / 'a.npy'), IMAGE)
    assert np.array_equal(decode_file(tmp_path / 'a.png').pixels, to_uint8(IMAGE))
    assert decode_file(tmp_path / 'a_heatmap.png').pixels.shape == (SIZE, SIZE, 3)
    assert small.picture.shape == small.heatmap.shape == (SIZE, SIZE, 3)


@pytest.mark.parametrize(
    ('mode', 'expected'), [('stretch', (360, 640)), ('pad', (360, 640)), ('crop', (360, 360)), ]
)  # fmt: skip
def test_keep_size(tmp_path: pathlib.Path, mode: str, expected: tuple) -> None:
    settings = Settings(resize=mode, keep_size=True, heatmap=True)
    prepared = _prepared(odd.photo(360, 640), mode)
    files = OutputFiles(tmp_path / 'a.png', tmp_path / 'a_heatmap.png')
    write_result(prepared, Result(IMAGE, MAP), files, settings)
    assert decode_file(files.picture).pixels.shape[:2] == expected
    assert decode_file(files.heatmap).pixels.shape[:2] == expected


def test_strips_and_channels_give_what_the_whole_gives() -> None:
    geometry = plan_geometry(1200, 30, SIZE, 'pad')
    whole = to_uint8(results.restore(IMAGE, geometry))
    assert np.array_equal(finished_picture(IMAGE, geometry, True), whole)


def test_a_circle_stays_a_circle() -> None:
    """640 x 360 through pad and back, as large as it was and undistorted: the disc's axes are equal."""
    y, x = np.mgrid[0:360, 0:640]
    disc = np.where(np.hypot(y - 180, x - 320) < 120, 255, 0).astype(np.uint8)
    resized = resize(odd.grey_rgb(disc), 64, 'pad')
    back = finished_picture(to_float(resized.pixels), resized.geometry, True)[..., 0] > 127
    assert back.shape == (360, 640)
    assert abs(int(back[180].sum()) - int(back[:, 320].sum())) <= tolerances.CIRCLE_PIXELS


def test_the_map_lies_over_the_input_that_the_network_saw() -> None:
    prepared = _prepared(odd.photo(40, 80), 'pad')
    hot = np.zeros((4, 4), np.float32)
    hot[:, 3] = 1.0  # the right edge of the square
    kept = finished_heatmap(prepared, hot, True)
    assert kept.shape == (40, 80, 3)
    red_excess = kept[..., 0].astype(int) - kept[..., 2]
    assert red_excess[:, -8:].mean() > red_excess[:, :8].mean()


@pytest.mark.parametrize(
    ('image', 'sentence'),
    [
        (np.where(np.arange(768).reshape(SIZE, SIZE, 3) == 5, np.nan, IMAGE), '1 NaN or infinite values of 768'),
        (np.full((SIZE, SIZE, 3), np.inf, np.float32), '768 NaN or infinite'),
        (np.zeros((SIZE, SIZE, 3), np.float32), 'one flat colour'),
    ],
)
def test_no_black_picture(tmp_path: pathlib.Path, image: np.ndarray, sentence: str) -> None:
    settings = Settings(heatmap=True, arrays=True)
    with pytest.raises(UserError, match=sentence):
        write_result(_prepared(odd.photo()), Result(image, MAP), _files(tmp_path), settings)
    assert list(tmp_path.iterdir()) == []


def test_a_flat_input_is_not_the_networks_fault(tmp_path: pathlib.Path) -> None:
    flat = _prepared(np.full((5, 5, 3), 255, np.uint8))
    with pytest.raises(UserError, match='it is one flat colour, and so is the result: there is nothing to translate'):
        write_result(flat, Result(np.zeros_like(IMAGE), MAP), _files(tmp_path), Settings())


def test_an_infinite_map_fails_before_anything_is_written(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match='expected a finite heat map'):
        write_result(
            _prepared(odd.photo()), Result(IMAGE, np.full_like(MAP, np.inf)), _files(tmp_path), Settings(heatmap=True)
        )
    assert list(tmp_path.iterdir()) == []


def test_a_constant_map_divides_by_nothing(tmp_path: pathlib.Path) -> None:
    assert np.isfinite(finished_heatmap(_prepared(odd.photo()), np.ones((4, 4), np.float32), False)).all()


def test_what_was_written_before_an_error_goes_again(tmp_path: pathlib.Path) -> None:
    files = _files(tmp_path)
    files.picture.mkdir()
    (files.picture / 'x').write_text('a folder in the way')
    with pytest.raises(UserError, match='must be an ordinary file, but .*a.png is a folder'):
        write_result(_prepared(odd.photo()), Result(IMAGE, MAP), files, Settings(heatmap=True, arrays=True))
    assert [path.name for path in tmp_path.iterdir()] == ['a.png']
