"""Matrix products against a prepared kernel: where the format of the matrix unit begins and ends."""

from __future__ import annotations

from typing import Union

import numpy as np
import tensorflow as tf


class Product:
    """x W; operands and result in `dtype` (as the policy has it), float32 outside."""

    def __init__(self, kernel: Union[np.ndarray, tf.Tensor, tf.Variable], dtype: tf.DType) -> None:
        """kernel [..., C, K]; leading axes are a batch of products."""
        self._dtype = dtype
        self.kernel = tf.cast(tf.convert_to_tensor(kernel), dtype)  # a float32 variable's own memory, not a copy

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """x [..., P, C] float32 -> [..., P, K] float32."""
        return tf.cast(tf.matmul(tf.cast(x, self._dtype), self.kernel), tf.float32)
