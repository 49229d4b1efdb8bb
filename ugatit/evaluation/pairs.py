"""Pictures that belong together by name: how far apart they are."""

from __future__ import annotations

import collections
import math
import pathlib
from typing import Dict, NamedTuple, Optional, Sequence

import numpy as np

from ugatit.data.convert import to_float, to_uint8
from ugatit.data.decode import decode_file
from ugatit.data.files import PathLike
from ugatit.data.resize import resize
from ugatit.errors import UserError
from ugatit.numerics import max_error_8bit, psnr, ssim

SSIM_SIDE = 11  # smallest picture that SSIM's window fits into


class Pair(NamedTuple):
    """How far all pictures with one name on both sides are apart."""

    pictures: int
    psnr: float  # dB, peak 2.0, all pictures together; inf where they are equal
    ssim: float  # mean over pictures; NaN for pictures too small for its window
    max_error_8bit: float

    def text(self) -> str:
        return (f'the {self.pictures} with equal names: PSNR {self.psnr:.2f} dB, SSIM {self.ssim:.4f}, largest error'
                f' {self.max_error_8bit:.0f} of 255 levels')  # fmt: skip


def read_square(path: PathLike, size: int, mode: str) -> np.ndarray:
    """A file as uint8 [size, size, 3]; UserError for what is no readable picture."""
    return to_uint8(to_float(resize(decode_file(path).pixels, size, mode).pixels))


def compare_pairs(made: Dict[str, PathLike], wanted: Dict[str, PathLike], size: int, mode: str) -> Optional[Pair]:
    """Compares what has one name on both sides; None where nothing has. Unreadable files are left out."""
    squares, structure, worst = [], [], 0.0
    for name in sorted(set(made) & set(wanted)):
        try:
            a, b = (to_float(read_square(side[name], size, mode)) for side in (made, wanted))
        except UserError:
            continue
        squares.append(float(np.mean(np.square(np.subtract(a, b, dtype=np.float64)))))
        structure.append(ssim(a, b) if size >= SSIM_SIDE else math.nan)
        worst = max(worst, max_error_8bit(a, b))
    if not squares:
        return None
    return Pair(len(squares), psnr([math.sqrt(np.mean(squares))], [0.0]), float(np.mean(structure)), worst)


def by_name(paths: Sequence[PathLike], names: Optional[Sequence[str]] = None) -> Dict[str, PathLike]:
    """Name (None: the file's, without its ending) -> file; a name that comes twice says nothing and is left out."""
    names = [pathlib.Path(path).stem for path in paths] if names is None else names
    counts = collections.Counter(names)
    return {name: path for name, path in zip(names, paths) if counts[name] == 1}
