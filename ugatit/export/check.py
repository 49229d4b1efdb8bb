"""An exported file against the source it came from: the same pictures, its own runtime, a stated bound."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ugatit.data.convert import to_float, to_uint8
from ugatit.export.runner import Runner

LARGEST_DIFFERENCE = 1e-3  # in float32, pictures in [-1, 1]: an eighth of one of 255 levels
SMALLEST_PSNR = 35.0  # in float16, dB with peak 2: float16 costs 50 to 60, a picture destroyed by overflow has 10 to 20
# Share of the map's largest value. Float32: as for pictures of peak 1. Float16: a few roundings of 2**-11 of terms that
# partly cancel each other (at most 0.008 in the files of `benchmarks.bench_export`); a wrong map is off by about 1.
HEATMAP_DIFFERENCE = 1e-3
HEATMAP_DIFFERENCE_OF_HALVES = 0.05
_HALF_LEVEL = 0.5 / 127.5  # that rounding to uint8 costs by itself


@dataclasses.dataclass(frozen=True)
class Bound:
    """What a check may find; None: not looked at."""

    largest_difference: Optional[float]
    smallest_psnr: Optional[float]
    heatmap_difference: Optional[float] = None  # share of the map's largest value; looked at where there is a map

    def text(self) -> str:
        """For a message."""
        parts = []
        if self.largest_difference is not None:
            parts.append(f'differences up to {self.largest_difference:.3g}')
        if self.smallest_psnr is not None:
            parts.append(f'at least {self.smallest_psnr:g} dB')
        if self.heatmap_difference is not None:
            parts.append(f'heat maps within {self.heatmap_difference:.3g} of their largest value')
        return ' and '.join(parts) or 'anything finite'


def default_bound(precision: str, uint8: bool, largest: Optional[float], psnr: Optional[float]) -> Bound:
    """The caller's bounds, else the largest difference for float32 and the PSNR for float16; always one for heat maps.

    Who allows more in the picture (or asks for a PSNR) gets the wide bound of the map, as nobody can name another.
    """
    exact = precision == 'float32' and largest is None and psnr is None
    if largest is None and psnr is None:
        if precision == 'float32':
            largest = LARGEST_DIFFERENCE + (_HALF_LEVEL if uint8 else 0.0)
        else:
            psnr = SMALLEST_PSNR
    return Bound(largest, psnr, HEATMAP_DIFFERENCE if exact else HEATMAP_DIFFERENCE_OF_HALVES)


@dataclasses.dataclass(frozen=True)
class Check:
    """What came of one comparison."""

    pictures: int
    largest_difference: float  # of a value in [-1, 1]
    psnr: float  # dB, peak 2, over all pictures together; infinite for equal ones
    heatmap_difference: Optional[float]  # share of the largest value; None: the file gives no heat map
    finite: bool  # pictures and heat maps
    seconds: float  # per picture, after a first run that does not count
    runtime: str

    def passes(self, bound: Bound) -> bool:
        """Whether the file is as good as it must be."""
        fits = bound.largest_difference is None or self.largest_difference <= bound.largest_difference
        loud = bound.smallest_psnr is None or self.psnr >= bound.smallest_psnr
        return self.finite and fits and loud and self._map_passes(bound)

    def _map_passes(self, bound: Bound) -> bool:
        if bound.heatmap_difference is None or self.heatmap_difference is None:
            return True
        return self.heatmap_difference <= bound.heatmap_difference

    def text(self) -> str:
        """One line."""
        if not self.finite:
            return f'NaN or infinity in {self.runtime}'
        psnr = 'the same bits' if math.isinf(self.psnr) else f'PSNR {self.psnr:.1f} dB'
        heatmap = '' if self.heatmap_difference is None else f', heat map within {self.heatmap_difference:.3g}'
        return (f'largest difference {self.largest_difference:.3g} of values in [-1, 1], {psnr}{heatmap},'
                f' {self.pictures} pictures, {self.seconds:.3g} s each in {self.runtime}')  # fmt: skip

    def to_json(self) -> Dict[str, Any]:
        return dataclasses.asdict(self)


def as_input(runner: Runner, images: np.ndarray) -> np.ndarray:
    """Pictures in [-1, 1] as the file takes them."""
    return to_uint8(images) if runner.input.dtype == 'uint8' else np.asarray(images, np.float32)


def as_image(pictures: np.ndarray) -> np.ndarray:
    """A file's pictures in [-1, 1]."""
    return to_float(pictures) if pictures.dtype == np.uint8 else np.asarray(pictures, np.float32)


def compare(
    runner: Runner, images: np.ndarray, wanted: np.ndarray, heatmap: Optional[np.ndarray]
) -> Tuple[Check, np.ndarray]:
    """Runs the file on pictures in [-1, 1] and compares with what the source made of them.

    Returns:
        What came of it, and the file's own pictures as it gives them.
    """
    given = as_input(runner, images)
    runner(given[:1])
    start = time.monotonic()
    pictures, maps = runner(given)
    seconds = (time.monotonic() - start) / len(given)
    found = as_image(pictures)
    finite = bool(np.isfinite(found).all()) and (maps is None or bool(np.isfinite(maps).all()))
    difference = np.abs(found.astype(np.float64) - wanted)
    check = Check(
        pictures=len(given),
        largest_difference=float(difference.max()) if finite else math.inf,
        psnr=_psnr(found, wanted) if finite else -math.inf,
        heatmap_difference=None if maps is None or heatmap is None else _relative(maps, heatmap),
        finite=finite,
        seconds=seconds,
        runtime=runner.runtime,
    )
    return check, pictures


def _psnr(found: np.ndarray, wanted: np.ndarray) -> float:
    """`ugatit.numerics.psnr`, whose package imports TensorFlow: an ONNX file is verified where there is none."""
    with np.errstate(divide='ignore'):  # equal pictures: infinite
        return float(10.0 * np.log10(2.0**2 / np.mean(np.square(np.asarray(found, np.float64) - wanted))))


def _relative(found: np.ndarray, wanted: np.ndarray) -> float:
    found, wanted = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    return float(np.max(np.abs(found - wanted)) / max(np.max(np.abs(wanted)), np.finfo(np.float32).tiny))
