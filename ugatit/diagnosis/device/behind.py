"""Operations beside the matrix unit: alone, and behind a convolution, whose format some compilers carry on."""

from __future__ import annotations

from typing import Tuple

import numpy as np
import tensorflow as tf

from ugatit.diagnosis.device.arithmetic import Arithmetic
from ugatit.diagnosis.device.sums import MOST_BITS, first, longest
from ugatit.nn.pad import mirror_pad, slices_pad

SQUARED = 90000.0  # of 300, beyond 65504
MEAN = 57344.0  # of 4096 equal values, 7 * 2**13: every format holds it, and float16 not their sum


def vector_bits(arithmetic: Arithmetic) -> int:
    """Significant bits of an element-wise sum with no convolution near it."""

    def add(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return arithmetic.vector(arithmetic.vector(a) + arithmetic.vector(b))

    small = np.array([2.0**-k for k in range(1, MOST_BITS)], np.float32)
    found = arithmetic.run(add, np.ones_like(small), small)[0].astype(np.float64)
    return 1 + longest(list(found == 1.0 + small.astype(np.float64)))


def squares_behind(arithmetic: Arithmetic) -> Tuple[float, float]:
    """300 * 300 as the operator SquaredDifference, and as a difference that is squared, both behind a convolution."""

    def squares(x: tf.Tensor, kernel: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        y = arithmetic.vector(arithmetic.conv(x, kernel))
        mean = arithmetic.vector(tf.reduce_mean(y, [1, 2], keepdims=True))
        centred = arithmetic.vector(y - mean)
        return arithmetic.vector(tf.math.squared_difference(y, mean)), arithmetic.vector(tf.square(centred))

    x = np.array([[[[100.0], [-100.0]], [[100.0], [-100.0]]]], np.float32)
    both = arithmetic.run(squares, x, np.full([1, 1, 1, 1], 3.0, np.float32))
    return first(both[0]), first(both[1])


def mean_behind(arithmetic: Arithmetic) -> float:
    """The mean of 64 x 64 times 57344 behind a convolution."""

    def mean(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        return arithmetic.vector(tf.reduce_mean(arithmetic.conv(x, kernel), [1, 2]))

    x = np.full([1, 64, 64, 1], MEAN / 2.0, np.float32)
    return first(arithmetic.run(mean, x, np.full([1, 1, 1, 1], 2.0, np.float32))[0])


def reflect_padding(arithmetic: Arithmetic) -> bool:
    """Whether the MirrorPad operator gives what slices and concatenation give."""
    x = np.arange(2 * 5 * 6 * 3, dtype=np.float32).reshape(2, 5, 6, 3)
    padded, sliced = (
        arithmetic.run(lambda x, pad=pad: pad(x, 3, 2), x)[0] for pad in (mirror_pad, slices_pad)
    )  # fmt: skip
    return padded.shape == sliced.shape and bool(np.array_equal(padded, sliced))


def same_bits_twice(arithmetic: Arithmetic) -> bool:
    """A convolution, its mean and both gradients, computed twice by the same program."""

    def everything(x: tf.Tensor, kernel: tf.Tensor) -> Tuple[tf.Tensor, ...]:
        with tf.GradientTape() as tape:
            tape.watch([x, kernel])
            y = arithmetic.conv(x, kernel)
            total = tf.reduce_sum(tf.reduce_mean(tf.square(y), [1, 2]))
        return (y, total, *tape.gradient(total, [x, kernel]))

    draw = np.random.RandomState(0)
    x, kernel = draw.normal(size=[4, 32, 32, 48]), draw.normal(size=[1, 1, 48, 64])
    with arithmetic.device.scope():
        program = arithmetic.device.compile(everything)
        arguments = [tf.constant(value, tf.float32) for value in (x, kernel)]
        first, second = ([np.asarray(part).tobytes() for part in program(*arguments)] for _ in range(2))
    return first == second
