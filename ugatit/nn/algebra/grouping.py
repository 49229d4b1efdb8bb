"""Convolutions to a few channels on groups of neighbouring pixels, which fill the machine's vectors.

    y[4 p + q] = sum_k g_k x[4 p + q + k] = sum_m G_m[q] X[p + m]    X[p] = x[4 p], x[4 p + 1], x[4 p + 2], x[4 p + 3]

Four pixels side by side with C channels are one pixel with 4 C channels, in memory the same thing. A 7x7 kernel
becomes 7x3 with zeros in it: 12 / 7 of the multiplications, but 12 outputs where there were 3, and a vector holds 16.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ugatit.nn.algebra.padding import padded, reflected

GROUP = 4


class GroupedConv:
    """Reflect pad and a convolution of stride 1 with an odd square kernel; the width is a multiple of 4."""

    def __init__(self, kernel: np.ndarray, dtype: tf.DType) -> None:
        """kernel [n, n, C, K] float32."""
        size, _, channels, outputs = kernel.shape
        self._margin = size // 2
        self._lead = -self._margin % GROUP  # pixels in front of the margin, so that pixel 0 begins a group
        self._taps = -(-(self._lead + size + GROUP - 1) // GROUP)
        grouped = np.zeros((size, self._taps * GROUP, channels, GROUP, outputs), np.float32)
        for place in range(GROUP):
            start = self._lead + place
            grouped[:, start : start + size, :, place] = kernel
        grouped = grouped.reshape(size, self._taps, GROUP * channels, GROUP * outputs)
        self._outputs, self._dtype = outputs, dtype
        self._kernel = tf.cast(tf.constant(grouped), dtype).numpy()

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """x [H, W, C] -> [H, W, K]."""
        height, width, channels = x.shape
        groups = width // GROUP + self._taps - 1
        before = self._lead + self._margin
        columns = reflected(width, before, groups * GROUP - width - before)
        x = padded(x, reflected(height, self._margin, self._margin), columns)
        x = tf.reshape(x, [1, height + 2 * self._margin, groups, GROUP * channels])
        y = tf.nn.conv2d(tf.cast(x, self._dtype), tf.constant(self._kernel), 1, 'VALID')
        return tf.cast(tf.reshape(y, [height, width, self._outputs]), tf.float32)
