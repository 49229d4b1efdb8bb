"""Convolutions in training: results and both gradients against float64, batches, odd sizes, powers of two."""

from __future__ import annotations

from typing import Callable, List, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.nn.weights import deviation
from ugatit.nn.algebra import trained
from ugatit.nn.algebra.bilinear import convolve
from ugatit.nn.algebra.standardized import standardized
from ugatit.nn.algebra.upsampling import UPSAMPLED
from ugatit.nn.algebra.winograd import WINOGRAD
from ugatit.nn.pad import reflect_pad, upsample

INPUTS, OUTPUTS = 6, 5
SIZES = [(1, 8, 8), (2, 5, 7), (3, 2, 2), (2, 3, 18)]  # pictures, height, width: multiples of a tile and not
Layer = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


class Kind(NamedTuple):
    """A convolution, and the plain operators that it stands for."""

    layer: Layer
    plain: Layer
    kernel: int = 3


def _plain(margins: tuple, stride: int = 1) -> Layer:
    return lambda x, kernel: tf.nn.conv2d(reflect_pad(x, *margins), kernel, stride, 'VALID')


def _chosen(margins: tuple, stride: int = 1) -> Layer:
    return lambda x, kernel: trained.convolved(x, kernel, stride, margins)


KINDS = {
    'winograd': Kind(lambda x, kernel: convolve(x, kernel, WINOGRAD), _plain((1, 1))),
    'upsampled': Kind(
        lambda x, kernel: convolve(x, kernel, UPSAMPLED), lambda x, kernel: _plain((1, 1))(upsample(x), kernel)
    ),
    'chosen': Kind(_chosen((1, 1)), _plain((1, 1))),
    'stride 2': Kind(_chosen((1, 0), 2), _plain((1, 0), 2)),
    '4x4, stride 2': Kind(_chosen((1, 1), 2), _plain((1, 1), 2), 4),
    '7x7': Kind(_chosen((3, 3)), _plain((3, 3)), 7),
}


def _with_slopes(layer: Layer, x: tf.Tensor, kernel: tf.Tensor, upstream: tf.Tensor) -> List[tf.Tensor]:
    """Result, gradient to the map, gradient to the kernel."""
    with tf.GradientTape() as tape:
        tape.watch([x, kernel])
        y = layer(x, kernel)
    return [y, *tape.gradient(y, [x, kernel], upstream)]


def _arguments(kind: Kind, size: tuple) -> List[tf.Tensor]:
    """Map, kernel and the slope that arrives, float32."""
    x = np.random.normal(0.5, 1.0, (*size, INPUTS))
    kernel = np.random.normal(0.0, 0.3, (kind.kernel, kind.kernel, INPUTS, OUTPUTS))
    upstream = np.random.normal(size=kind.plain(tf.constant(x), tf.constant(kernel)).shape)
    return [tf.constant(values, tf.float32) for values in (x, kernel, upstream)]


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('name', KINDS)
def test_results_and_gradients_are_those_of_float64(name: str, size: tuple) -> None:
    kind = KINDS[name]
    if min(size[1:]) <= kind.kernel // 2:
        size = (size[0], *(pixels + kind.kernel for pixels in size[1:]))  # or there is nothing to mirror
    arguments = _arguments(kind, size)
    exact = _with_slopes(kind.plain, *(tf.cast(value, tf.float64) for value in arguments))
    for run in (_with_slopes, tf.function(_with_slopes, autograph=False)):
        found = run(kind.layer, *arguments)
        assert [value.shape for value in found] == [value.shape for value in exact]
        off = [deviation(value, right) for value, right in zip(found, exact)]
        assert max(off) <= tolerances.ALGEBRA_LAYER, off


@pytest.mark.parametrize('name', KINDS)
def test_powers_of_two_pass_through_and_two_runs_have_the_same_bits(name: str) -> None:
    kind = KINDS[name]
    x, kernel, upstream = _arguments(kind, (2, 12, 10))
    run = tf.function(_with_slopes, autograph=False)
    once, again = (run(kind.layer, x, kernel, upstream) for _ in range(2))
    moved = run(kind.layer, 8.0 * x, kernel / 32.0, 4.0 * upstream)
    for value, same, scaled, factor in zip(once, again, moved, (8.0 / 32.0, 4.0 / 32.0, 8.0 * 4.0)):
        assert np.array_equal(value, same)
        assert np.array_equal(value * factor, scaled)


@pytest.mark.parametrize('axes', [(1, 2), (1, 2, 3)])
def test_a_standardisation_and_its_gradient(axes: tuple) -> None:
    def plain(x: tf.Tensor, epsilon: tf.Tensor) -> tf.Tensor:
        centred = x - tf.reduce_mean(x, axes, keepdims=True)
        return centred / tf.sqrt(tf.reduce_mean(tf.square(centred), axes, keepdims=True) + epsilon)

    x, upstream = np.random.normal(0.5, 1.0, (2, 3, 9, 7, INPUTS))

    def with_slope(layer: Layer, dtype: tf.DType) -> List[tf.Tensor]:
        value = tf.constant(x, dtype)
        with tf.GradientTape() as tape:
            tape.watch(value)
            y = layer(value, tf.constant(1e-5, dtype))
        return [y, tape.gradient(y, value, tf.constant(upstream, dtype))]

    exact = with_slope(plain, tf.float64)
    found = with_slope(lambda x, epsilon: standardized(x, axes, epsilon), tf.float32)
    assert max(deviation(value, right) for value, right in zip(found, exact)) <= tolerances.ALGEBRA_LAYER
