"""What a file is, from its first bytes; names and extensions are never believed."""

from __future__ import annotations

from typing import Optional

from ugatit.errors import UserError

HEAD_BYTES = 512  # how much of a file `identify` looks at; enough for HTML behind a byte order mark and blanks

READABLE = ('JPEG', 'PNG', 'WebP', 'BMP', 'TIFF', 'GIF')
FORMAT_LIST = 'JPEG, PNG, WebP, BMP, TIFF or GIF'

# Files that users rightly call pictures; read ones decode, the others are refused with a hint instead of being ignored.
PICTURE_EXTENSIONS = frozenset(
    '.jpg .jpeg .jpe .jfif .png .apng .webp .bmp .dib .tif .tiff .gif .heic .heif .avif .jxl .jp2'.split()
)

_MAGIC = (
    (b'\xff\xd8\xff', 'JPEG'),
    (b'\x89PNG\r\n\x1a\n', 'PNG'),
    (b'BM', 'BMP'),
    (b'II*\0', 'TIFF'),
    (b'MM\0*', 'TIFF'),
    (b'II+\0', 'BigTIFF'),
    (b'MM\0+', 'BigTIFF'),
    (b'GIF87a', 'GIF'),
    (b'GIF89a', 'GIF'),
    (b'\xff\x0a', 'JPEG XL'),
    (b'\0\0\0\x0cJXL ', 'JPEG XL'),
    (b'\0\0\0\x0cjP  ', 'JPEG 2000'),
    (b'\xff\x4f\xff\x51', 'JPEG 2000'),
    (b'8BPS', 'Photoshop'),
    (b'%PDF', 'PDF'),
    (b'PK\x03\x04', 'ZIP'),
    (b'\x1f\x8b', 'gzip file'),
    (b'Rar!', 'RAR'),
    (b'7z\xbc\xaf', '7-Zip'),
    (b'\x93NUMPY', 'NumPy array'),
    (b'\x1aE\xdf\xa3', 'Matroska video'),
    (b'version https://git-lfs', 'Git LFS pointer'),
)

# Brands of the ISO media container, at byte 8 behind 'ftyp'.
_BRANDS = {
    'AVIF': (b'avif', b'avis'),
    'HEIC': (b'heic', b'heix', b'hevc', b'hevx', b'heim', b'heis', b'mif1', b'msf1'),
}

_HINTS = {
    'HEIC': 'convert it to JPEG or PNG, or: pip install pillow-heif',
    'AVIF': 'convert it to JPEG or PNG',
    'JPEG XL': 'convert it to JPEG or PNG',
    'JPEG 2000': 'convert it to JPEG or PNG',
    'BigTIFF': 'save it as ordinary TIFF or as PNG',
    'Photoshop': 'export it as PNG',
    'PDF': 'export the page as PNG',
    'SVG': 'export it as PNG',
    'ZIP': 'unpack it first',
    'gzip file': 'unpack it first',
    'RAR': 'unpack it first',
    '7-Zip': 'unpack it first',
    'HTML page': 'the download probably failed, so download the picture again',
    'Git LFS pointer': 'run: git lfs pull',
    'MP4 video': 'extract its frames as PNG files first, or call it .mp4 and give it to infer.py alone',
    'Matroska video': 'extract its frames as PNG files first, or call it .mkv and give it to infer.py alone',
}


def identify(head: bytes) -> Optional[str]:
    """The kind of content that begins with `head` (HEAD_BYTES suffice): one of READABLE, another name, or None."""
    if head[:4] == b'RIFF':
        return 'WebP' if head[8:12] == b'WEBP' else 'RIFF sound or video'
    if head[4:8] == b'ftyp':
        return _media_kind(head)
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    return _text_kind(head)


def _media_kind(head: bytes) -> str:
    # Some encoders put only the general 'mif1' first and say 'avif' among the compatible brands that follow.
    compatible = [head[i : i + 4] for i in range(16, min(len(head), int.from_bytes(head[:4], 'big')), 4)]
    for brand in [head[8:12]] + compatible if head[8:12] in (b'mif1', b'msf1') else [head[8:12]]:
        if brand in _BRANDS['AVIF']:
            return 'AVIF'
    return 'HEIC' if head[8:12] in _BRANDS['HEIC'] else 'MP4 video'


def _text_kind(head: bytes) -> Optional[str]:
    text = head.lstrip(b'\xef\xbb\xbf \t\r\n').lower()
    if text.startswith((b'<!doctype html', b'<html', b'<head', b'<body')) or b'<html' in text:
        return 'HTML page'
    if text.startswith((b'<svg', b'<?xml')) and b'<svg' in text:
        return 'SVG'
    if text and all(byte >= 32 or byte in b'\t\r\n\f' for byte in head):
        return 'text file'
    return None


def is_picture(kind: Optional[str]) -> bool:
    """True for content that is a picture to the user, readable here or refused with a hint."""
    return kind in READABLE or kind in ('HEIC', 'AVIF', 'JPEG XL', 'JPEG 2000', 'BigTIFF')


def describe(head: bytes) -> str:
    """What arrived, in words for a message: 'an HTML page', 'an empty file', 'unknown content (00 01 ..)'."""
    if not head:
        return 'an empty file (0 bytes)'
    kind = identify(head)
    if kind is None:
        return f'unknown content (it begins with the bytes {head[:8].hex()})'
    named = kind if kind.split()[-1].islower() else f'{kind} file'  # 'HTML page' names a thing itself, 'PDF' does not
    return f'{_article(kind)} {named}'


def _article(kind: str) -> str:
    return 'an' if kind.startswith(('A', 'H', 'MP4', 'RAR', 'SVG')) else 'a'


def require_readable(head: bytes) -> str:
    """The kind of a readable picture (or 'HEIC', which an optional package may read); anything else is a UserError."""
    kind = identify(head)
    if kind in READABLE or kind == 'HEIC':
        return kind
    raise UserError(refusal(head))


def refusal(head: bytes) -> str:
    """The sentence for content that cannot be read: expected, arrived, what to do."""
    hint = _HINTS.get(identify(head) or '', 'give a picture, or remove the file' if head else 'copy the picture again')
    return f'expected a picture ({FORMAT_LIST}), found {describe(head)}: {hint}'
