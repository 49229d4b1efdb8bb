"""Makes odd image files as bytes: what Pillow cannot write is put together by hand."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from PIL import Image

PNG_GREY, PNG_RGB, PNG_GREY_ALPHA, PNG_RGBA = 0, 2, 4, 6
TIFF_WHITE_IS_ZERO, TIFF_BLACK_IS_ZERO, TIFF_RGB = 0, 1, 2
TIFF_UNSIGNED, TIFF_SIGNED, TIFF_FLOAT = 1, 2, 3


def encode(pixels: np.ndarray, kind: str = 'PNG', **options) -> bytes:
    """A file as Pillow writes it."""
    return encode_image(Image.fromarray(pixels), kind, **options)


def encode_image(image: Image.Image, kind: str = 'PNG', **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def with_mode(values: np.ndarray, mode: str) -> Image.Image:
    """Bytes as an image of a mode that the array's shape does not tell."""
    return Image.frombytes(mode, (values.shape[1], values.shape[0]), values.tobytes())


def levels(left: np.ndarray, right: np.ndarray) -> int:
    """The largest difference of two pictures of one shape, in levels of 255."""
    assert left.shape == right.shape
    return int(np.abs(left.astype(int) - right.astype(int)).max())


def grey_rgb(grey: np.ndarray) -> np.ndarray:
    """[H, W] to [H, W, 3]."""
    return np.repeat(grey[..., None], 3, axis=-1)


def photo(height: int = 24, width: int = 32) -> np.ndarray:
    """A smooth colourful picture uint8 [height, width, 3], without symmetry."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    channels = (y / height, x / width, 0.5 + 0.5 * np.sin(x / 9 + y / 5))
    return np.rint(np.stack(channels, axis=-1) * 255).astype(np.uint8)


def png16(values: np.ndarray, colour_type: int) -> bytes:
    """A 16-bit PNG of uint16 [H, W] or [H, W, C]."""
    height, width = values.shape[:2]
    rows = b''.join(b'\0' + row.astype('>u2').tobytes() for row in values)
    return png(width, height, 16, colour_type, zlib.compress(rows))


def png(width: int, height: int, depth: int, colour_type: int, compressed: bytes) -> bytes:
    header = struct.pack('>IIBBBBB', width, height, depth, colour_type, 0, 0, 0)
    chunks = ((b'IHDR', header), (b'IDAT', compressed), (b'IEND', b''))
    return b'\x89PNG\r\n\x1a\n' + b''.join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def tiff(values: np.ndarray, photometric: int, sample_format: int = TIFF_UNSIGNED) -> bytes:
    """An uncompressed little-endian TIFF of any dtype, [H, W] or [H, W, 3]."""
    height, width = values.shape[:2]
    data, channels, bits = values.tobytes(), values.size // (height * width), values.dtype.itemsize * 8
    shorts, longs = 3, 4
    bits_at = 8 + len(data)  # three equal values don't fit into a tag and stand behind the pixels
    formats_at = bits_at + 6
    entries = [
        (256, longs, 1, width),
        (257, longs, 1, height),
        (258, shorts, channels, bits if channels == 1 else bits_at),
        (259, shorts, 1, 1),
        (262, shorts, 1, photometric),
        (273, longs, 1, 8),
        (277, shorts, 1, channels),
        (278, longs, 1, height),
        (279, longs, 1, len(data)),
        (339, shorts, channels, sample_format if channels == 1 else formats_at),
    ]
    tags = b''.join(struct.pack('<HHII', *entry) for entry in entries)
    triples = struct.pack('<6H', *[bits] * 3, *[sample_format] * 3)
    start = bits_at + len(triples)
    return (
        b'II*\0'
        + struct.pack('<I', start)
        + data
        + triples
        + struct.pack('<H', len(entries))
        + tags
        + struct.pack('<I', 0)
    )


def cmyk(rgb: np.ndarray) -> np.ndarray:
    """uint8 [H, W, 4] inks, full black replacement: rgb = (255 - ink) * (255 - black) / 255."""
    inks = 255 - rgb.astype(np.float64)
    black = inks.min(axis=-1, keepdims=True)
    rest = (inks - black) * 255.0 / np.maximum(255.0 - black, 1.0)
    return np.rint(np.concatenate([rest, black], axis=-1)).astype(np.uint8)


def ycck_jpeg(rgb: np.ndarray) -> bytes:
    """A JPEG as Photoshop writes CMYK: inks inverted, then turned into YCC, Adobe marker with transform 2."""
    inks = cmyk(rgb)
    # libjpeg computes stored C = 255 - R(Y, Cb, Cr), and the stored inks are inverted: R(Y, Cb, Cr) must be the ink.
    ycc = np.asarray(Image.fromarray(inks[..., :3]).convert('YCbCr'))
    stored = np.concatenate([ycc, 255 - inks[..., 3:]], axis=-1)
    data = encode_image(with_mode(255 - stored, 'CMYK'), 'JPEG', quality=98)  # Pillow inverts what it writes
    marker = data.index(b'Adobe')
    return data[: marker + 11] + b'\x02' + data[marker + 12 :]
