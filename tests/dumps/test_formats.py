"""Storage formats back to plain order, padding removed, in blocks of any size."""

from __future__ import annotations

import pathlib
from typing import Tuple

import numpy as np
import pytest

from tests.dumps.made import npu_file
from ugatit.dumps import formats
from ugatit.dumps.dtypes import DATA_TYPES, data_type, unpack
from ugatit.dumps.layout import blocks, whole
from ugatit.dumps.tensors import TensorRef
from ugatit.dumps.writer import Tensor
from ugatit.errors import UserError

_CASES = [
    (formats.NC1HWC0, (1, 5, 7, 20)),
    (formats.NC1HWC0, (2, 33, 9, 3)),
    (formats.NC1HWC0, (3, 2, 2, 16)),
    (formats.FRACTAL_NZ, (37, 50)),
    (formats.FRACTAL_NZ, (3, 17, 16)),
    (formats.FRACTAL_NZ, (2, 3, 16, 33)),
    (formats.FRACTAL_Z, (3, 3, 20, 33)),
    (formats.FRACTAL_Z, (7, 7, 3, 16)),
    (formats.NCHW, (2, 4, 5, 6)),
    (formats.NHWC, (2, 4, 5, 6)),
    (formats.HWCN, (3, 3, 5, 6)),
    (formats.ND, (7,)),
    (formats.ND, ()),
]


@pytest.mark.parametrize('limit', [1, 10, 100, 1 << 20])
@pytest.mark.parametrize(('number', 'shape'), _CASES)
def test_what_was_packed_is_unpacked(number: int, shape: Tuple[int, ...], limit: int, tmp_path: pathlib.Path) -> None:
    values = np.random.RandomState(1).normal(0, 1, shape).astype(np.float16)
    npu_file(tmp_path / 'x', [Tensor(np.asarray(values), number)])
    tensor = TensorRef(tmp_path / 'x', 'dump').open()
    found = np.concatenate(list(tensor.blocks(limit)))
    assert np.array_equal(found, np.asarray(values).ravel())
    assert np.prod(tensor.shape, dtype=int) == values.size
    assert not tensor.padded


def test_three_dimensional_tiles() -> None:
    values = np.arange(2 * 3 * 4 * 5 * 20, dtype=np.int32).reshape(2, 3, 4, 5, 20)
    padded = np.pad(values, [(0, 0)] * 4 + [(0, 12)]).reshape(2, 3, 4, 5, 2, 16).transpose(0, 1, 4, 2, 3, 5)
    layout = formats.to_layout(padded.ravel(), formats.NDC1HWC0, padded.shape, values.shape)
    assert np.array_equal(whole(layout), values)
    kernel = np.arange(2 * 3 * 3 * 20 * 5, dtype=np.int32).reshape(2, 3, 3, 20, 5)  # D, H, W, C, N
    tiles = np.pad(kernel, [(0, 0)] * 3 + [(0, 12), (0, 11)]).reshape(2, 3, 3, 2, 16, 1, 16)
    tiles = tiles.transpose(0, 3, 1, 2, 5, 6, 4).reshape(-1, 1, 16, 16)
    layout = formats.to_layout(tiles.ravel(), formats.FRACTAL_Z_3D, tiles.shape, kernel.shape)
    assert np.array_equal(np.concatenate(list(blocks(layout, 50))), kernel.ravel())


def test_channels_first_originals() -> None:
    values = np.arange(1 * 5 * 5 * 5, dtype=np.int32).reshape(1, 5, 5, 5)  # N, H, W, C: any order would fit
    padded = np.pad(values, [(0, 0)] * 3 + [(0, 11)]).reshape(1, 5, 5, 1, 16).transpose(0, 3, 1, 2, 4)
    for original_format in (formats.NCHW, formats.NHWC):
        layout = formats.to_layout(padded.ravel(), formats.NC1HWC0, padded.shape, (1, 5, 5, 5), original_format)
        assert np.array_equal(whole(layout), values)
    layout = formats.to_layout(padded.ravel(), formats.NC1HWC0, padded.shape, (1, 3, 5, 5), formats.NHWC)
    assert layout.shape == (1, 5, 5, 3)  # only as [N, C, H, W]


def test_unknown_padding_is_kept_and_told(tmp_path: pathlib.Path) -> None:
    flat = np.zeros(2 * 4 * 16, np.float16)
    assert formats.to_layout(flat, formats.NC1HWC0, (1, 2, 2, 2, 16)).shape == (1, 2, 2, 32)


@pytest.mark.parametrize(
    ('number', 'shape', 'original', 'words'),
    [
        (formats.NC1HWC0, (1, 2, 2, 2, 16), (1, 2, 2, 40), 'does not fit'),
        (formats.NC1HWC0, (4, 32), (4, 32), '2 dimensions; it has 5'),
        (formats.FRACTAL_NZ, (1, 1, 8, 16), (20, 3), 'does not fit'),
        (formats.FRACTAL_Z, (1, 1, 8, 16), (), 'needs its original shape'),
        (formats.FRACTAL_Z, (1, 1, 8, 16), (3, 3, 1, 1), 'does not fit'),
        (formats.ND, (3, 3), (), '9 elements, but 128'),
        (13, (128,), (), 'cannot be unpacked'),
    ],
)
def test_what_does_not_fit_is_refused(number: int, shape: tuple, original: tuple, words: str) -> None:
    with pytest.raises(UserError, match=words):
        formats.to_layout(np.zeros(128, np.float16), number, shape, original)


def test_every_data_type_has_a_size_or_a_reason() -> None:
    for number in range(64):
        kind = data_type(number)
        if kind.storage is None:
            with pytest.raises(UserError, match='numbers'):
                kind.bytes_of(8)
        else:
            assert kind.bytes_of(8) >= 1
    assert {DATA_TYPES[n].bytes_of(8) for n in (28, 29, 30)} == {4, 1, 2}
    assert DATA_TYPES[17].bytes_of(1) == 16


def test_packed_integers(tmp_path: pathlib.Path) -> None:
    assert list(unpack(np.array([0xF1], np.uint8), data_type(28))) == [1, -1]
    assert list(unpack(np.array([0b10000001], np.uint8), data_type(29))) == [1, 0, 0, 0, 0, 0, 0, 1]
    assert list(unpack(np.array([0b11100100], np.uint8), data_type(31))) == [0, 1, 2, 3]
    assert list(unpack(np.array([0b11100100], np.uint8), data_type(30))) == [0, 1, -2, -1]
