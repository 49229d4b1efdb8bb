"""The convolutions of a network in training, by whatever has the cheapest sums forward and backward."""

from __future__ import annotations

from typing import Tuple

import tensorflow as tf

from ugatit.nn.algebra.bilinear import convolve
from ugatit.nn.algebra.upsampling import UPSAMPLED
from ugatit.nn.algebra.winograd import WINOGRAD
from ugatit.nn.pad import reflect_pad

NARROW = 32  # channels below which the transforms take more time than they save


def convolved(x: tf.Tensor, kernel: tf.Tensor, stride: int, margins: Tuple[int, int]) -> tf.Tensor:
    """Reflect pad by `margins` (before, after) and a convolution: x [N, H, W, C] float32, kernel [n, n, C, K]."""
    size, _, inputs, outputs = kernel.shape
    known = None not in x.shape[1:3]
    if known and (size, stride, margins) == (3, 1, (1, 1)) and min(inputs, outputs) >= NARROW:
        return convolve(x, kernel, WINOGRAD)
    return tf.nn.conv2d(reflect_pad(x, *margins), kernel, stride, 'VALID')


def upsampled(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """Nearest neighbour x2, reflect pad 1 and a 3x3 convolution: x [N, H, W, C] float32 -> [N, 2 * H, 2 * W, K]."""
    return convolve(x, kernel, UPSAMPLED)


def can_upsample(x: tf.Tensor) -> bool:
    """Whether `upsampled` takes this map."""
    return None not in x.shape[1:3]
