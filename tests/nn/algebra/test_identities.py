"""Every identity against the dull float64 layers of tests/reference.py, and against the operators it stands for."""

from __future__ import annotations

from typing import Callable

import numpy as np
import pytest
import tensorflow as tf

from tests import reference, tolerances
from tests.nn.weights import deviation
from ugatit.nn.algebra import affine, winograd
from ugatit.nn.algebra.attention import attended
from ugatit.nn.algebra.direct import DirectConv
from ugatit.nn.algebra.grouping import GroupedConv
from ugatit.nn.algebra.padding import padded, reflected, repeated
from ugatit.nn.algebra.product import Product
from ugatit.nn.algebra.upsampling import UpsampledConv
from ugatit.nn.algebra.winograd import WinogradConv

SIZES = [(8, 8), (2, 2), (5, 7), (16, 12), (3, 33)]  # multiples of a tile and not; narrower than one
CHANNELS, OUTPUTS = 12, 5


def _map(height: int, width: int, channels: int = CHANNELS) -> np.ndarray:
    return np.random.normal(0.5, 1.0, (height, width, channels)).astype(np.float32)


def _kernel(size: int, outputs: int = OUTPUTS) -> np.ndarray:
    return np.random.normal(0, 0.3, (size, size, CHANNELS, outputs)).astype(np.float32)


def _agrees(step: Callable[[tf.Tensor], tf.Tensor], x: np.ndarray, exact: np.ndarray) -> None:
    """Eagerly, and in a graph, whose optimiser sees the whole."""
    for run in (step, tf.function(step, autograph=False)):
        assert deviation(run(tf.constant(x)), exact) <= tolerances.ALGEBRA_LAYER


@pytest.mark.parametrize('height, width', SIZES)
def test_winograd(height: int, width: int) -> None:
    x, kernel = _map(height, width), _kernel(3)
    _agrees(WinogradConv(kernel), x, reference.convolve(x[None], kernel, 1, 1)[0])


def test_winograds_transforms_are_those_of_a_correlation_and_hold_in_float32() -> None:
    a, g, b = winograd.toom_cook()
    d, taps = np.random.normal(size=winograd.TILE), np.random.normal(size=winograd.TAPS)
    wanted = np.correlate(d, taps, 'valid')
    assert np.abs(a @ ((g @ taps) * (b @ d)) - wanted).max() <= tolerances.FLOAT64_FORMULA
    assert all(np.array_equal(matrix.astype(np.float32), matrix) for matrix in (a, b))


@pytest.mark.parametrize('height, width', SIZES)
def test_upsampled_convolution(height: int, width: int) -> None:
    x, kernel = _map(height, width), _kernel(3)
    exact = reference.convolve(reference.upsample(x[None]), kernel, 1, 1)[0]
    _agrees(UpsampledConv(kernel, tf.float32), x, exact)


@pytest.mark.parametrize('height, width', [(8, 8), (9, 12), (20, 16)])
@pytest.mark.parametrize('size', [3, 5, 7])
def test_grouped_convolution(height: int, width: int, size: int) -> None:
    x, kernel = _map(height, width), _kernel(size, 3)
    _agrees(GroupedConv(kernel, tf.float32), x, reference.convolve(x[None], kernel, 1, size // 2)[0])


@pytest.mark.parametrize('size, stride, margins', [(7, 1, (3, 3)), (3, 2, (1, 0)), (3, 1, (1, 1))])
def test_direct_convolution(size: int, stride: int, margins: tuple) -> None:
    x, kernel = _map(8, 12), _kernel(size)
    exact = reference.convolve(x[None], kernel, stride, margins[0])[0]
    _agrees(DirectConv(kernel, stride, margins, tf.float32), x, exact)


def test_instance_normalisation() -> None:
    x, gamma, beta = _map(8, 6), *np.random.normal(size=(2, CHANNELS)).astype(np.float32)
    exact = gamma * reference.instance(x[None])[0] + beta
    _agrees(lambda x: affine.instance(x, gamma, beta, reference.EPSILON), x, exact)


@pytest.mark.parametrize('far', [0.0, 30.0], ids=['centred', 'thirty deviations off'])
def test_mixed_normalisation_with_the_bias_in_front_of_it(far: float) -> None:
    x = _map(8, 6) + np.float32(far)
    rho = np.random.uniform(size=CHANNELS).astype(np.float32)
    bias, gamma, beta = np.random.normal(size=(3, CHANNELS)).astype(np.float32)
    exact = gamma * reference.mixed((x + bias.astype(np.float64))[None], rho)[0] + beta
    _agrees(lambda x: affine.mixed(x, bias, rho, gamma, beta, reference.EPSILON), x, exact)


def _drawing() -> np.ndarray:
    """A flat ground with a few lines: sums over it round the same way at every pixel."""
    x = np.broadcast_to(np.random.normal(0.0, 1.0, CHANNELS), (128, 128, CHANNELS)).astype(np.float32)
    drawn = np.random.uniform(size=(128, 128, 1)) < 0.1
    return np.where(drawn, _map(128, 128), x)


def test_statistics_of_flat_maps_do_not_drift() -> None:
    x, rho = _drawing(), np.full(CHANNELS, 0.5, np.float32)
    one, none = np.ones(CHANNELS, np.float32), np.zeros(CHANNELS, np.float32)
    _agrees(lambda x: affine.instance(x, one, none, reference.EPSILON), x, reference.instance(x[None])[0])
    _agrees(lambda x: affine.mixed(x, none, rho, one, none, reference.EPSILON), x, reference.mixed(x[None], rho)[0])


def test_attention_and_conv_1x1() -> None:
    x, weights = _map(4, 5), np.random.normal(size=(CHANNELS, 1)).astype(np.float32)
    kernel = np.random.normal(size=(2 * CHANNELS, OUTPUTS)).astype(np.float32)
    weighted = x.astype(np.float64) * weights[:, 0]
    _agrees(Product(attended(kernel, weights), tf.float32), x, np.concatenate([weighted, weighted], -1) @ kernel)


@pytest.mark.parametrize('before, after', [(3, 3), (1, 0), (4, 2)])
def test_padding_moves_pixels_and_nothing_else(before: int, after: int) -> None:
    x = _map(5, 7)
    wanted = np.pad(x, [(before, after), (before, after), (0, 0)], mode='reflect')
    assert np.array_equal(padded(tf.constant(x), reflected(5, before, after), reflected(7, before, after)), wanted)
    edge = np.pad(x, [(1, 1), (1, 1), (0, 0)], mode='edge')
    assert np.array_equal(padded(tf.constant(x), repeated(5, 1), repeated(7, 1)), edge)


def _upsampled(kernel: np.ndarray) -> UpsampledConv:
    return UpsampledConv(kernel, tf.float32)


def _grouped(kernel: np.ndarray) -> GroupedConv:
    return GroupedConv(kernel, tf.float32)


@pytest.mark.parametrize('made', [WinogradConv, _upsampled, _grouped])
def test_powers_of_two_change_no_bit_and_a_factor_of_three_does(made: Callable) -> None:
    x, kernel = tf.constant(_map(8, 8)), _kernel(3)
    plain = np.asarray(made(kernel)(x))
    assert np.array_equal(made(kernel * np.float32(2**-9))(x * 2.0**5), plain * 2.0**-4)
    assert not np.array_equal(np.asarray(made(kernel * np.float32(3))(x)) / np.float32(3), plain)


def test_a_kernel_that_is_a_thousandth_off_is_seen() -> None:
    """The control of all the comparisons above."""
    x, kernel = _map(8, 8), _kernel(3)
    wrong = WinogradConv(kernel * (1 + 1e-3 * np.random.normal(size=kernel.shape)))
    assert deviation(wrong(tf.constant(x)), reference.convolve(x[None], kernel, 1, 1)[0]) > tolerances.ALGEBRA_LAYER
