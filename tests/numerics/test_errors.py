from __future__ import annotations

import numpy as np
import pytest

from tests import tolerances
from ugatit.errors import UserError
from ugatit.numerics import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    cosine,
    max_error_8bit,
    overflow_share,
    psnr,
    relative_l2,
    ssim,
    subnormal_share,
    ulp_distance,
    underflow_share,
)

MEASURES = [psnr, relative_l2, cosine, max_error_8bit]


def _picture(shape=(2, 16, 13, 3), seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(np.float32)


def test_psnr():
    a = np.zeros([2, 5, 5, 3])
    assert psnr(a, a + 2.0) == 0.0
    assert psnr(a, a + 0.02) == pytest.approx(40.0, rel=tolerances.FLOAT64_FORMULA)
    assert psnr(a, a + 0.01, peak=1.0) == pytest.approx(40.0, rel=tolerances.FLOAT64_FORMULA)
    assert psnr(a, a) == np.inf
    assert psnr(a, a + np.inf) == -np.inf


def test_psnr_is_over_all_pictures_together():
    a, b = np.zeros([2, 4]), np.array([[0.0] * 4, [0.2] * 4])  # the mean of two pictures' PSNR would be infinite
    assert psnr(a, b) == pytest.approx(10 * np.log10(4 / 0.02), rel=tolerances.FLOAT64_FORMULA)


def _ssim_reference(a, b, peak):
    """Window by window, as the paper writes it."""
    offsets = np.arange(11) - 5
    window = np.exp(-(offsets[:, None] ** 2 + offsets[None, :] ** 2) / (2 * 1.5**2))
    window /= window.sum()
    c1, c2 = (0.01 * peak) ** 2, (0.03 * peak) ** 2
    values = []
    for n, y, x, c in np.ndindex(a.shape[0], a.shape[1] - 10, a.shape[2] - 10, a.shape[3]):
        p, q = (image[n, y : y + 11, x : x + 11, c].astype(np.float64) for image in (a, b))
        mu_p, mu_q = (window * p).sum(), (window * q).sum()
        var_p, var_q = (window * (p - mu_p) ** 2).sum(), (window * (q - mu_q) ** 2).sum()
        cov = (window * (p - mu_p) * (q - mu_q)).sum()
        values.append((2 * mu_p * mu_q + c1) * (2 * cov + c2) / ((mu_p**2 + mu_q**2 + c1) * (var_p + var_q + c2)))
    return np.mean(values)


@pytest.mark.parametrize('peak', [1.0, 2.0])
def test_ssim_is_the_papers(peak):
    a, b = _picture(), 0.7 * _picture() + 0.3 * _picture(seed=1)
    assert ssim(a, b, peak) == pytest.approx(_ssim_reference(a, b, peak), rel=tolerances.FLOAT64_FORMULA)
    assert ssim(a[0], b[0], peak) == pytest.approx(_ssim_reference(a[:1], b[:1], peak), rel=tolerances.FLOAT64_FORMULA)


def test_ssim_corners():
    a, flat = _picture(), np.ones([1, 11, 11, 1])
    assert ssim(a, a) == pytest.approx(1.0, rel=tolerances.FLOAT64_FORMULA)
    assert ssim(flat, flat) == pytest.approx(1.0, rel=tolerances.FLOAT64_FORMULA)
    stripes = np.resize([-1.0, 1.0], [12, 12, 1])  # structure turned over, means about equal
    assert ssim(stripes, -stripes) < -0.9
    for bad in (np.zeros([1, 10, 11, 3]), np.zeros([64, 64])):
        with pytest.raises(UserError, match='11x11'):
            ssim(bad, bad)


def test_relative_l2():
    a = np.float32([3e38, 2e38])  # their squares would not fit float32
    assert relative_l2(2 * a.astype(np.float64), a) == pytest.approx(1.0, rel=tolerances.FLOAT64_FORMULA)
    assert relative_l2([3.0, 4.0], [0.0, 4.0]) == 0.75
    assert relative_l2([0.0], [0.0]) == 0.0
    assert relative_l2([1e-30], [0.0]) == np.inf
    assert np.isnan(relative_l2([np.nan], [0.0])) and np.isnan(relative_l2([np.inf], [np.inf]))


def test_cosine():
    assert cosine([1.0, 0.0], [0.0, 2.0]) == 0.0
    assert cosine([1e-30, 2e-30], [-2e30, -4e30]) == pytest.approx(-1.0, rel=tolerances.FLOAT64_FORMULA)
    assert cosine(np.full(1000, 0.1), np.full(1000, 0.3)) <= 1.0
    assert cosine([0.0, 0.0], [0.0, -0.0]) == 1.0
    assert np.isnan(cosine([0.0, 0.0], [0.0, 1.0]))


@pytest.mark.parametrize('measure', MEASURES)
def test_nan_is_never_hidden(measure):
    a = np.zeros(5)
    b = np.array([0.0, np.nan, 0.0, 0.0, 1.0])
    with np.errstate(all='raise'):
        assert np.isnan(measure(b, b)) and np.isnan(measure(a + 1, b))


@pytest.mark.parametrize('measure', [*MEASURES, ssim, ulp_distance])
def test_shapes_must_agree(measure):
    with pytest.raises(UserError, match=r'\(2, 3\) and \(3,\)'):
        measure(np.zeros([2, 3]), np.zeros([3]))
    with pytest.raises(UserError, match='non-empty'):
        measure(np.zeros([0]), np.zeros([0]))


def test_ulp_distance_of_every_neighbour():
    values = np.arange(0x7C01, dtype=np.uint16).view(np.float16)  # 0 to 65504, then inf
    assert np.all(ulp_distance(values[1:], values[:-1]) == 1)
    assert np.all(ulp_distance(-values[1:], -values[:-1]) == 1)
    assert np.array_equal(ulp_distance(values, np.zeros_like(values)), np.arange(0x7C01))


def test_ulp_distance_corners():
    tiny = 2.0**-24
    a = np.float32([0.0, -tiny, 1.0, np.nan, np.nan, np.inf, -np.inf])
    b = np.float32([-0.0, tiny, 1.0 + 2.0**-10, np.nan, 1.0, 65504.0, np.inf])
    assert ulp_distance(a, b).tolist() == [0, 2, 1, 0, 2**16, 1, 2 * 0x7C00]
    for bad in (0.1, 1e6, 2.0**-25):
        with pytest.raises(UserError, match='round both'):
            ulp_distance(np.float32([bad]), np.float32([1.0]))


def test_overflow_share():
    x = np.float32([1.0, 65504.0, 65519.996, 65520.0, -271823.0, np.inf, np.nan, 3e38])
    assert overflow_share(x, FLOAT16) == 5 / 8
    assert overflow_share(x, BFLOAT16) == overflow_share(x, FLOAT32) == 2 / 8
    assert overflow_share(np.float32([np.finfo(np.float32).max]), BFLOAT16) == 1.0  # rounds up
    assert overflow_share(np.zeros([0]), FLOAT16) == 0.0


def test_subnormal_and_underflow_share():
    x = np.float32([0.0, -0.0, 2.0**-14, -(2.0**-15), 2.0**-24, 2.0**-25, 1e-30, np.nan, np.inf, 1.0])
    assert subnormal_share(x, FLOAT16) == 4 / 10
    assert underflow_share(x, FLOAT16) == 2 / 10  # 2**-25 is a tie, and zero is even
    assert subnormal_share(x, FLOAT32) == underflow_share(x, FLOAT32) == 0.0


def test_max_error_8bit():
    a = np.linspace(-1, 1, 256)
    assert max_error_8bit(a, a) == 0.0
    assert max_error_8bit(a[:-1], a[1:]) == 1.0
    assert max_error_8bit([-5.0, 1.0], [-1.0, 3.0]) == 0.0  # clipped as on saving
    assert max_error_8bit([-1.0], [np.inf]) == 255.0
    assert max_error_8bit([0.1 / 127.5], [1.2 / 127.5]) == 1.0  # 127.6 and 128.7, rounded to nearest
