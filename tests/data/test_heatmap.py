"""The attention overlay: its range, its colours and its size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.data import odd_files as odd
from ugatit.data.heatmap import jet, normalize_heatmap, overlay_heatmap
from ugatit.errors import UserError


@pytest.mark.parametrize('factor', [1.0, 1e-30, 1e38])
def test_the_range_is_used_fully(factor) -> None:
    heatmap = (np.array([[-2.0, 0.0], [1.0, 2.0]]) * factor).astype(np.float32)
    assert np.allclose(normalize_heatmap(heatmap), [[0, 0.5], [0.75, 1]])


@pytest.mark.parametrize('value', [0.0, 5.0, -1e30])
def test_a_constant_map_is_cold_everywhere(value) -> None:
    with np.errstate(all='raise'):
        assert not normalize_heatmap(np.full((4, 4), value, np.float32)).any()


def test_colours_run_from_blue_to_red() -> None:
    colours = jet(np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    assert colours.tolist() == [[0, 0, 128], [0, 128, 255], [128, 255, 128], [255, 128, 0], [128, 0, 0]]


def test_the_overlay_has_the_pictures_size_and_shows_the_place() -> None:
    picture = np.full((40, 60, 3), 128, np.uint8)
    heatmap = np.zeros((10, 15), np.float32)
    heatmap[2:4, 10:13] = 7.0
    result = overlay_heatmap(picture, heatmap)
    assert result.shape == picture.shape and result.dtype == np.uint8
    hot, cold = result[12, 46].astype(int), result[35, 5].astype(int)
    assert hot[0] > hot[2] and cold[2] > cold[0]
    assert np.array_equal(overlay_heatmap(picture, heatmap, opacity=0.0), picture)


@pytest.mark.parametrize('shape', [(1, 1), (1, 5), (64, 64)])
def test_any_map_fits_any_picture(shape) -> None:
    assert overlay_heatmap(odd.photo(3, 7), np.random.rand(*shape)).shape == (3, 7, 3)


def test_non_finite_maps_are_refused() -> None:
    with pytest.raises(UserError, match='finite heat map'):
        overlay_heatmap(odd.photo(), np.array([[np.nan, 1.0]]))
