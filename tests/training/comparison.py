"""Judges a run against a recorded one: tolerances, and the largest deviation of each kind.

ReLU and L1 have kinks. Where a value sits on one, rounding alone decides on which side it falls, and from there on two
runs are right. So after the first update another run of ours may stand in for the first: the same one with sums added
up in TensorFlow's plain kernels, as the official run's were, or one with inputs moved by 1e-6. It must then equal the
recorded run in everything at once.
"""

from __future__ import annotations

from typing import Callable, Dict, Hashable, List, Mapping, NamedTuple, Tuple

import numpy as np

from tests import figures

Values = Mapping[Hashable, np.ndarray]
Measure = Callable[[np.ndarray, np.ndarray], float]


def deviation(got: np.ndarray, want: np.ndarray) -> float:
    """Largest absolute difference, NaN counted as infinite."""
    difference = np.abs(np.asarray(got, np.float64) - np.asarray(want, np.float64))
    return float(np.max(np.where(np.isnan(difference), np.inf, difference), initial=0.0))


def norm_of_difference(got: np.ndarray, want: np.ndarray) -> float:
    """|got - want|, Euclidean over all values."""
    return float(np.linalg.norm(np.asarray(got, np.float64) - np.asarray(want, np.float64)))


class Wanted(NamedTuple):
    """What was recorded of one kind, and how far off one may be."""

    kind: str
    of: str  # the field of a run that must equal it
    values: Values
    allowed: Mapping[Hashable, float]


class Worst(NamedTuple):
    """The largest deviation."""

    share: float  # of what is allowed
    deviation: float
    where: Hashable


def worst(wanted: Wanted, got: Values, measure: Measure = deviation) -> Worst:
    """The entry that is furthest off in terms of what is allowed."""
    assert wanted.values, wanted.kind
    found = {key: measure(got[key], value) for key, value in wanted.values.items()}
    return max(Worst(value / wanted.allowed[key] if value else 0.0, value, key) for key, value in found.items())


def check(wanted: Wanted, got: Values, measure: Measure = deviation) -> None:
    """Every |got - want| within what is allowed."""
    found = worst(wanted, got, measure)
    line = f'{found.deviation:.3g}, {found.share:.3g} of what is allowed, at {found.where}'
    assert found.share <= 1.0, f'{wanted.kind}: {line}'
    figures.report(f'largest deviation, {wanted.kind}', found.share, line)


def equal_run(name: str, runs: Mapping[str, Callable[[], object]], wanted: List[Wanted]) -> object:
    """The first of our runs, each made when its turn comes, that is within everything allowed at once.

    Raises:
        AssertionError: none is; it lists the largest deviation of each.
    """
    tried: Dict[str, Tuple[str, Worst]] = {}
    for label, run in runs.items():
        found = run()
        tried[label] = max(((w.kind, worst(w, getattr(found, w.of))) for w in wanted), key=lambda entry: entry[1].share)
        if tried[label][1].share <= 1.0:
            shares = ', '.join(f'{label} {at.share:.3g}' for label, (_, at) in tried.items())
            figures.report(f'run that equals {name}', len(tried), f'{label} (shares of what is allowed: {shares})')
            return found
    raise AssertionError(f'no run equals {name}: {tried}')
