"""A large dense kernel in two bytes a value, where the policy rounds it to float16 anyway and it changes no more.

Emulation rounds every kernel for every batch. For the 268 million values of a full model's first dense layer that costs
fifteen times as much as multiplying them: five passes over gigabytes of fresh memory. Rounded once and kept as float16
they are read at half the bytes, and widened in pieces that stay in the cache.
"""

from __future__ import annotations

from typing import List

import tensorflow as tf

from ugatit.nn.policy import Policy
from ugatit.numerics import FLOAT16

LARGE = 1 << 24  # values; smaller kernels cost little to round
ROWS = 4096  # of a piece: 4 MB in float32 at 256 columns


def worth_keeping(kernel: tf.Tensor, policy: Policy) -> bool:
    """Whether emulation would round so many values to float16 for every batch."""
    return policy.emulated and policy.operand_format is FLOAT16 and kernel.shape.num_elements() >= LARGE


class HalfKernel:
    """x W as `tf.matmul(x, policy.operand(W))`; sums are float32, piece by piece."""

    def __init__(self, kernel: tf.Tensor, policy: Policy) -> None:
        """kernel [C, K] float32; what it holds now counts. Its rounded copy takes half of its memory."""
        rows, columns = kernel.shape
        self._padding = -rows % ROWS  # rows of zeros, so that all pieces are equal
        pieces: List[tf.Tensor] = []
        for start in range(0, rows, ROWS):
            piece = tf.cast(policy.operand(kernel[start : start + ROWS]), tf.float16)
            pieces.append(tf.pad(piece, [[0, ROWS - piece.shape[0]], [0, 0]]))
        self._pieces, self._columns = tf.stack(pieces), columns

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """x [N, C] float32 -> [N, K] float32."""
        count = self._pieces.shape[0]
        x = tf.reshape(tf.pad(x, [[0, 0], [0, self._padding]]), [-1, count, ROWS])

        def add(piece: tf.Tensor, total: tf.Tensor) -> List[tf.Tensor]:
            return [piece + 1, total + tf.matmul(x[:, piece], tf.cast(self._pieces[piece], tf.float32))]

        start = [tf.constant(0), tf.zeros([tf.shape(x)[0], self._columns])]
        return tf.while_loop(lambda piece, _: piece < count, add, start)[1]
