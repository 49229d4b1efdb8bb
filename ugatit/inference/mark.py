"""The mark in our PNG files, by which a later run knows what it may replace."""

from __future__ import annotations

import os
import pathlib
import struct
from typing import Union

KEY, VALUE = 'Software', 'ugatit'

_SIGNATURE = b'\x89PNG\r\n\x1a\n'
_CHUNKS = 8  # the mark stands right behind the header


def is_ours(path: Union[str, os.PathLike[str]]) -> bool:
    """Whether the file is a PNG that this program wrote; False for anything else, also for what cannot be read."""
    wanted = f'{KEY}\0{VALUE}'.encode('latin-1')
    try:
        if not os.path.isfile(path):  # opening a pipe would wait for ever
            return False
        with pathlib.Path(path).open('rb') as file:
            if file.read(8) != _SIGNATURE:
                return False
            for _ in range(_CHUNKS):
                head = file.read(8)
                if len(head) < 8:
                    return False
                length, kind = struct.unpack('>I4s', head)
                if kind == b'tEXt' and length == len(wanted):
                    return file.read(length) == wanted
                file.seek(length + 4, os.SEEK_CUR)
    except OSError:
        pass
    return False
