"""3x3 convolutions as fewer products: bilinear algorithms, forward and backward.

    y = A [ (G g G^T) * (B d B^T) ] A^T        per tile of inputs d and outputs y, and pair of channels

A, G and B are small matrices of one axis (Winograd's in winograd.py, those of an upsampled map in upsampling.py). The
product `*` over channels is a few dozen matrix products, which is where the time goes. The transforms are matrix
products too, of both axes at once, on the pixels of all tiles side by side: one gather brings them there, and holds
the overlap of the tiles and the padding. Everything is linear, so the gradients are the same steps transposed, with as
few multiplications. With V, U the transformed map and kernel, M = V U, everything of both axes:

    y = A M,    dM = A^T dy,    dd = B^T (dM U^T),    dg = G^T (V^T dM)
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Callable, Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.algebra.traced import traced_once

Slopes = Tuple[tf.Tensor, tf.Tensor]
TAPS = 3


@dataclasses.dataclass(frozen=True, eq=False)
class Bilinear:
    """An algorithm for one axis; both axes use the same."""

    outputs: np.ndarray  # A [outputs, products] float64
    taps: np.ndarray  # G [products, 3]
    inputs: np.ndarray  # B [products, pixels of a tile]
    step: int  # pixels from a tile to the next
    padded: Callable[[int], np.ndarray]  # size of an axis -> its pixels with the padding on both sides

    @property
    def products(self) -> int:
        """Matrix products over channels."""
        return self.taps.shape[0] ** 2

    def tiles(self, size: int) -> int:
        """Along an axis of so many pixels."""
        return -(-size // self.step)

    def length(self, size: int) -> int:
        """Outputs along an axis of so many pixels."""
        return self.outputs.shape[0] * size // self.step


def convolve(x: tf.Tensor, kernel: tf.Tensor, algorithm: Bilinear) -> tf.Tensor:
    """x [N, H, W, C] float32, kernel [3, 3, C, K] -> [N, H', W', K], with gradients. H and W must be known.

    Only x and the kernel are kept for the gradients: to transform them again takes less time than the memory of their
    transforms, several times as large, is worth.
    """

    @tf.custom_gradient
    def convolved(x: tf.Tensor, kernel: tf.Tensor) -> Tuple[tf.Tensor, Callable[[tf.Tensor], Slopes]]:
        y = _forward(algorithm)(x, kernel)
        return y, lambda upstream: _backward(algorithm)(x, kernel, tf.ensure_shape(upstream, y.shape))

    return convolved(x, kernel)


def apply(x: tf.Tensor, kernels: tf.Tensor, algorithm: Bilinear) -> tf.Tensor:
    """x [N, H, W, C] float32, kernels of `transformed` [products, C, K] -> [N, H', W', K]."""
    return _applied(algorithm)(x, kernels)


@functools.cache
def _applied(algorithm: Bilinear) -> Callable[..., tf.Tensor]:
    @traced_once
    def applied(x: tf.Tensor, kernels: tf.Tensor) -> tf.Tensor:
        return _collected(_products(_spread(x, algorithm), kernels), x.shape, algorithm)

    return applied


@functools.cache
def _forward(algorithm: Bilinear) -> Callable[..., tf.Tensor]:
    @traced_once
    def forward(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        return _collected(_products(_spread(x, algorithm), transformed(kernel, algorithm)), x.shape, algorithm)

    return forward


@functools.cache
def _backward(algorithm: Bilinear) -> Callable[..., Slopes]:
    @traced_once
    def backward(x: tf.Tensor, kernel: tf.Tensor, upstream: tf.Tensor) -> Slopes:
        product = _collected_slope(upstream, x.shape, algorithm)
        to_x = _spread_slope(_products(product, transformed(kernel, algorithm), transpose_b=True), x, algorithm)
        to_kernel = _products(_spread(x, algorithm), product, transpose_a=True)
        return to_x, _transformed_slope(to_kernel, kernel.shape, algorithm)

    return backward


def transformed(kernel: tf.Tensor, algorithm: Bilinear) -> tf.Tensor:
    """U: [3, 3, C, K] -> [products, C, K], in the kernel's own format."""
    flat = tf.reshape(kernel, [TAPS * TAPS, -1])
    return tf.reshape(tf.matmul(_both(algorithm.taps, flat.dtype), flat), [algorithm.products, *kernel.shape[2:]])


def _transformed_slope(slope: tf.Tensor, shape: tf.TensorShape, algorithm: Bilinear) -> tf.Tensor:
    flat = tf.reshape(slope, [algorithm.products, -1])
    return tf.reshape(tf.matmul(_both(algorithm.taps), flat, transpose_a=True), shape)


def _products(a: tf.Tensor, b: tf.Tensor, **transposed: bool) -> tf.Tensor:
    """One by one: each keeps all cores busy, and TensorFlow's batched product is slower."""
    return tf.stack([tf.matmul(x, y, **transposed) for x, y in zip(tf.unstack(a), tf.unstack(b))])


def _spread(x: tf.Tensor, algorithm: Bilinear) -> tf.Tensor:
    """V: [N, H, W, C] -> [products, N * tiles, C]."""
    channels, matrix = x.shape[-1], _both(algorithm.inputs)
    seen = tf.gather(tf.reshape(x, [-1, channels]), _pixels(x, algorithm))
    spread = tf.matmul(matrix, tf.reshape(seen, [matrix.shape[1], -1]))
    return tf.reshape(spread, [algorithm.products, -1, channels])


def _spread_slope(slope: tf.Tensor, x: tf.Tensor, algorithm: Bilinear) -> tf.Tensor:
    """A pixel that several tiles see, or that the padding repeats, gets the sum of its slopes."""
    channels = x.shape[-1]
    seen = tf.matmul(_both(algorithm.inputs), tf.reshape(slope, [algorithm.products, -1]), transpose_a=True)
    seen, where = tf.reshape(seen, [-1, channels]), _pixels(x, algorithm)
    return tf.reshape(tf.math.unsorted_segment_sum(seen, where, tf.size(x) // channels), tf.shape(x))


def _pixels(x: tf.Tensor, algorithm: Bilinear) -> tf.Tensor:
    """[pixels of a tile * N * tiles] int32: where they lie in the flat batch [N * H * W, C]."""
    _, height, width, _ = x.shape
    rows, columns = _seen(height, algorithm), _seen(width, algorithm)
    places = rows[:, None, :, None] * width + columns[:, None, :]  # [row, column of a tile, tile down, tile across]
    pictures = tf.range(tf.shape(x)[0]) * (height * width)
    places = tf.constant(places.reshape(rows.shape[0] * columns.shape[0], 1, -1), tf.int32)
    return tf.reshape(places + pictures[:, None], [-1])


def _seen(size: int, algorithm: Bilinear) -> np.ndarray:
    """[pixels of a tile, tiles] of an axis; a tile that reaches beyond the padding sees its last pixel there, and what
    comes of it is cut off."""
    seen = np.arange(algorithm.inputs.shape[1])[:, None] + algorithm.step * np.arange(algorithm.tiles(size))
    padded = algorithm.padded(size)
    return padded[np.minimum(seen, len(padded) - 1)]


def _collected(product: tf.Tensor, shape: tf.TensorShape, algorithm: Bilinear) -> tf.Tensor:
    """y: [products, N * tiles, K] -> [N, H', W', K] for a map of this `shape` [N, H, W, C]."""
    side, channels = algorithm.outputs.shape[0], product.shape[-1]
    down, across = algorithm.tiles(shape[1]), algorithm.tiles(shape[2])
    y = tf.matmul(_both(algorithm.outputs), tf.reshape(product, [algorithm.products, -1]))
    y = tf.transpose(tf.reshape(y, [side, side, -1, across, channels]), [2, 0, 3, 1, 4])
    y = tf.reshape(y, [-1, side * down, side * across, channels])
    return y[:, : algorithm.length(shape[1]), : algorithm.length(shape[2])]


def _collected_slope(slope: tf.Tensor, shape: tf.TensorShape, algorithm: Bilinear) -> tf.Tensor:
    side, channels = algorithm.outputs.shape[0], slope.shape[-1]
    short = [side * algorithm.tiles(size) - algorithm.length(size) for size in shape[1:3]]
    slope = tf.pad(slope, [[0, 0], *([0, pixels] for pixels in short), [0, 0]]) if any(short) else slope
    across = algorithm.tiles(shape[2])
    slope = tf.transpose(tf.reshape(slope, [-1, side, across, side, channels]), [1, 3, 0, 2, 4])
    slope = tf.matmul(_both(algorithm.outputs), tf.reshape(slope, [side * side, -1]), transpose_a=True)
    return tf.reshape(slope, [algorithm.products, -1, channels])


def _both(one_axis: np.ndarray, dtype: tf.DType = tf.float32) -> np.ndarray:
    """The matrix of both axes, rows first."""
    return np.kron(one_axis, one_axis).astype(dtype.as_numpy_dtype)
