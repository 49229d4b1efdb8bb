"""Gradients written out against TensorFlow's own, in float64, where another order of the sums hardly shows."""

from __future__ import annotations

from typing import Any, Callable, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from ugatit.nn import gradients


def _draw(seed: int, *shape: int) -> tf.Tensor:
    return tf.constant(np.random.RandomState(seed).normal(size=shape))


def _slopes(function: Callable[..., tf.Tensor], *inputs: tf.Tensor) -> Tuple[tf.Tensor, Any]:
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
        weights = _draw(9, *y.shape)
        total = tf.reduce_sum(y * weights)
    return y, tape.gradient(total, inputs)


def _near(found: tf.Tensor, expected: tf.Tensor) -> bool:
    return np.max(np.abs(found - expected)) <= tolerances.FLOAT64_FORMULA * np.max(np.abs(expected))


@pytest.mark.parametrize('side', [8, 9, 13])
@pytest.mark.parametrize(('size', 'stride'), [(3, 1), (4, 1), (3, 2), (4, 2)])
def test_a_convolutions_gradients(size: int, stride: int, side: int) -> None:
    x, kernel = _draw(1, 2, side, side + 1, 33), _draw(2, size, size, 33, 32)
    assert gradients._pays(x, kernel, stride)
    y, found = _slopes(lambda x, kernel: gradients.conv2d(x, kernel, stride), x, kernel)
    own, expected = _slopes(lambda x, kernel: tf.nn.conv2d(x, kernel, stride, 'VALID'), x, kernel)
    assert np.array_equal(y, own)
    assert np.array_equal(found[0], expected[0]) and _near(found[1], expected[1])


def test_where_it_pays() -> None:
    kernel = tf.zeros([3, 3, 64, 64])
    assert gradients._pays(tf.zeros([1, 66, 66, 64]), kernel, 1)
    assert not gradients._pays(tf.zeros([1, 67, 66, 64]), kernel, 1)  # a large map
    assert gradients._pays(tf.zeros([1, 129, 129, 64]), kernel, 2)
    assert not gradients._pays(tf.zeros([1, 66, 66, 3]), tf.zeros([3, 3, 3, 64]), 1)
    assert not gradients._pays(tf.zeros([1, 66, 66, 64]), tf.zeros([1, 1, 64, 64]), 1)


def test_it_can_be_differentiated_again() -> None:
    """A gradient penalty is."""
    x, kernel = _draw(1, 2, 9, 9, 32), _draw(2, 4, 4, 32, 32)

    def penalty(convolve: Callable[..., tf.Tensor]) -> Any:
        def of(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(x)
                total = tf.reduce_sum(tf.nn.leaky_relu(convolve(x, kernel)) ** 2)
            return tf.reduce_sum(tape.gradient(total, x) ** 2, [1, 2, 3])

        return _slopes(of, x, kernel)

    y, found = penalty(lambda x, kernel: gradients.conv2d(x, kernel, 2))
    own, expected = penalty(lambda x, kernel: tf.nn.conv2d(x, kernel, 2, 'VALID'))
    assert _near(y, own) and all(_near(a, b) for a, b in zip(found, expected))


@pytest.mark.parametrize('axes', [(1, 2), (1, 2, 3)])
def test_a_standardisations_gradient(axes: Tuple[int, ...]) -> None:
    x = _draw(1, 2, 5, 7, 3) * 3.0 + 1.0
    epsilon = tf.constant(0.01, tf.float64)

    def written(x: tf.Tensor) -> tf.Tensor:
        centred = x - tf.reduce_mean(x, axes, keepdims=True)
        return centred / tf.sqrt(tf.reduce_mean(tf.square(centred), axes, keepdims=True) + epsilon)

    y, found = _slopes(lambda x: gradients.standardized(x, axes, epsilon), x)
    own, expected = _slopes(written, x)
    assert np.array_equal(y, own) and _near(found[0], expected[0])
