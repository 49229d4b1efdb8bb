"""What cannot be read is refused in one sentence: expected, arrived, what to do."""

from __future__ import annotations

import io
import os
import struct
import sys

import numpy as np
import pytest
from PIL import Image

from tests import tolerances
from tests.data import odd_files as odd
from tests.data.odd_files import levels
from ugatit.data.decode import decode_file, decode_image
from ugatit.errors import UserError

PHOTO = odd.photo()


FILES = {
    'JPEG': odd.encode(odd.photo(64, 64), 'JPEG', quality=90),
    'PNG': odd.encode(odd.photo(64, 64), 'PNG'),
    'WEBP': odd.encode(odd.photo(64, 64), 'WEBP'),
    'BMP': odd.encode(odd.photo(64, 64), 'BMP'),
    'TIFF': odd.encode(odd.photo(64, 64), 'TIFF'),
    'LZW': odd.encode(odd.photo(64, 64), 'TIFF', compression='tiff_lzw'),
    'GIF': odd.encode_image(Image.fromarray(odd.photo(64, 64)).quantize(200), 'GIF'),
}


@pytest.mark.filterwarnings('ignore::UserWarning:PIL')
@pytest.mark.parametrize('kind', FILES)
def test_truncated_files_are_refused(kind: str) -> None:
    with pytest.raises(UserError, match='broken or truncated'):
        decode_image(FILES[kind][: len(FILES[kind]) // 2])


@pytest.mark.filterwarnings('ignore::UserWarning:PIL')
@pytest.mark.parametrize('kind', FILES)
def test_damaged_files_give_a_picture_or_a_sentence(kind: str) -> None:
    random = np.random.RandomState(7)
    for _ in range(60):
        data = bytearray(FILES[kind])
        for position in random.randint(8, min(len(data), 400), size=3):
            data[position] = random.randint(256)
        try:
            assert decode_image(bytes(data), max_pixels=10**6).pixels.ndim == 3
        except UserError as error:
            assert str(error).startswith('expected')


def test_decompression_bomb_names_count_and_flag() -> None:
    bomb = odd.png(50_000, 40_000, 8, odd.PNG_GREY, b'')
    with pytest.raises(UserError, match=r'2000000000 \(50000 x 40000\).*--max_pixels=2000000000'):
        decode_image(bomb)


def test_the_limit_is_ours_and_not_pillows(monkeypatch) -> None:
    monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', 10)
    data = odd.encode(PHOTO)
    assert decode_image(data, max_pixels=PHOTO.size // 3).pixels.shape == PHOTO.shape
    with pytest.raises(UserError, match='--max_pixels=768'):
        decode_image(data, max_pixels=767)


HEIC = struct.pack('>I', 24) + b'ftypheic\0\0\0\0mif1heic'
AVIF = struct.pack('>I', 28) + b'ftypmif1\0\0\0\0mif1avifmiaf'


@pytest.mark.parametrize(('data', 'words'), [
    (b'', 'empty file'),
    (b'<!DOCTYPE html><html><body>404</body></html>', 'an HTML page.*download'),
    (b'\xef\xbb\xbf\n  <HTML>', 'an HTML page'),
    (b'<?xml version="1.0"?><svg xmlns="x">', 'an SVG file.*export'),
    (b'just some words\n', 'a text file'),
    (b'%PDF-1.7 \x80', 'a PDF file'),
    (b'PK\x03\x04\x14\0', 'a ZIP file.*unpack'),
    (b'\0\0\0\x18ftypmp42\0\0\0\0', 'an MP4 video'),
    (b'version https://git-lfs.github.com/spec/v1\n', 'Git LFS pointer.*git lfs pull'),
    (b'\xff\x0a\xfa\x1f', 'a JPEG XL file.*convert'),
    (b'RIFF\0\0\0\0WAVEfmt ', 'a RIFF sound or video'),
    (b'\0' * 64, r'unknown content \(it begins with the bytes 0000000000000000\)'),
    (AVIF, 'an AVIF file: convert it to JPEG or PNG'),
    (b'\xff\xd8\xff', 'broken or truncated'),
    (b'\x89PNG\r\n\x1a\n', 'broken or truncated'),
    (b'GIF89a', 'broken or truncated'),
    (b'RIFF\x04\0\0\0WEBP', 'broken or truncated'),
    (b'BM', 'broken or truncated'),
    (b'II*\0', 'broken or truncated'),
])  # fmt: skip
def test_what_is_no_picture_is_named(data: bytes, words: str) -> None:
    with pytest.raises(UserError, match=words):
        decode_image(data)


def test_heic_is_refused_with_a_hint_unless_the_package_is_there(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, 'pillow_heif', None)
    with pytest.raises(UserError, match='an HEIC file: convert it to JPEG or PNG, or: pip install pillow-heif'):
        decode_image(HEIC)


def test_heic_is_read_with_the_package() -> None:
    heif = pytest.importorskip('pillow_heif', reason='HEIC is read only where pillow-heif is installed')
    buffer = io.BytesIO()
    heif.from_pillow(Image.fromarray(odd.photo(64, 64))).save(buffer, quality=95)
    assert levels(decode_image(buffer.getvalue()).pixels, odd.photo(64, 64)) <= 2 * tolerances.JPEG_LEVELS


@pytest.mark.parametrize('colour', ['whitish', '#12', 7, None])
def test_bad_backgrounds(colour) -> None:
    with pytest.raises(UserError, match='background'):
        decode_image(odd.encode(PHOTO), background=colour)


def test_messages_and_warnings_name_the_file(tmp_path) -> None:
    broken, low = tmp_path / 'broken\n写真.jpg', tmp_path / 'low.png'
    broken.write_bytes(FILES['JPEG'][:600])
    low.write_bytes(odd.encode(np.full((4, 4), 4095, np.uint16)))
    with pytest.raises(UserError, match=r'broken\\n写真.jpg: expected a complete JPEG picture') as caught:
        decode_file(broken)
    assert '\n' not in str(caught.value)
    assert decode_file(low).warnings[0].startswith(str(low))


@pytest.mark.parametrize('name', ['missing.png', '.'])
def test_unreadable_paths(name: str, tmp_path) -> None:
    with pytest.raises(UserError, match='check the path'):
        decode_file(tmp_path / name)


def test_names_that_are_no_text(tmp_path) -> None:
    path = bytes(tmp_path) + b'/caf\xe9.png'
    with pytest.raises(UserError, match=r'caf\\xe9.png') as caught:
        decode_file(os.fsdecode(path))
    str(caught.value).encode('utf-8')
