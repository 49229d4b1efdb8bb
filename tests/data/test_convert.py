"""8-bit and back without loss, results that are no pictures, and files that are whole or not there."""

from __future__ import annotations

import os
from typing import Tuple

import numpy as np
import pytest

from tests.data import odd_files as odd
from ugatit.data import convert
from ugatit.data.convert import check_picture, save_png, to_float, to_uint8, write_file
from ugatit.data.decode import decode_file
from ugatit.errors import UserError


def test_all_256_values_return() -> None:
    every = np.arange(256, dtype=np.uint8)
    values = to_float(every)
    assert values.dtype == np.float32 and values[0] == -1 and values[-1] == 1
    assert np.array_equal(to_uint8(values), every)


def test_rounding_is_to_nearest_and_clips() -> None:
    levels = np.array([-0.2, 0.49, 0.51, 99.4, 99.6, 254.51, 300.0])
    assert to_uint8(levels / 127.5 - 1).tolist() == [0, 0, 1, 99, 100, 255, 255]


def test_saved_pictures_of_the_official_code_differ_by_its_truncation(golden) -> None:
    recorded = np.load(golden / 'image_io.npz')
    ours = to_uint8(np.concatenate(recorded['save/images'])).astype(int) - recorded['save/decoded_rgb']
    assert set(np.unique(ours)) <= {0, 1}


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_non_finite_results_are_named(bad) -> None:
    picture = to_float(odd.photo())
    picture[3, 4, 1] = bad
    assert '1 NaN or infinite values of 2304' in check_picture(picture)
    with pytest.raises(UserError, match='NaN'):
        to_uint8(picture)


@pytest.mark.parametrize('colour', [[-1, -1, -1], [1, 1, 1], [0.2, -0.4, 0.6]])
def test_flat_results_are_named(colour) -> None:
    flat = np.tile(np.array(colour, np.float32), (8, 8, 1))
    assert 'flat colour' in check_picture(flat)
    assert 'flat colour' in check_picture(flat + np.random.uniform(0, 1e-3, flat.shape).astype(np.float32))


def test_pictures_pass() -> None:
    assert check_picture(to_float(odd.photo())) is None
    dark = np.full((8, 8, 3), -1, np.float32)
    dark[0, 0, 0] = -0.9
    assert check_picture(dark) is None


@pytest.mark.parametrize('name', ['写真 café.png', 'new/deep/x.png', 'x' * 250 + '.png'])
def test_save_round_trips(tmp_path, name) -> None:
    save_png(tmp_path / name, odd.photo())
    assert np.array_equal(decode_file(tmp_path / name).pixels, odd.photo())
    assert len(list((tmp_path / name).parent.iterdir())) == 1


def test_a_bare_name_is_written_to_the_current_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_png('out.png', odd.photo())
    assert os.listdir('.') == ['out.png']


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch) -> None:
    target = tmp_path / 'x.png'
    write_file(target, b'old')

    def fail(source, destination):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(convert.os, 'replace', fail)
    with pytest.raises(UserError, match='x.png, but: No space left'):
        save_png(target, odd.photo())
    assert target.read_bytes() == b'old' and os.listdir(tmp_path) == ['x.png']


def test_unwritable_places_are_sentences(tmp_path) -> None:
    (tmp_path / 'file').write_text('')
    for place in (tmp_path / 'file' / 'x.png', tmp_path):
        with pytest.raises(UserError, match='expected to write|must be an ordinary file'):
            save_png(place, odd.photo())
    with pytest.raises(UserError, match='to_uint8'):
        save_png(tmp_path / 'x.png', to_float(odd.photo()))


@pytest.mark.parametrize('shape', [(1, 1, 3), (7, 5, 3), (4, 4, 1)])
def test_the_range_of_every_channel(shape: Tuple[int, int, int]) -> None:
    picture = np.random.RandomState(0).randint(0, 256, shape).astype(np.uint8)
    low, high = convert.channel_range(picture)
    np.testing.assert_array_equal(low, picture.min(axis=(0, 1)))
    np.testing.assert_array_equal(high, picture.max(axis=(0, 1)))
