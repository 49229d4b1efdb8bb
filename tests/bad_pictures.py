"""Files that users call pictures: broken ones with the sentence each gets, and odd ones that must just work."""

from __future__ import annotations

import io
import struct
from typing import Callable, Dict, NamedTuple, Tuple, Union

import numpy as np
from PIL import Image

from tests.data import odd_files as odd

PHOTO = odd.photo(40, 50)


class File(NamedTuple):
    """A file's name and content."""

    name: str
    data: Union[bytes, Callable[[], bytes]]

    def content(self) -> bytes:
        return self.data if isinstance(self.data, bytes) else self.data()


def _half(kind: str, **options) -> bytes:
    data = odd.encode(PHOTO, kind, **options)
    return data[: len(data) // 2]


def _media(brand: bytes) -> bytes:
    return struct.pack('>I', 24) + b'ftyp' + brand + b'\0\0\0\0mif1' + brand


def _corrupt_png() -> bytes:
    data = bytearray(odd.encode(PHOTO))
    data[data.index(b'IDAT') + 30] ^= 0xFF
    return bytes(data)


def _float_tiff(values: np.ndarray) -> bytes:
    return odd.tiff(values.astype(np.float32), odd.TIFF_BLACK_IS_ZERO, odd.TIFF_FLOAT)


BROKEN: Dict[str, Tuple[File, str]] = {
    'empty': (File('empty.jpg', b''), r'empty.jpg: expected a picture .* found an empty file \(0 bytes\): copy'),
    'web page': (File('page.jpg', b'<!DOCTYPE html><html>404</html>'), r'found an HTML page: the download probably'),
    'text': (File('words.png', b'just words\n'), r'found a text file: give a picture'),
    'svg': (File('drawing.png', b'<svg xmlns="x"></svg>'), r'found an SVG file: export it as PNG'),
    'pdf': (File('scan.jpg', b'%PDF-1.7 \x80'), r'found a PDF file: export the page as PNG'),
    'zip': (File('photos.jpg', b'PK\x03\x04\x14\0'), r'found a ZIP file: unpack it first'),
    'gzip': (File('packed.png', b'\x1f\x8b\x08\0'), r'found a gzip file: unpack it first'),
    'avif': (File('phone.avif', _media(b'avif')), r'found an AVIF file: convert it to JPEG or PNG'),
    'jpeg xl': (File('new.jxl', b'\xff\x0a\xfa\x1f'), r'found a JPEG XL file: convert it'),
    'jpeg 2000': (File('new.jp2', b'\0\0\0\x0cjP  \r\n\x87\n'), r'found a JPEG 2000 file: convert it'),
    'photoshop': (File('layers.png', b'8BPS\0\1'), r'found a Photoshop file: export it as PNG'),
    'video': (File('clip.jpg', b'\0\0\0\x18ftypmp42\0\0\0\0'), r'found an MP4 video: extract its frames'),
    'sound': (File('clip.webp', b'RIFF\0\0\0\0WAVEfmt '), r'found a RIFF sound or video'),
    'lfs pointer': (File('pointer.png', b'version https://git-lfs.github.com/spec/v1\n'), r'run: git lfs pull'),
    'numpy': (File('array.png', b'\x93NUMPY\x01\0'), r'found a NumPy array'),
    'zeros': (File('zeros.bmp', b'\0' * 600), r'unknown content \(it begins with the bytes 0000000000000000\)'),
    'cut jpeg': (File('cut.jpg', _half('JPEG')), r'cut.jpg: expected a complete JPEG picture, but it is'),
    'cut png': (File('cut.png', _half('PNG')), r'expected a complete PNG picture'),
    'cut webp': (File('cut.webp', _half('WEBP')), r'expected a complete W\w+ picture'),
    'cut tiff': (File('cut.tif', _half('TIFF')), r'expected a complete TIFF picture'),
    'cut bmp': (File('cut.bmp', _half('BMP')), r'expected a complete BMP picture'),
    'cut gif': (File('cut.gif', _half('GIF')), r'expected a complete GIF picture'),
    'only a head': (File('head.jpg', b'\xff\xd8\xff\xe0'), r'expected a complete JPEG picture'),
    'wrong checksum': (File('crc.png', _corrupt_png()), r'expected a complete PNG picture'),
    'no pixels': (File('none.png', odd.png(0, 0, 8, odd.PNG_RGB, b'')), r'none.png: expected'),
    'bomb': (
        File('bomb.png', odd.png(50_000, 40_000, 8, odd.PNG_GREY, b'')),
        r'at most 100000000 pixels, found 2000000000 \(50000 x 40000\).*--max_pixels=2000000000',
    ),
    'negative grey': (
        File('signed.tif', odd.tiff(np.arange(-50, 50, dtype=np.int32).reshape(10, 10), 1, odd.TIFF_SIGNED)),
        r'expected grey values of 0 or more, found -50..49',
    ),
    'nan': (File('nan.tif', _float_tiff(np.full((8, 8), np.nan))), r'expected finite values, found 64 NaN'),
    'white': (File('white.png', odd.encode(np.full((9, 9, 3), 255, np.uint8))), r'flat colour, and so is the result'),
    'black': (File('black.png', odd.encode(np.zeros((9, 9, 3), np.uint8))), r'there is nothing to translate'),
    '1 x 1': (File('dot.png', odd.encode(PHOTO[:1, :1])), r'one flat colour'),
    'invisible': (File('clear.png', odd.encode(np.zeros((4, 4, 4), np.uint8))), r'one flat colour'),
}  # fmt: skip


def _oriented() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return odd.encode_image(Image.fromarray(PHOTO), 'JPEG', exif=exif)


def _animation() -> bytes:
    frames = [Image.fromarray(PHOTO), Image.fromarray(PHOTO[::-1].copy())]
    return odd.encode_image(frames[0], 'GIF', save_all=True, append_images=frames[1:])


def _rgba() -> np.ndarray:
    return np.dstack([PHOTO, PHOTO[..., 0]])


def _with_tail() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(PHOTO).save(buffer, 'PNG')
    return buffer.getvalue() + b'trailing words that some uploaders append'


GREY16 = (np.arange(2000).reshape(40, 50) * 32).astype(np.uint16)

ODD: Dict[str, Tuple[File, str]] = {  # the regex is of a warning; empty: none may come
    'turned': (File('phone.jpg', _oriented()), ''),
    'grey': (File('grey.jpg', odd.encode(PHOTO[..., 0], 'JPEG')), ''),
    '16-bit grey': (File('scan.png', odd.encode(GREY16)), ''),
    '12 bits in 16': (File('low.png', odd.encode(GREY16 // 16)), r'low.png: low range: .* read as 12-bit'),
    '16-bit colour': (File('deep.png', odd.png16(PHOTO.astype(np.uint16) * 257, odd.PNG_RGB)), ''),
    'float': (File('float.tif', _float_tiff(PHOTO[..., 0] / 255.0)), ''),
    'palette': (File('palette.png', odd.encode_image(Image.fromarray(PHOTO).quantize(16))), ''),
    '1-bit': (File('fax.tif', odd.encode_image(Image.fromarray(PHOTO[..., 0] > 99), 'TIFF')), ''),
    'transparent': (File('logo.png', odd.encode(_rgba())), ''),
    'grey and alpha': (File('la.png', odd.encode(PHOTO[..., :2])), ''),
    'cmyk': (File('print.jpg', odd.encode_image(odd.with_mode(odd.cmyk(PHOTO), 'CMYK'), 'JPEG')), ''),
    'ycck': (File('photoshop.jpg', odd.ycck_jpeg(PHOTO)), ''),
    'progressive': (File('web.jpg', odd.encode(PHOTO, 'JPEG', progressive=True)), ''),
    'webp': (File('web.webp', odd.encode(PHOTO, 'WEBP')), ''),
    'bmp': (File('old.bmp', odd.encode(PHOTO, 'BMP')), ''),
    'lzw': (File('scan.tiff', odd.encode(PHOTO, 'TIFF', compression='tiff_lzw')), ''),
    'animation': (File('dance.gif', _animation()), r'dance.gif: the file holds several frames .* first is used'),
    'wrong extension': (File('really_png.jpg', odd.encode(PHOTO)), ''),
    'no extension': (File('IMG_0001', odd.encode(PHOTO, 'JPEG')), ''),
    'strange extension': (File('photo.2024', odd.encode(PHOTO, 'JPEG')), ''),
    'upper case': (File('DSC.JPG', odd.encode(PHOTO, 'JPEG')), ''),
    'unicode': (File('写真 café.png', odd.encode(PHOTO)), ''),
    'markup': (File("<b>&'.png", odd.encode(PHOTO)), ''),
    'brackets': (File('photo [1].png', odd.encode(PHOTO)), ''),
    'star': (File('a*?.png', odd.encode(PHOTO)), ''),
    'line end': (File('two\nlines.png', odd.encode(PHOTO)), ''),
    'no text': (File('caf\udce9.png', odd.encode(PHOTO)), ''),
    'like a flag': (File('--help.png', odd.encode(PHOTO)), ''),
    'many dots': (File('a.b..c.png', odd.encode(PHOTO)), ''),
    'trailing bytes': (File('tail.png', _with_tail()), ''),
    'sliver': (File('sliver.png', odd.encode(odd.photo(3, 500))), ''),
    'two pixels': (File('two.png', odd.encode(PHOTO[::20, ::39])), ''),
    'bad exif': (File('exif.jpg', odd.encode(PHOTO, 'JPEG', exif=b'Exif\0\0MM\0*\xff\xff\xff\xff')), None),
}  # fmt: skip
