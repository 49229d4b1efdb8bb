"""Normalisations as one scale and one shift per channel, with every statistic from one reading of the map.

With m and v the mean and variance of a channel of x (InstanceNorm's), and x + b the map with the convolution's bias:

    instance:  gamma (x - m) / sqrt(v + eps) + beta                                        b cancels
    layer:     M = mean_c(m + b),   V = mean_c(v + (m + b - M)^2)                          no second pass over the map
    LIN:       (x - m) a + gamma (1 - rho) (m + b - M) / sqrt(V + eps) + beta
               with a = gamma (rho / sqrt(v + eps) + (1 - rho) / sqrt(V + eps))

So a bias in front of a norm is never added to a map: it cancels, or it moves a mean.
"""

from __future__ import annotations

from typing import Tuple

import tensorflow as tf


def instance(x: tf.Tensor, gamma: tf.Tensor, beta: tf.Tensor, epsilon: float) -> tf.Tensor:
    """x [H, W, C]; gamma, beta [C]."""
    mean, variance = moments(x)
    return scaled(x, mean, gamma / tf.sqrt(variance + epsilon), beta)


def mixed(
    x: tf.Tensor, bias: tf.Tensor, rho: tf.Tensor, gamma: tf.Tensor, beta: tf.Tensor, epsilon: float
) -> tf.Tensor:
    """LIN and AdaLIN of x + bias: x [H, W, C], all others [C], `rho` as it is used."""
    mean, variance = moments(x)
    apart = mean + bias - tf.reduce_mean(mean + bias)
    layer = tf.reduce_mean(variance + tf.square(apart))
    by_layer = (1.0 - rho) / tf.sqrt(layer + epsilon)
    scale = gamma * (rho / tf.sqrt(variance + epsilon) + by_layer)
    return scaled(x, mean, scale, gamma * by_layer * apart + beta)


def moments(x: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
    """Mean and biased variance of every channel, [C] each, from those of every column.

    TensorFlow adds a channel's pixels one after another. Where many are equal, as in flat parts of a drawing, every
    addition rounds the same way: over a whole map of 256x256 that moved results by 3e-3, over its columns by 4e-6.
    """
    height, width, channels = x.shape
    count = width * channels
    _, mean, variance, *_ = tf.raw_ops.FusedBatchNormV3(
        x=tf.reshape(x, [1, height, 1, count]), scale=tf.ones([count]), offset=tf.zeros([count]), mean=[],
        variance=[], is_training=True,
    )  # fmt: skip
    means = tf.reshape(mean, [width, channels])
    mean = tf.reduce_mean(means, 0)
    variances = tf.reshape(variance, [width, channels]) * ((height - 1.0) / height)  # the operator's are unbiased
    return mean, tf.reduce_mean(variances + tf.square(means - mean), 0)


def scaled(x: tf.Tensor, mean: tf.Tensor, scale: tf.Tensor, shift: tf.Tensor) -> tf.Tensor:
    """(x - mean) * scale + shift in one pass."""
    return tf.raw_ops.FusedBatchNormV3(
        x=x[None], scale=scale, offset=shift, mean=mean, variance=tf.ones_like(mean), epsilon=0.0, is_training=False
    )[0][0]
