"""What one variant's results are worth against the reference's: plain numbers, NaN where there is no picture."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Dict, List

import numpy as np

from ugatit.evaluation.pairs import SSIM_SIDE
from ugatit.numerics import max_error_8bit, psnr, ssim

VISIBLE_LEVELS = 8  # of 255: a difference of so much in flat areas is seen when pictures are switched
VISIBLE_SHARE = 0.01  # of a picture's pixels that differ by more: visibly changed
UNUSABLE_DB = 25.0  # below this PSNR a result is another picture
VISIBLE_RULE = (f'a picture counts as visibly changed where more than {VISIBLE_SHARE:.0%} of its pixels differ by more'
                f' than {VISIBLE_LEVELS} of 255 levels in some colour')  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Scores:
    """Of all pictures of a variant together."""

    psnr_db: float  # peak 2.0; inf: the same bits; NaN: some value is not finite
    ssim: float
    max_error_8bit: float
    changed: float  # share of pictures that are visibly changed
    broken: int  # pictures with values that are not finite
    same_bits: bool
    psnr_each: List[float]  # per picture, dB

    @property
    def unusable(self) -> bool:
        """Whether results are no longer the reference's pictures at all."""
        return not self.psnr_db >= UNUSABLE_DB

    def to_json(self) -> Dict[str, Any]:
        """`psnr_db` is null both for equal and for broken results; `same_bits` and `broken` tell."""
        return {**dataclasses.asdict(self), 'unusable': self.unusable}


def score(results: np.ndarray, reference: np.ndarray) -> Scores:
    """Results against the reference's, both [N, H, W, 3] in [-1, 1]."""
    finite = np.isfinite(results).all(axis=(1, 2, 3))
    whole = bool(finite.all())
    return Scores(
        psnr_db=psnr(results, reference),
        ssim=ssim(results, reference) if whole and min(results.shape[1:3]) >= SSIM_SIDE else math.nan,
        max_error_8bit=max_error_8bit(results, reference) if whole else math.nan,
        changed=float(np.mean([_visible(a, b) for a, b in zip(results, reference)])),
        broken=int((~finite).sum()),
        same_bits=np.array_equal(results, reference),
        psnr_each=[psnr(a, b) for a, b in zip(results, reference)],
    )


def difference(result: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Largest difference over the colours of each pixel, in levels of 255, [H, W]; 255 where there is no value."""
    levels = 127.5 * np.abs(np.clip(result, -1, 1).astype(np.float64) - np.clip(reference, -1, 1)).max(axis=-1)
    return np.where(np.isfinite(result).all(axis=-1), levels, 255.0)


def _visible(result: np.ndarray, reference: np.ndarray) -> bool:
    return float(np.mean(difference(result, reference) > VISIBLE_LEVELS)) > VISIBLE_SHARE
