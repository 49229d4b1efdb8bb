"""FID: known distances, covariances without full rank, and what is said about few pictures."""

from __future__ import annotations

import numpy as np
import pytest

from tests import tolerances
from tests.evaluation.sets import features
from ugatit.errors import UserError
from ugatit.evaluation.frechet import fid, frechet_distance


def test_gaussians_with_diagonal_covariances() -> None:
    """There it is |m1 - m2|^2 + sum (s1 - s2)^2."""
    s1, s2 = np.array([1.0, 2.0, 0.0]), np.array([3.0, 2.0, 0.5])
    found = frechet_distance(np.zeros(3), np.diag(s1**2), np.array([1.0, 0.0, 2.0]), np.diag(s2**2))
    assert found == pytest.approx(5.0 + 4.0 + 0.25, rel=tolerances.METRIC_FORMULA)


def test_equal_sets_have_no_distance() -> None:
    x, _ = features('flat')
    assert fid(x, x).value == pytest.approx(0.0, abs=tolerances.FID_OF_EQUAL_SETS)


def test_order_of_the_sets_does_not_matter() -> None:
    x, y = features('far')
    assert fid(x, y).value == pytest.approx(fid(y, x).value, rel=tolerances.METRIC_FORMULA)


def test_few_pictures_are_a_sentence() -> None:
    assert 'fewer pictures than the 40 dimensions' in fid(*features('flat')).text()
    assert fid(*features('flat')).to_json()['note']
    assert fid(*features('far')).to_json() == {
        'value': fid(*features('far')).value, 'pictures': [90, 110], 'dimensions': 24, 'note': None,
    }  # fmt: skip


def test_one_picture_is_refused() -> None:
    with pytest.raises(UserError, match='at least 2 pictures on each side, but 1 and 3'):
        fid(np.ones((1, 4)), np.ones((3, 4)))
