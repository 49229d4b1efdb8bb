"""Padding as one gather of whole pixels, which copies memory where MirrorPad computes every value's index.

padded[i, j] = x[rows[i], columns[j]]
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf


def reflected(size: int, before: int, after: int) -> np.ndarray:
    """Indices of an axis with mirrored margins, its edge not repeated: 2 1 | 0 1 2 3 | 2 1."""
    i = np.abs(np.arange(-before, size + after))
    return np.where(i < size, i, 2 * (size - 1) - i)


def repeated(size: int, margin: int) -> np.ndarray:
    """Indices of an axis whose edge is repeated: 0 0 | 0 1 2 3 | 3 3."""
    return np.clip(np.arange(-margin, size + margin), 0, size - 1)


def padded(x: tf.Tensor, rows: np.ndarray, columns: np.ndarray) -> tf.Tensor:
    """x [H, W, C] -> [len(rows), len(columns), C]."""
    height, width, channels = x.shape
    flat = rows[:, None] * width + columns
    return tf.gather(tf.reshape(x, [height * width, channels]), tf.constant(flat, tf.int32))
