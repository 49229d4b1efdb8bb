"""Nearest neighbour x2 and a 3x3 convolution as nine products on the small map, a quarter of the multiplications.

Along one axis, with taps g0 g1 g2, the upsampled map repeats every pixel x_i, so a pixel's two outputs are

    even_i = g0 x_(i-1) + (g1 + g2) x_i = (g0 + g1 + g2) x_i - g0 (x_i - x_(i-1))
    odd_i  = (g0 + g1) x_i + g2 x_(i+1) = (g0 + g1 + g2) x_i + g2 (x_(i+1) - x_i)

which is three products with the kernels s = g0 + g1 + g2, -g0 and g2, of which s x_i serves both outputs and each
difference serves two pixels. In two dimensions nine kernels take the place of four times four (the four 2x2
convolutions that even and odd outputs are otherwise), of four times nine without any algebra. Mirroring the upsampled
map repeats the small one's edge: the difference there is 0.

The maps are flat, [pixels, C] with two columns of padding, so that a neighbour is a fixed distance away and taking one
copies nothing. Products in the padding between two rows are made and dropped.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.algebra.bilinear import Bilinear
from ugatit.nn.algebra.padding import padded, repeated
from ugatit.nn.algebra.product import Product


def _edge_repeated(size: int) -> np.ndarray:
    return repeated(size, 1)


VERTICAL = np.array([[1.0, 1.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # s, -g0, g2
HORIZONTAL = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])  # s, g0, -g2: these are subtracted
# The same as a bilinear algorithm, for its gradients; forward, `UpsampledConv` is two to three times as fast.
UPSAMPLED = Bilinear(
    np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]),
    VERTICAL,
    np.array([[0.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]),  # x_i, and its differences to both sides
    1,
    _edge_repeated,
)


class UpsampledConv:
    """Upsampling, reflect pad 1 and a 3x3 convolution of stride 1."""

    def __init__(self, kernel: np.ndarray, dtype: tf.DType) -> None:
        """kernel [3, 3, C, K] float32."""
        nine = np.kron(VERTICAL, HORIZONTAL) @ kernel.astype(np.float64).reshape(9, -1)
        nine = nine.astype(np.float32).reshape(3, 3, *kernel.shape[2:])
        self._products = [[Product(nine[i, j], dtype) for j in range(3)] for i in range(3)]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """x [H, W, C] -> [2 * H, 2 * W, K]."""
        height, width, _ = x.shape
        row, count = _flat(height, width)
        centre, horizontal, vertical, both = _differences(x)
        product = self._products
        shared = product[0][0](centre)
        rows = [shared + product[1 + i][0](vertical[i * row : i * row + count]) for i in (0, 1)]
        columns = [product[0][1 + j](horizontal[j : j + count]) for j in (0, 1)]
        outputs = []
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
            corner = product[1 + i][1 + j](both[i * row + j : i * row + j + count])
            # A chain of sums would become AddN, which adds in whatever order its buffers come: other bits each time.
            outputs.append(rows[i] - (columns[j] + corner))
        return tf.gather(tf.concat(outputs, 0), tf.constant(_interleaved(height, width), tf.int32))


def _flat(height: int, width: int) -> Tuple[int, int]:
    """The distance of a pixel and the one below it; pixels from the first to the last, the padding between included."""
    return width + 2, height * (width + 2) - 2


def _differences(x: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """The flat map, and its differences of neighbours: along a row, along a column, and of both."""
    height, width, channels = x.shape
    row, count = _flat(height, width)
    around = tf.reshape(padded(x, repeated(height, 1), repeated(width, 1)), [-1, channels])
    first, end = row + 1, row + 1 + count
    vertical = around[row:] - around[:-row]
    horizontal = around[first : end + 1] - around[first - 1 : end]
    return around[first:end], horizontal, vertical[1 : 1 + row + count], vertical[1:] - vertical[:-1]


def _interleaved(height: int, width: int) -> np.ndarray:
    """Where the pixels of the large map lie in the four flat maps, one behind the other."""
    y, x = np.arange(2 * height)[:, None], np.arange(2 * width)
    row, count = _flat(height, width)
    return (2 * (y % 2) + x % 2) * count + y // 2 * row + x // 2
