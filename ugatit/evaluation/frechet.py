"""FID, the Frechet distance of two Gaussians fitted to features (Heusel et al. 2017). NumPy in, float64 inside.

FID = |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)). It is biased: the same two distributions give a larger value from
fewer pictures, so values compare only at equal numbers.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ugatit.errors import UserError
from ugatit.evaluation.kernel import check_features


@dataclasses.dataclass(frozen=True)
class Fid:
    """An FID with what it depends on."""

    value: float
    pictures: Tuple[int, int]
    dimensions: int  # of the features

    def note(self) -> Optional[str]:
        """What a reader must know where there are fewer pictures than dimensions."""
        if min(self.pictures) > self.dimensions:
            return None
        return (f'fewer pictures than the {self.dimensions} dimensions of the features: much too large, compare it only'
                ' with values from as many pictures')  # fmt: skip

    def text(self) -> str:
        line = f'FID: {self.value:.5g} ({self.pictures[0]} and {self.pictures[1]} pictures)'
        return line if self.note() is None else f'{line}; {self.note()}'

    def to_json(self) -> Dict[str, Any]:
        return {
            'value': self.value,
            'pictures': list(self.pictures),
            'dimensions': self.dimensions,
            'note': self.note(),
        }


def fid(x: np.ndarray, y: np.ndarray) -> Fid:
    """FID of two sets of features [N, D] and [M, D], at least 2 each."""
    x, y = check_features(x, y)
    if min(len(x), len(y)) < 2:
        raise UserError(f'FID needs at least 2 pictures on each side, but {len(x)} and {len(y)} arrived; give more.')
    value = frechet_distance(x.mean(axis=0), np.cov(x, rowvar=False), y.mean(axis=0), np.cov(y, rowvar=False))
    return Fid(value, (len(x), len(y)), x.shape[1])


def frechet_distance(mean_x: np.ndarray, cov_x: np.ndarray, mean_y: np.ndarray, cov_y: np.ndarray) -> float:
    """Of two Gaussians, means [D] and covariances [D, D].

    tr (C1 C2)^(1/2) = tr (R C2 R)^(1/2) with R = C1^(1/2): both roots are of symmetric matrices, whose eigenvalues are
    real, so covariances without full rank are no special case.
    """
    cov_x, cov_y = np.atleast_2d(cov_x), np.atleast_2d(cov_y)
    values, vectors = np.linalg.eigh(cov_x)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    product = root @ cov_y @ root
    trace = np.sqrt(np.maximum(np.linalg.eigvalsh((product + product.T) / 2), 0.0)).sum()
    return float(np.sum((mean_x - mean_y) ** 2) + np.trace(cov_x) + np.trace(cov_y) - 2.0 * trace)
