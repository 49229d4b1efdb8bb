"""Random features: the same everywhere, and KID with them ranks what is obviously nearer and farther."""

from __future__ import annotations

import functools
from typing import Callable

import numpy as np
import pytest
from PIL import Image, ImageFilter

from tests import tolerances
from ugatit.evaluation.extractors import choose_extractor, extract
from ugatit.evaluation.frechet import fid
from ugatit.evaluation.kernel import kid

COUNT, SIZE = 40, 64
RECORDED = (-0.5667, -0.1623, 0.0091, -0.4435, -0.0966, -0.5013, -0.4739, 0.2352, 1.9754, -0.5168, -0.0354, 1.8894)


def _faces(seed: int, square: bool = False) -> np.ndarray:
    """uint8 [COUNT, SIZE, SIZE, 3]: one disc (or square) with two dots on a plain ground, colours random."""
    draw = np.random.RandomState(seed)
    rows, columns = np.mgrid[0:SIZE, 0:SIZE]
    pictures = []
    for _ in range(COUNT):
        ground, skin, eye = draw.randint(60, 200, (3, 3))
        row, column = draw.randint(26, 38, 2)
        away = np.abs(np.stack([rows - row, columns - column]))
        distance = away.max(axis=0) if square else np.hypot(*away)
        picture = np.where((distance < draw.randint(14, 22))[..., None], skin, ground)
        for side in (-7, 7):
            picture = np.where((np.hypot(rows - row + 4, columns - column + side) < 3)[..., None], eye, picture)
        pictures.append(picture)
    return np.array(pictures, np.uint8)


def _noisy(deviation: float) -> np.ndarray:
    noise = np.random.RandomState(9).standard_normal((COUNT, SIZE, SIZE, 3)) * deviation
    return np.clip(_faces(2) + noise, 0, 255).astype(np.uint8)


def _blurred(radius: float) -> np.ndarray:
    return np.stack(
        [np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(radius))) for picture in _faces(2)]
    )


def _darker(share: float) -> np.ndarray:
    return (_faces(2) * (1.0 - share)).astype(np.uint8)


def _mixed(share: float) -> np.ndarray:
    """A growing part of squares among the discs."""
    other = int(round(share * COUNT))
    return np.concatenate([_faces(2, square=True)[:other], _faces(2)[other:]])


@functools.cache
def _features_of_faces(seed: int) -> np.ndarray:
    return extract(choose_extractor(), _faces(seed))


@pytest.mark.parametrize(
    ('change', 'amounts'),
    [(_noisy, (4, 12, 36)), (_blurred, (0.7, 1.5, 3.0)), (_darker, (0.2, 0.4, 0.7)), (_mixed, (0.3, 0.6, 1.0))],
    ids=['noise', 'blur', 'darkness', 'another domain'],
)
def test_more_of_a_change_is_farther_away(change: Callable[[float], np.ndarray], amounts: tuple) -> None:
    extractor = choose_extractor()
    real, unchanged = _features_of_faces(1), _features_of_faces(2)
    sets = [unchanged, *(extract(extractor, change(amount)) for amount in amounts)]
    kids = [kid(real, found, 50, COUNT // 2).mean for found in sets]
    fids = [fid(real, found).value for found in sets]
    print([f'{100 * a:.1f} ({b:.1f})' for a, b in zip(kids, fids)])  # the table in docs/metrics.md
    assert kids == sorted(kids) and fids == sorted(fids)
    same = kid(real, sets[0], 50, COUNT // 2)
    assert kids[-1] > same.mean + tolerances.KID_DEVIATIONS_APART * same.deviation


def test_the_same_numbers_on_every_python() -> None:
    """Recorded on Python 3.11 with NumPy 2.4; a change here means that the extractor needs a new name."""
    extractor = choose_extractor()
    found = extract(extractor, _faces(1)[:3])
    assert found.shape == (3, 256) == (3, extractor.dimensions)
    assert extractor.name == 'random convolutions 1'
    assert found[:, ::64].ravel() == pytest.approx(RECORDED, abs=tolerances.RANDOM_FEATURES)


def test_batches_do_not_matter_and_no_picture_gives_none() -> None:
    extractor = choose_extractor()
    together, alone = extractor(_faces(1)[:3]), [extractor(picture[None])[0] for picture in _faces(1)[:3]]
    assert np.array_equal(together, alone)
    assert extract(extractor, []).shape == (0, 256)
