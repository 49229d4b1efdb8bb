"""Calibration pictures: from a folder, a pattern or a file to the array that a range profile measures."""

from __future__ import annotations

import pathlib
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ugatit.checkpoints.architecture import architecture_of
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.data.convert import to_float
from ugatit.data.decode import decode_file
from ugatit.data.files import PathLike, list_images
from ugatit.data.resize import resize
from ugatit.errors import UserError
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION


class Pictures(NamedTuple):
    """What could be read, and what could not."""

    images: np.ndarray  # [N, size, size, 3] float32 in [-1, 1]
    paths: Tuple[pathlib.Path, ...]
    failures: Tuple[str, ...]  # one sentence per file that could not be read


def read_pictures(sources: Sequence[PathLike], size: int, most: Optional[int] = None) -> Pictures:
    """Reads the first `most` pictures by sorted name (None: all), each stretched to size x size.

    Args:
        sources: files, folders or patterns.
        size: side of the squares, pixels.
        most: how many at most.

    Raises:
        UserError: nothing is there, or nothing of it can be read.
    """
    found = sorted({path for source in sources for path in list_images(source).paths})[:most]
    images: List[np.ndarray] = []
    paths: List[pathlib.Path] = []
    failures: List[str] = []
    for path in found:
        try:
            images.append(to_float(resize(decode_file(path).pixels, size).pixels))
            paths.append(path)
        except UserError as error:
            failures.append(str(error))
    if not images:
        raise UserError(f'None of the {len(found)} pictures could be read; the first: {failures[0]}')
    return Pictures(np.stack(images), tuple(paths), tuple(failures))


def noise_pictures(count: int, size: int, seed: int = 0) -> np.ndarray:
    """Seeded stand-ins [count, size, size, 3] where nobody gave pictures: smooth colours, and grain over them."""
    random = np.random.RandomState(seed)
    corners = random.uniform(-1.0, 1.0, (count, 4, 4, 3)).astype(np.float32)
    cell = -(-size // 4)
    smooth = np.repeat(np.repeat(corners, cell, 1), cell, 2)[:, :size, :size]
    grain = random.uniform(-0.5, 0.5, (count, size, size, 3)).astype(np.float32)
    return np.clip(smooth + grain, -1.0, 1.0)


def trained_size(checkpoint: PathLike, direction: str, image_size: Optional[int] = None) -> int:
    """Side of the pictures that a generator takes, read off the checkpoint's index: nothing big is loaded."""
    scope = GENERATOR_OF_DIRECTION[direction]
    resolved = architecture_of(CheckpointReader(checkpoint), [scope], overrides={'image_size': image_size})
    return resolved.architecture.image_size
