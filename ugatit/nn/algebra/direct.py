"""The convolutions that no identity helps: reflect pad in one gather, and the kernel as a constant of the graph.

A constant is packed for the machine once; a variable's kernel is packed for every picture.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.algebra.padding import padded, reflected


class DirectConv:
    """Reflect pad and a convolution, as `ugatit.nn.layers.Conv` without the bias."""

    def __init__(self, kernel: np.ndarray, stride: int, margins: Tuple[int, int], dtype: tf.DType) -> None:
        """kernel [n, n, C, K] float32; margins: pixels before (top, left) and after."""
        self._stride, self._margins, self._dtype = stride, margins, dtype
        self._kernel = tf.cast(tf.constant(kernel), dtype).numpy()

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """x [H, W, C] -> [H', W', K]."""
        height, width, _ = x.shape
        x = padded(x, reflected(height, *self._margins), reflected(width, *self._margins))
        y = tf.nn.conv2d(tf.cast(x, self._dtype)[None], tf.constant(self._kernel), self._stride, 'VALID')
        return tf.cast(y[0], tf.float32)
