"""A standardisation whose gradient is written out: a third of the passes over the map that TensorFlow makes."""

from __future__ import annotations

from typing import Callable, Sequence, Tuple

import tensorflow as tf


def standardized(x: tf.Tensor, axes: Sequence[int], epsilon: tf.Tensor) -> tf.Tensor:
    """(x - mean) / sqrt(variance + epsilon), x [N, H, W, C], axes (1, 2) or (1, 2, 3), epsilon a scalar.

    Gradient: (g - mean(g) - x_hat * mean(g * x_hat)) / deviation, a third of the passes over the map that TensorFlow
    makes; its means are matrix products.
    """

    @tf.custom_gradient
    def centred_and_scaled(x: tf.Tensor) -> Tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        centred = x - tf.reduce_mean(x, axes, keepdims=True)
        deviation = tf.sqrt(tf.reduce_mean(tf.square(centred), axes, keepdims=True) + epsilon)
        x_hat = centred / deviation

        def slope(upstream: tf.Tensor) -> tf.Tensor:
            along = mean_of(upstream * x_hat, axes)
            return (upstream - mean_of(upstream, axes) - x_hat * along) * (1.0 / deviation)

        return x_hat, slope

    return centred_and_scaled(x)


def mean_of(x: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
    """`tf.reduce_mean` over (1, 2) or (1, 2, 3) of [N, H, W, C], keepdims; a product with ones adds on all cores."""
    _, height, width, channels = x.shape
    if height is None or width is None:
        return tf.reduce_mean(x, axes, keepdims=True)
    pixels = height * width
    per_channel = tf.matmul(tf.fill([1, 1, pixels], 1.0 / pixels), tf.reshape(x, [-1, pixels, channels]))[:, :, None]
    return tf.reduce_mean(per_channel, 3, keepdims=True) if 3 in axes else per_channel
