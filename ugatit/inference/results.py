"""From what the network returned to files: checked, resized back, complete or not at all."""

from __future__ import annotations

import contextlib
import io
import pathlib
from typing import List, NamedTuple, Optional

import numpy as np

from ugatit.data import face_crop
from ugatit.data.convert import check_picture, save_png, to_uint8, write_file
from ugatit.data.heatmap import overlay_heatmap
from ugatit.data.resize import Geometry, restore, scale
from ugatit.errors import UserError
from ugatit.inference import mark
from ugatit.inference.inputs import Input, Prepared, thumbnail
from ugatit.inference.outputs import OutputFiles
from ugatit.inference.settings import Settings

_ROWS = 512  # of a large picture converted at a time: conversion works in float64


class Result(NamedTuple):
    """One picture's result in memory."""

    image: np.ndarray  # float32 [S, S, 3], what the network returned
    heatmap: np.ndarray  # float32 [S / 4, S / 4]


class Small(NamedTuple):
    """For a gallery: uint8 copies of what was written."""

    picture: np.ndarray
    heatmap: Optional[np.ndarray]


def write_result(
    prepared: Prepared,
    result: Result,
    files: OutputFiles,
    settings: Settings,
    source: Optional[Input] = None,  # read again for `paste_back`: keeping photographs would take memory
) -> Optional[Small]:
    """Writes one input's files; all of them or, after an error, none. Returns small copies if settings ask for them.

    Raises:
        UserError: the result is no picture (NaN, infinite, one flat colour), or a file cannot be written.
    """
    require_picture(prepared, result.image)
    if settings.pastes_each and prepared.crop is not None:
        picture = _pasted(source.decode(settings).pixels, result.image, prepared.crop.window)
    else:
        picture = finished_picture(result.image, prepared.geometry, settings.keep_size)
    overlay = finished_heatmap(prepared, result.heatmap, settings.keep_size) if settings.heatmap else None
    with contextlib.ExitStack() as undo:
        if files.array is not None:
            write_file(files.array, _npy(result.image))
            undo.callback(_remove, files.array)
        if files.heatmap is not None:
            save_png(files.heatmap, overlay, {mark.KEY: mark.VALUE})
            undo.callback(_remove, files.heatmap)
        save_png(files.picture, picture, {mark.KEY: mark.VALUE})
        undo.pop_all()
    if not settings.thumbnails:
        return None
    return Small(thumbnail(picture), None if overlay is None else thumbnail(overlay))


def require_picture(prepared: Prepared, image: np.ndarray) -> None:
    """UserError where a network result [S, S, 3] is no picture, with the reason: the input may be to blame."""
    problem = check_picture(image)
    if problem is not None:
        raise UserError(_flat_input() if prepared.flat and np.isfinite(image).all() else problem)


def finished_picture(image: np.ndarray, geometry: Geometry, keep_size: bool) -> np.ndarray:
    """uint8 [H, W, 3] of a network result [S, S, 3] in [-1, 1]: as it is, or at the input's size.

    Channel by channel and in strips: a picture of 100 megapixels would need 2.4 GB in float64.
    """
    if not keep_size:
        return to_uint8(image)
    channels = [_levels(restore(image[..., channel], geometry)) for channel in range(image.shape[-1])]
    return np.stack(channels, axis=-1)


def finished_heatmap(prepared: Prepared, heatmap: np.ndarray, keep_size: bool) -> np.ndarray:
    """uint8 [H, W, 3], the attention laid over the input as the network saw it; as large as the picture.

    Raises:
        UserError: the map is not finite.
    """
    square = overlay_heatmap(to_uint8(prepared.square), heatmap)
    if not keep_size:
        return square
    return overlay_heatmap(
        finished_picture(prepared.square, prepared.geometry, True),
        restore(scale(np.asarray(heatmap, np.float32), *square.shape[:2]), prepared.geometry),
    )


def _pasted(photograph: np.ndarray, image: np.ndarray, window: face_crop.Window) -> np.ndarray:
    return face_crop.paste_back(photograph, to_uint8(image), window)


def _levels(values: np.ndarray) -> np.ndarray:
    strips: List[np.ndarray] = [to_uint8(values[row : row + _ROWS]) for row in range(0, len(values), _ROWS)]
    return np.concatenate(strips)


def _npy(image: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(image, np.float32))
    return buffer.getvalue()


def _remove(path: pathlib.Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _flat_input() -> str:
    return (
        'expected a picture, but it is one flat colour, and so is the result: there is nothing to translate;'
        ' give a photograph'
    )
