"""3x3 convolutions with a quarter of the multiplications: Winograd's F(4x4, 3x3) (Lavin and Gray, arXiv 1509.09308).

    Y = A^T [ (G g G^T) * (B^T d B) ] A        per tile of 6x6 inputs d, 4x4 outputs Y, and pair of channels

How it is computed, and its gradients, is in bilinear.py. The points 0, +-3/4, +-3/2 were chosen for their rounding:
about twice a direct convolution's error, where the usual 0, +-1, +-2 have four times (docs/performance.md). They are
dyadic, so A and B are exact.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.algebra.bilinear import TAPS, Bilinear, apply, transformed
from ugatit.nn.algebra.padding import reflected

OUTPUTS = 4
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


def _padded(size: int) -> np.ndarray:
    return reflected(size, 1, 1)


WINOGRAD = Bilinear(*toom_cook(), OUTPUTS, _padded)


class WinogradConv:
    """Reflect pad 1 and a 3x3 convolution of stride 1, in float32, with a kernel that stays as it is."""

    def __init__(self, kernel: np.ndarray) -> None:
        """kernel [3, 3, C, K] float32."""
        self._kernels = tf.cast(transformed(tf.cast(kernel, tf.float64), WINOGRAD), tf.float32)

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """x [H, W, C] -> [H, W, K]."""
        return apply(x[None], self._kernels, WINOGRAD)[0]
