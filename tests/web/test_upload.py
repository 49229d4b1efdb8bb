"""What people send: read exactly as infer.py reads it, or refused in a sentence that a visitor understands."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Callable

import numpy as np
import pytest

from tests import bad_pictures
from tests.data import odd_files as odd
from ugatit.errors import UserError
from ugatit.inference.inputs import Input, prepare
from ugatit.inference.settings import Settings
from ugatit.web.settings import MEGABYTE, SMALLEST_EDGE, PageSettings
from ugatit.web.upload import Upload, read_upload

pytestmark = pytest.mark.filterwarnings('ignore::UserWarning:PIL')

SIZE = 32
Send = Callable[[str, bytes], Upload]
TINY = {'white', 'black', '1 x 1', 'invisible', 'no pixels'}  # refused for their size here, or flat: see below
SMALL = {'sliver', 'two pixels'}
LARGE = odd.photo(64, 96)


def _read(upload: Upload, resize: str = 'crop', **settings: object):
    return read_upload(upload, SIZE, resize, 'off', PageSettings(**settings))


@pytest.mark.parametrize('kind', sorted(set(bad_pictures.BROKEN) - TINY - {'bomb'}))
def test_broken_files_get_infers_sentence(send: Send, kind: str) -> None:
    file, sentence = bad_pictures.BROKEN[kind]
    with pytest.raises(UserError) as refused:
        _read(send(file.name, file.content()))
    assert str(refused.value).startswith(f'{file.name}: ') and re.search(sentence, str(refused.value))
    assert 'upload-' not in str(refused.value)  # where it lies on this machine is nobody's business


@pytest.mark.parametrize('kind', sorted(set(bad_pictures.ODD) - SMALL))
def test_odd_files_are_read_as_infer_reads_them(send: Send, kind: str) -> None:
    file, _ = bad_pictures.ODD[kind]
    upload = send(file.name, file.content())
    path = pathlib.Path(upload.path)
    there = prepare(Input(path, pathlib.PurePath(path.name)), SIZE, Settings(resize='pad'))
    here = _read(upload, 'pad')
    assert np.array_equal(here.square, there.square) and here.geometry == there.geometry
    assert [w.partition(': ')[2] for w in here.warnings] == [w.partition(': ')[2] for w in there.warnings]


@pytest.mark.parametrize(
    ('height', 'width'), [(5000, 1), (1, 5000), (SMALLEST_EDGE - 1, 400), (400, SMALLEST_EDGE - 1)]
)
def test_slivers_are_refused(send: Send, height: int, width: int) -> None:
    upload = send('strip.png', odd.encode(np.zeros((height, width, 3), np.uint8)))
    with pytest.raises(UserError, match=f'strip.png: expected at least 16 pixels .*, found {width} x {height}'):
        _read(upload)


def test_the_smallest_that_is_taken(send: Send) -> None:
    assert _read(send('a.png', odd.encode(odd.photo(SMALLEST_EDGE, SMALLEST_EDGE)))).square.shape == (SIZE, SIZE, 3)


def test_too_many_bytes(send: Send) -> None:
    data = odd.encode(LARGE)
    padded = data + bytes(MEGABYTE - len(data))
    assert _read(send('a.png', padded), max_megabytes=1).square.shape == (SIZE, SIZE, 3)
    with pytest.raises(UserError, match='big.png: expected at most 1 MB, found 1.0 MB: make the picture smaller'):
        _read(send('big.png', padded + b'\0'), max_megabytes=1)


def test_too_many_pixels(send: Send) -> None:
    upload = send('a.png', odd.encode(LARGE))
    assert _read(upload, max_pixels=64 * 96).square.shape == (SIZE, SIZE, 3)
    with pytest.raises(UserError, match=r'a.png: expected at most 6143 pixels, found 6144 \(96 x 64\)'):
        _read(upload, max_pixels=64 * 96 - 1)


def test_a_bomb_is_refused_before_it_is_decoded(send: Send) -> None:
    with pytest.raises(UserError, match='expected at most 50000000 pixels, found 2000000000'):
        _read(send('bomb.png', bad_pictures.BROKEN['bomb'][0].content()))


def test_no_picture_and_one_that_is_deleted_by_now(send: Send) -> None:
    with pytest.raises(UserError, match='There is no picture yet'):
        _read(None)
    upload = send('a.png', odd.encode(LARGE))
    os.remove(upload.path)
    with pytest.raises(UserError, match='a.png: this picture has been deleted here, .*choose it again'):
        _read(upload)


def test_use_puts_off_the_deletion(send: Send) -> None:
    upload = send('a.png', odd.encode(LARGE))
    os.utime(upload.path, (0, 0))
    _read(upload)
    assert os.stat(upload.path).st_mtime > 1e9


def test_names_are_text_only(send: Send) -> None:
    upload = send('two\nlines \udce9.png', b'')
    with pytest.raises(UserError) as refused:
        _read(upload)
    assert str(refused.value).isprintable()
