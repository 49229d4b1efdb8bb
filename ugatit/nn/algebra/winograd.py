"""3x3 convolutions with a quarter of the multiplications: Winograd's F(4x4, 3x3) (Lavin and Gray, arXiv 1509.09308).

    Y = A^T [ (G g G^T) * (B^T d B) ] A        per tile of 6x6 inputs d, 4x4 outputs Y, and pair of channels

The product over channels is one batch of 36 matrix products. The transforms are matrix products too: B^T for all tiles
of an axis is one matrix [6 * tiles, size], which also holds the overlap of the tiles and the reflect padding, so that
neither costs a copy of the map. The points 0, +-3/4, +-3/2 were chosen for their rounding: about twice a direct
convolution's error, where the usual 0, +-1, +-2 have four times (docs/performance.md). They are dyadic, so A and B are
exact.
"""

from __future__ import annotations

import functools
from typing import Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.algebra.padding import reflected
from ugatit.nn.algebra.product import Product

OUTPUTS, TAPS = 4, 3
TILE = OUTPUTS + TAPS - 1
POINTS = (0.0, 0.75, -0.75, 1.5, -1.5)  # and infinity


def toom_cook() -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(A^T [4, 6], G [6, 3], B^T [6, 6]) in float64: y = A^T [(G g) * (B^T d)] is y_i = sum_k d_(i+k) g_k.

    Row i of B^T holds the coefficients of prod_(j != i) (z - p_j); what Lagrange divides by goes to G.
    """
    points = np.array(POINTS)
    others = [np.delete(points, i) for i in range(len(points))]
    rows = [np.append(np.poly(roots)[::-1], 0.0) for roots in others] + [np.poly(points)[::-1]]
    divisors = [np.prod(point - roots) for point, roots in zip(points, others)] + [1.0]
    return _powers(OUTPUTS).T, _powers(TAPS) / np.array(divisors)[:, None], np.array(rows)


def _powers(count: int) -> np.ndarray:
    """Values of 1, z, z^2 ... at the points; at infinity only the highest power counts."""
    return np.vstack([np.vander(np.array(POINTS), count, increasing=True), np.eye(count)[-1:]])


@functools.lru_cache(maxsize=64)
def axis_transform(size: int) -> np.ndarray:
    """[6, tiles, size] float32: B^T of every tile along an axis of this size, reflect padding of 1 included."""
    tiles = -(-size // OUTPUTS)
    pixel = reflected(size, 1, 1)
    matrix = np.zeros((TILE, tiles, size), np.float32)
    for tile in range(tiles):
        for tap in range(min(TILE, size + 2 - tile * OUTPUTS)):  # the last tile may reach beyond the picture
            matrix[:, tile, pixel[tile * OUTPUTS + tap]] += toom_cook()[2][:, tap]
    return matrix


class WinogradConv:
    """Reflect pad 1 and a 3x3 convolution of stride 1, in float32."""

    def __init__(self, kernel: np.ndarray) -> None:
        """kernel [3, 3, C, K] float32."""
        g, channels = toom_cook()[1], kernel.shape[2:]
        columns_first = tf.cast(tf.reshape(tf.transpose(kernel, [1, 0, 2, 3]), [TAPS * TAPS, -1]), tf.float64)
        transformed = tf.cast(tf.matmul(np.kron(g, g), columns_first), tf.float32)
        self._product = Product(tf.reshape(transformed, [TILE * TILE, *channels]), tf.float32)

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """x [H, W, C] -> [H, W, K]."""
        height, width, channels = x.shape
        rows, columns = axis_transform(height), axis_transform(width)
        down, across = rows.shape[1], columns.shape[1]
        x = tf.matmul(rows.reshape(-1, height), tf.reshape(x, [height, width * channels]))
        x = tf.matmul(columns[:, None], tf.reshape(x, [1, TILE * down, width, channels]))  # [6, 6 * down, across, C]
        y = self._product(tf.reshape(x, [TILE * TILE, down * across, channels]))
        return _assembled(y, down, across)[:height, :width]


def _assembled(y: tf.Tensor, down: int, across: int) -> tf.Tensor:
    """The output transform: [36, tiles, K], columns first, -> [4 * down, 4 * across, K]."""
    a = toom_cook()[0].astype(np.float32)
    channels = y.shape[-1]
    y = tf.matmul(np.kron(a, a), tf.reshape(y, [TILE * TILE, down * across * channels]))
    y = tf.transpose(tf.reshape(y, [OUTPUTS, OUTPUTS, down, across, channels]), [2, 1, 3, 0, 4])
    return tf.reshape(y, [OUTPUTS * down, OUTPUTS * across, channels])
