"""Matrix products against a prepared kernel: where the format of the matrix unit begins and ends."""

from __future__ import annotations

from typing import Union

import numpy as np
import tensorflow as tf


class Product:
    """x W; operands and result in `dtype` (as the policy has it), float32 outside."""

    def __init__(self, kernel: Union[np.ndarray, tf.Variable], dtype: tf.DType) -> None:
        """kernel [..., C, K]; leading axes are a batch of products."""
        self._dtype = dtype
        self.kernel = tf.cast(_float32(kernel), dtype)

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """x [..., P, C] float32 -> [..., P, K] float32."""
        return tf.cast(tf.matmul(tf.cast(x, self._dtype), self.kernel), tf.float32)


def _float32(kernel: Union[np.ndarray, tf.Variable]) -> tf.Tensor:
    """An array rounded once; a variable's own memory, not a copy."""
    return tf.constant(kernel, tf.float32) if isinstance(kernel, np.ndarray) else tf.convert_to_tensor(kernel)
