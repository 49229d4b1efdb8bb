"""CAM's weighting and conv_1x1 as one product.

[x w, x w] [K1; K2] = x (diag(w) (K1 + K2))        both attentions use the same weights w = kernel + bias
"""

from __future__ import annotations

import numpy as np


def attended(conv_1x1: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The kernel [C, K] that reads the encoder's features: conv_1x1 [2 C, K], weights [C, 1]."""
    first, second = np.split(conv_1x1.astype(np.float64), 2)
    return (weights.astype(np.float64) * (first + second)).astype(np.float32)
