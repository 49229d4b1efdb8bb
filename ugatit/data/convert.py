"""Between 8-bit pixels and the network's [-1, 1], the check of a result, and files written whole or not at all."""

from __future__ import annotations

import io
import os
import pathlib
import stat
import uuid
from typing import Iterator, Mapping, Optional, Tuple, Union

import numpy as np
from PIL import Image, PngImagePlugin

from ugatit.data.names import printable
from ugatit.errors import UserError

PathLike = Union[str, 'os.PathLike[str]']

_LEVEL = 1 / 127.5  # one step of 8-bit output, in units of [-1, 1]


def to_float(pixels: np.ndarray) -> np.ndarray:
    """x / 127.5 - 1: 0..255 of any type to float32 in [-1, 1], computed in float64 and rounded once."""
    return (np.asarray(pixels, np.float64) / 127.5 - 1.0).astype(np.float32)


def to_uint8(result: np.ndarray) -> np.ndarray:
    """(x + 1) / 2 * 255 rounded to nearest, clipped to 0..255; the inverse of `to_float` for all 256 values.

    The official code truncates, which darkens by half a level. Values must be finite: see `check_picture`.
    """
    if not np.isfinite(result).all():
        raise UserError(f'expected a finite picture, but {check_picture(result)}')
    levels = np.floor((np.asarray(result, np.float64) + 1.0) * 127.5 + 0.5)
    return np.clip(levels, 0, 255).astype(np.uint8)


def channel_range(picture: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Least and largest value of every channel of [H, W, C].

    Row by row: over both axes at once NumPy takes ten times as long.
    """
    return picture.min(axis=0).min(axis=0), picture.max(axis=0).max(axis=0)


def check_picture(result: np.ndarray) -> Optional[str]:
    """Why a network result [H, W, C] in [-1, 1] is no picture, or None: NaN or infinite values, or one flat colour.

    Written to a file, NaN would become black without any error. Check what the network returned, before `restore`:
    a picture of 1 x 1 pixels is always flat.
    """
    finite = np.isfinite(result)
    if not finite.all():
        bad = int(result.size - finite.sum())
        return (
            f'the result has {bad} NaN or infinite values of {result.size}: '
            'compute with --precision=float32, or with --ranges=auto'
        )
    low, high = channel_range(result)
    if (high - low).max() < _LEVEL / 2:
        colour = to_uint8(result[0, 0]).tolist()
        return (
            f'the result is one flat colour {colour}: the checkpoint is damaged, or values overflowed; '
            'compute with --precision=float32 to find out'
        )
    return None


def save_png(path: PathLike, pixels: np.ndarray, text: Optional[Mapping[str, str]] = None) -> None:
    """Writes uint8 [H, W, 3] (or [H, W]) as PNG, whole or not at all, making missing folders. Raises UserError.

    text: Latin-1 keys and values that are stored in the file, such as {'Software': 'ugatit'}.
    """
    if pixels.dtype != np.uint8:
        raise UserError(f'expected uint8 pixels, got {pixels.dtype}: convert them with to_uint8')
    buffer = io.BytesIO()
    stored = PngImagePlugin.PngInfo()
    for key, value in (text or {}).items():
        stored.add_text(key, value)
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, 'PNG', pnginfo=stored)
    write_file(path, buffer.getvalue())


def write_file(path: PathLike, data: bytes) -> None:
    """Writes under a temporary name in the same folder and renames: nobody ever sees half a file, an old one stays
    until the new one is complete. A link stays one: the file that it means is written. Missing folders are made.
    UserError for a folder or a device, or if the system refuses."""
    target = regular_target(path)
    temporary = target.parent / f'.ugatit-{uuid.uuid4().hex}.tmp'
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            os.replace(temporary, target)
        finally:
            if temporary.exists():
                temporary.unlink()
    except OSError as error:
        raise UserError(
            f'expected to write {printable(path)}, but: {error.strerror or error}: '
            'check the folder, its permissions and the free space'
        ) from error


def regular_target(path: PathLike, name: str = 'the result') -> pathlib.Path:
    """The file that `path` means behind all links, there or not; never one that renaming would take from the system.

    Args:
        name: what is to be written, for the message: '--json'.

    Raises:
        UserError: a folder, a device, a pipe, a socket, or the file that our own standard output goes to.
    """
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return pathlib.Path(os.path.realpath(path))
    except OSError as error:
        raise UserError(
            f'{name} cannot be written to {printable(path)}: {error.strerror or error}; give another name'
        ) from error
    if not stat.S_ISREG(found.st_mode):
        kind = 'a folder' if stat.S_ISDIR(found.st_mode) else 'a device, a pipe or a socket'
        raise UserError(f'{name} must be an ordinary file, but {printable(path)} is {kind}; give the name of a file.')
    if any(os.path.samestat(found, stream) for stream in _streams()):
        raise UserError(
            f'{name} must be a file of its own, but {printable(path)} is where this command prints to; give another'
            ' name.'
        )
    return pathlib.Path(os.path.realpath(path))


def _streams() -> Iterator[os.stat_result]:
    """Standard output and standard error, where they are open at all."""
    for number in (1, 2):
        try:
            yield os.fstat(number)
        except OSError:
            pass
