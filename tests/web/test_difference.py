"""The difference map's scale: known differences at known colours."""

from __future__ import annotations

import numpy as np
import pytest

from ugatit.web.difference import RAMP, difference_map, place_of


def _pixel(levels: float) -> tuple:
    picture = np.zeros((1, 1, 3), np.float64)
    picture[0, 0, 1] = levels / 127.5
    return tuple(int(value) for value in difference_map(picture, np.zeros((1, 1, 3)))[0, 0])


@pytest.mark.parametrize(
    ('levels', 'stop'), [(0.0, 0), (1 / 16, 0), (0.5, 1), (4.0, 2), (32.0, 3), (256.0, 4), (999.0, 4)]
)
def test_every_eightfold_is_a_stop(levels: float, stop: int) -> None:
    assert _pixel(levels) == RAMP[stop]
    assert place_of(max(levels, 1e-9)) == pytest.approx(stop / 4, abs=1e-12)


def test_larger_is_brighter() -> None:
    shown = [sum(_pixel(2.0**bits)) for bits in np.arange(-4, 8.1, 0.5)]
    assert shown == sorted(shown) and len(set(shown)) == len(shown)


def test_the_largest_channel_counts_and_what_is_not_finite_is_brightest() -> None:
    picture, reference = np.zeros((1, 4, 3)), np.zeros((1, 4, 3))
    picture[0, 0] = [1 / 127.5, -4 / 127.5, 0]
    picture[0, 1, 2], picture[0, 2, 0], reference[0, 3, 0] = np.nan, np.inf, np.nan
    found = difference_map(picture, reference)[0]
    assert tuple(found[0]) == RAMP[2] and all(tuple(pixel) == RAMP[4] for pixel in found[1:])
