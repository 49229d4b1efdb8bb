"""Judges a run against a recorded one: tolerances, the largest deviation of each kind, and kinks."""

from __future__ import annotations

from typing import Callable, Dict, Hashable, Mapping, Tuple

import numpy as np

from tests import tolerances

LARGEST: Dict[str, Tuple[float, float, Hashable]] = {}
"""Kind -> (share of what is allowed, deviation, where) of the largest one seen in this session, kinks left out."""


def deviation(got: np.ndarray, want: np.ndarray) -> float:
    """Largest absolute difference, NaN counted as infinite."""
    difference = np.abs(np.asarray(got, np.float64) - np.asarray(want, np.float64))
    return float(np.max(np.where(np.isnan(difference), np.inf, difference), initial=0.0))


def norm_of_difference(got: np.ndarray, want: np.ndarray) -> float:
    """|got - want|, Euclidean over all values."""
    return float(np.linalg.norm(np.asarray(got, np.float64) - np.asarray(want, np.float64)))


def check(
    kind: str,
    got: Mapping[Hashable, np.ndarray],
    want: Mapping[Hashable, np.ndarray],
    allowed: Mapping[Hashable, float],
    rerun: Callable[[int], Mapping[Hashable, np.ndarray]],
    measure: Callable[[np.ndarray, np.ndarray], float] = deviation,
) -> None:
    """Every |got - want| within `allowed`, or no larger than what moving the inputs by 1e-6 does to `got` itself.

    ReLU and L1 have kinks. Where a value sits on one, rounding alone decides on which side it falls, and the recorded
    sensitivity, a single draw, need not show it. `rerun(seed)` repeats our run with inputs moved by 1e-6.
    """
    assert want, kind
    beyond = {key: measure(got[key], want[key]) for key in want}
    within = [(value / allowed[key], value, key) for key, value in beyond.items() if 0.0 < value <= allowed[key]]
    LARGEST[kind] = max([LARGEST.get(kind, (0.0, 0.0, '')), *within], key=lambda entry: entry[0])
    beyond = {key: value for key, value in beyond.items() if value > allowed[key]}
    for seed in range(1, 1 + tolerances.KINK_DRAWS):
        if not beyond:
            return
        moved = rerun(seed)
        beyond = {k: v for k, v in beyond.items() if v > tolerances.KINK_FACTOR * measure(moved[k], got[k])}
    assert not beyond, {key: (value, allowed[key]) for key, value in beyond.items()}


def no_rerun(seed: int) -> Dict[Hashable, np.ndarray]:
    """For quantities before the first update, where no kink has been stepped over yet: nothing is excused."""
    raise AssertionError(f'beyond the tolerance (no excuse is drawn for seed {seed})')
