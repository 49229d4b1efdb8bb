"""The convolutions of a network in training, by whatever has the cheapest sums forward and backward."""

from __future__ import annotations

from typing import Tuple

import tensorflow as tf

from ugatit.nn.algebra.bilinear import convolve
from ugatit.nn.algebra.upsampling import UPSAMPLED
from ugatit.nn.algebra.winograd import WINOGRAD
from ugatit.nn.pad import reflect_pad, upsample


def convolved(x: tf.Tensor, kernel: tf.Tensor, stride: int, margins: Tuple[int, int]) -> tf.Tensor:
    """Reflect pad by `margins` (before, after) and a convolution: x [N, H, W, C] float32, kernel [n, n, C, K]."""
    if _known(x) and (kernel.shape[0], stride, margins) == (3, 1, (1, 1)):
        return convolve(x, kernel, WINOGRAD)
    return tf.nn.conv2d(reflect_pad(x, *margins), kernel, stride, 'VALID')


def upsampled(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """Nearest neighbour x2, reflect pad 1 and a 3x3 convolution: x [N, H, W, C] float32 -> [N, 2 * H, 2 * W, K]."""
    return convolve(x, kernel, UPSAMPLED) if _known(x) else convolved(upsample(x), kernel, 1, (1, 1))


def _known(x: tf.Tensor) -> bool:
    """Whether tiles can be laid out: height and width do not wait for the first picture."""
    return None not in x.shape[1:3]
