"""File names in messages."""

from __future__ import annotations

import os
from typing import Union


def printable(path: Union[str, os.PathLike[str]]) -> str:
    """The path as text that any terminal or UTF-8 file accepts: bytes that are no UTF-8 become \\xNN, line ends \\n."""
    text = os.fsencode(path).decode('utf-8', 'backslashreplace')
    return ''.join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
