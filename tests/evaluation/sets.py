"""Seeded features and pictures that our measures and independent packages were both run on; see agreement.json."""

from __future__ import annotations

from typing import Tuple

import numpy as np


def features(kind: str) -> Tuple[np.ndarray, np.ndarray]:
    """Two sets [N, D] and [M, D] of float64: 'near', 'far', or 'flat' with fewer pictures than dimensions."""
    draw = np.random.RandomState(5)
    n, m, dimensions = (12, 14, 40) if kind == 'flat' else (90, 110, 24)
    mix = draw.standard_normal((dimensions, dimensions)) / np.sqrt(dimensions)
    x = draw.standard_normal((n, dimensions)) @ mix
    y = draw.standard_normal((m, dimensions)) @ mix
    return x, y if kind == 'near' else 1.5 * y + 0.4


def pictures() -> Tuple[np.ndarray, np.ndarray]:
    """Two pictures [40, 52, 3] in [-1, 1], float64: waves, and the same with grain."""
    draw = np.random.RandomState(6)
    rows, columns = np.mgrid[0:40, 0:52] / 10.0
    waves = np.stack([np.sin(rows + k) * np.cos(columns * (k + 1)) for k in range(3)], axis=-1)
    return waves, np.clip(waves + 0.2 * draw.standard_normal(waves.shape), -1.0, 1.0)
