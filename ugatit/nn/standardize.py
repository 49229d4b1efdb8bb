"""x_hat = (x - mean) / sqrt(variance + epsilon) over given axes: one function per way of computing the statistics."""

from __future__ import annotations

import dataclasses
from typing import Callable, Dict, Sequence, Tuple, Union

import tensorflow as tf

from ugatit.nn.policy import FLOAT32_POLICY, Policy, wide
from ugatit.numerics import power_of_two_near

Keep = Callable[[str, tf.Tensor, int], tf.Tensor]  # (official suffix, tensor, power of the input's scale) -> tensor
Epsilon = Union[float, tf.Tensor]


def unnamed(suffix: str, x: tf.Tensor, power: int) -> tf.Tensor:
    """The `keep` that does nothing."""
    del suffix, power
    return x


def _mean(x: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
    return tf.reduce_mean(wide(x), axes, keepdims=True)


def plain(x: tf.Tensor, axes: Sequence[int], epsilon: Epsilon, policy: Policy, keep: Keep = unnamed) -> tf.Tensor:
    """The official computation, every stored intermediate in the policy's vector format.

    In float16 `SquaredDifference` overflows where |x - mean| >= 256, and one mean leaves a residual where it is large.
    That residual exists in float32 too, and is kept because it is the official arithmetic: TensorFlow sums a channel's
    pixels one after another, so 65,792 values of N(3001, 1) put x_hat off by 0.16 in 2.21 and by 2.2 in 2.6.5. This
    network's means stay within a few deviations (1e-5 there); for other data use `prescaled`, which centres twice.
    """
    store = policy.vector
    x = store(x)
    mean = keep('moments/mean', store(_mean(x, axes)), 1)
    centred = keep('sub', store(x - mean), 1)
    squares = keep('moments/SquaredDifference', store(tf.square(centred)), 2)
    variance = keep('moments/variance', store(_mean(squares, axes)), 2)
    deviation = store(tf.sqrt(store(variance + tf.cast(epsilon, variance.dtype))))
    return keep('truediv', store(centred / deviation), 0)


def float32(x: tf.Tensor, axes: Sequence[int], epsilon: Epsilon, policy: Policy, keep: Keep = unnamed) -> tf.Tensor:
    """The official computation in float32, its mean as exact as TensorFlow's; only x_hat is in the vector format."""
    wide_policy = dataclasses.replace(FLOAT32_POLICY, native=False)
    return policy.vector(plain(wide(x), axes, epsilon, wide_policy, keep))


AMPLITUDE = 64.0
"""Centred values are brought to [64, 128): their squares reach 16384 at most, and the mean of 2**24 of them with a
single spike is still 2**-12, a normal float16."""
LARGEST_EPSILON = 2.0**14
SMALLEST_SUM = 2.0**-24  # the smallest positive float16: what an epsilon that underflowed must still be


def prescaled(x: tf.Tensor, axes: Sequence[int], epsilon: Epsilon, policy: Policy, keep: Keep = unnamed) -> tf.Tensor:
    """Statistics that fit float16 at any amplitude: scale by a power of two, centre twice, scale again, square.

    The product of the scales, squared, divides epsilon, so that epsilon is not inflated. The product has a lower bound
    (`least`), reached only where the deviation is far below sqrt(epsilon); it keeps the rescaled epsilon below 2**14.
    """
    store = policy.vector
    epsilon = tf.cast(epsilon, tf.float32)
    # 2 * sqrt(eps / 2**14) rounded down to a power of two is at least sqrt(eps / 2**14)
    least = power_of_two_near(2.0 * tf.sqrt(epsilon / LARGEST_EPSILON))
    x = store(x)
    first = tf.stop_gradient(tf.maximum(power_of_two_near(_amax(x, axes)), least * AMPLITUDE))
    x = store(wide(x) / first)
    centred = store(x - store(_mean(x, axes)))
    # A float16 mean leaves a residual. Subtracting it rounds every value once more, so only where it counts.
    residual = store(_mean(centred, axes))
    half_unit = 2.0 ** -(policy.vector_format.significand_bits + 1)  # of the largest centred value's last place
    counts = tf.abs(wide(residual)) > half_unit * _amax(centred, axes)
    centred = store(centred - tf.where(counts, residual, tf.zeros_like(residual)))
    second = tf.maximum(power_of_two_near(_amax(centred, axes)) / AMPLITUDE, least / first)
    second = tf.stop_gradient(second)
    centred = store(wide(centred) / second)
    variance = store(_mean(store(tf.square(centred)), axes))
    rescaled = store(tf.maximum(epsilon / tf.square(first * second), SMALLEST_SUM))
    return keep('truediv', store(centred / store(tf.sqrt(store(variance + rescaled)))), 0)


def _amax(x: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
    return tf.reduce_max(tf.abs(wide(x)), axes, keepdims=True)


Standardize = Callable[[tf.Tensor, Sequence[int], Epsilon, Policy, Keep], tf.Tensor]
STATISTICS: Dict[str, Standardize] = {'plain': plain, 'float32': float32, 'prescaled': prescaled}
INSTANCE_AXES: Tuple[int, ...] = (1, 2)
LAYER_AXES: Tuple[int, ...] = (1, 2, 3)
