"""KID: the formula, its unbiasedness, what it refuses and how it is told."""

from __future__ import annotations

import numpy as np
import pytest

from tests import tolerances
from tests.evaluation.sets import features
from ugatit.errors import UserError
from ugatit.evaluation.kernel import choose_subset_size, kid, polynomial_mmd


def _slowly(x: np.ndarray, y: np.ndarray) -> float:
    """The formula with loops over pairs."""

    def k(a: np.ndarray, b: np.ndarray) -> float:
        return (sum(p * q for p, q in zip(a, b)) / len(a) + 1.0) ** 3

    n, m = len(x), len(y)
    within_x = sum(k(x[i], x[j]) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    within_y = sum(k(y[i], y[j]) for i in range(m) for j in range(m) if i != j) / (m * (m - 1))
    return within_x + within_y - 2.0 * sum(k(a, b) for a in x for b in y) / (n * m)


def _biased(x: np.ndarray, y: np.ndarray) -> float:
    """The same with every picture's kernel with itself, which is the largest: the control."""

    def mean(a: np.ndarray, b: np.ndarray) -> float:
        return float(((a @ b.T / a.shape[1] + 1.0) ** 3).mean())

    return mean(x, x) + mean(y, y) - 2.0 * mean(x, y)


def test_the_formula_also_for_sets_of_unequal_size() -> None:
    x, y = (part[:9, :5] for part in features('far'))
    assert polynomial_mmd(x, y[:6]) == pytest.approx(_slowly(x, y[:6]), rel=tolerances.METRIC_FORMULA)


def test_it_is_unbiased_and_therefore_often_negative() -> None:
    """Over many pairs of sets from one distribution the mean is 0 within its error; the biased form is never near."""
    draw = np.random.RandomState(0)
    sets = [(draw.standard_normal((10, 4)), draw.standard_normal((10, 4))) for _ in range(2000)]
    values = [polynomial_mmd(x, y) for x, y in sets]
    allowed = tolerances.STANDARD_ERRORS * np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values)) < allowed
    assert np.mean(np.array(values) < 0.0) > tolerances.UNBIASED_NEGATIVE
    assert np.mean([_biased(x, y) for x, y in sets]) > tolerances.BIASED_FACTOR * allowed


def test_one_seed_one_result() -> None:
    x, y = features('far')
    assert kid(x, y, 20, 30, seed=3) == kid(x, y, 20, 30, seed=3)
    assert kid(x, y, 20, 30, seed=3).mean != kid(x, y, 20, 30, seed=4).mean


def test_everything_it_depends_on_is_stated() -> None:
    x, y = features('far')
    found = kid(x, y, 20, 30, seed=3)
    for part in ('KID x 100', 'raw', '20 subsets of 30 of 90 and 110 pictures', 'seed 3'):
        assert part in found.text()
    assert 'negative' not in found.text()
    report = found.to_json()
    assert report['x100'] == 100 * report['raw'] and report['pictures'] == [90, 110] and report['note'] is None


def test_a_negative_value_is_explained() -> None:
    x, _ = features('near')
    found = kid(x[:45], x[45:], 50, 40, seed=0)
    assert found.mean < 0.0
    assert 'negative because it is unbiased' in found.text() and found.to_json()['note']


def test_subset_sizes() -> None:
    assert choose_subset_size(5000, 4000) == 1000
    assert choose_subset_size(100, 300) == 50
    assert choose_subset_size(2, 3) == 2
    assert choose_subset_size(10, 20, 10) == 10


@pytest.mark.parametrize(
    ('n', 'm', 'wanted', 'sentence'),
    [
        (10, 20, 11, r'from 2 to 10 pictures, as many as the smaller of the sets \(10 and 20\), but 11'),
        (10, 20, 1, r'from 2 to 10'),
        (1, 20, None, r'at least 2 pictures on each side, but 1 and 20'),
    ],
)
def test_refused(n: int, m: int, wanted: object, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        choose_subset_size(n, m, wanted)
    with pytest.raises(UserError, match=sentence):
        kid(np.ones((n, 3)), np.ones((m, 3)), subset_size=wanted)


def test_features_of_two_extractors() -> None:
    with pytest.raises(UserError, match='use one extractor for both'):
        kid(np.ones((4, 3)), np.ones((4, 5)))
