"""KID, the kernel inception distance (Binkowski et al. 2018, "Demystifying MMD GANs"), from features of any kind.

    k(x, y) = (x . y / D + 1)**3
    MMD^2   = sum_{i != j} k(x_i, x_j) / (n (n - 1)) + sum_{i != j} k(y_i, y_j) / (n (n - 1)) - 2 mean k(x_i, y_j)

unbiased: its mean over draws is the squared distance of the two distributions, so near 0 it is often negative. KID is
its mean over random subsets; the deviation is over the subsets. NumPy in, float64 inside.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ugatit.errors import UserError

SUBSETS = 100
LARGEST_DEFAULT = 1000  # the paper's subset size; smaller sets get half of their pictures

_NEGATIVE = (
    'it is negative because it is unbiased: where two sets hardly differ, chance puts half of the estimates below 0;'
    ' read it as no distance that this many pictures can show'
)


@dataclasses.dataclass(frozen=True)
class Kid:
    """A KID with everything that it depends on."""

    mean: float  # over the subsets, raw; published tables give it times 100 or 1000
    deviation: float  # standard deviation over the subsets (divided by their number)
    subsets: int
    subset_size: int  # pictures of each set in a subset, drawn without replacement
    pictures: Tuple[int, int]  # of the two sets
    seed: int

    def text(self) -> str:
        """One line; a second sentence where the value is negative."""
        line = (f'KID x 100: {100 * self.mean:.4g} +- {100 * self.deviation:.2g} (raw {self.mean:.4g} +-'
                f' {self.deviation:.2g}; {self.subsets} subsets of {self.subset_size} of {self.pictures[0]} and'
                f' {self.pictures[1]} pictures, seed {self.seed})')  # fmt: skip
        return f'{line}; {_NEGATIVE}' if self.mean < 0.0 else line

    def to_json(self) -> Dict[str, Any]:
        return {
            'raw': self.mean,
            'raw_deviation': self.deviation,
            'x100': 100.0 * self.mean,
            'x100_deviation': 100.0 * self.deviation,
            'subsets': self.subsets,
            'subset_size': self.subset_size,
            'pictures': list(self.pictures),
            'seed': self.seed,
            'note': _NEGATIVE if self.mean < 0.0 else None,
        }


def kid(
    x: np.ndarray,
    y: np.ndarray,
    subsets: int = SUBSETS,
    subset_size: Optional[int] = None,
    seed: int = 0,
) -> Kid:
    """KID of two sets of features.

    Args:
        x, y: [N, D] and [M, D].
        subsets: how many are drawn.
        subset_size: pictures of each set in one; None: see `choose_subset_size`.
        seed: of the draws.

    Raises:
        UserError: sets of other shapes, or a subset that is larger than a set.
    """
    x, y = check_features(x, y)
    size = choose_subset_size(len(x), len(y), subset_size)
    draw = np.random.RandomState(seed)
    values = [
        polynomial_mmd(x[draw.choice(len(x), size, replace=False)], y[draw.choice(len(y), size, replace=False)])
        for _ in range(subsets)
    ]
    return Kid(float(np.mean(values)), float(np.std(values)), subsets, size, (len(x), len(y)), seed)


def polynomial_mmd(x: np.ndarray, y: np.ndarray) -> float:
    """The unbiased estimate of the squared MMD under (x . y / D + 1)**3; features [N, D] and [M, D], N and M >= 2."""
    n, m = len(x), len(y)
    within_x, within_y = _kernel(x, x), _kernel(y, y)
    unbiased_x = (within_x.sum() - np.trace(within_x)) / (n * (n - 1))
    unbiased_y = (within_y.sum() - np.trace(within_y)) / (m * (m - 1))
    return float(unbiased_x + unbiased_y - 2.0 * _kernel(x, y).mean())


def choose_subset_size(n: int, m: int, wanted: Optional[int] = None) -> int:
    """The size of a subset for sets of n and m pictures; None: half of the smaller set, between 2 and 1000.

    Half, so that subsets differ and their deviation says something.
    """
    smaller = min(n, m)
    if smaller < 2:
        raise UserError(f'KID needs at least 2 pictures on each side, but {n} and {m} arrived; give more.')
    if wanted is None:
        return max(2, min(LARGEST_DEFAULT, smaller // 2))
    if not 2 <= wanted <= smaller:
        raise UserError(f'A KID subset must have from 2 to {smaller} pictures, as many as the smaller of the sets ({n}'
                        f' and {m}), but {wanted} was asked for; use a smaller subset or more pictures.')  # fmt: skip
    return wanted


def check_features(x: np.ndarray, y: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Both as float64 [N, D]; UserError for anything else."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1] or not x.size or not y.size:
        raise UserError(f'Two sets of features [N, D] and [M, D] are expected, but shapes {x.shape} and {y.shape}'
                        ' arrived; use one extractor for both.')  # fmt: skip
    return x, y


def _kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x @ y.T / x.shape[1] + 1.0) ** 3
