"""Calibration pictures: which are read, in what order, and what is said about the rest."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from ugatit.data.convert import to_float
from ugatit.data.decode import decode_file
from ugatit.data.resize import resize
from ugatit.diagnosis.pictures import noise_pictures, read_pictures, trained_size
from ugatit.errors import UserError


def test_sorted_stretched_and_limited(pictures: pathlib.Path) -> None:
    found = read_pictures([pictures / '2.png', pictures], 16, most=2)
    assert [path.name for path in found.paths] == ['0.png', '1.png'] and found.failures == ()
    wanted = to_float(resize(decode_file(pictures / '0.png').pixels, 16).pixels)
    assert np.array_equal(found.images[0], wanted) and found.images.dtype == np.float32


def test_broken_ones_are_named_and_the_rest_is_used(pictures: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'bad.png').write_bytes(b'no picture')
    found = read_pictures([tmp_path, pictures], 16)
    assert len(found.images) == 3 and len(found.failures) == 1 and 'bad.png' in found.failures[0]


def test_nothing_readable(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'bad.png').write_bytes(b'no picture')
    with pytest.raises(UserError, match='None of the 1 pictures'):
        read_pictures([tmp_path], 16)


def test_noise_is_seeded_and_in_range() -> None:
    noise = noise_pictures(3, 18)
    assert noise.shape == (3, 18, 18, 3) and noise.dtype == np.float32
    assert np.array_equal(noise, noise_pictures(3, 18)) and np.abs(noise).max() <= 1.0 and noise.std() > 0.3


def test_trained_size(checkpoint: pathlib.Path) -> None:
    assert trained_size(checkpoint, 'a2b') == 16
    assert trained_size(checkpoint, 'b2a', 32) == 32
