"""The CAM attention map laid over a picture: where the generator looks, red for most and blue for least."""

from __future__ import annotations

import numpy as np

from ugatit.data.resize import scale
from ugatit.errors import UserError


def normalize_heatmap(heatmap: np.ndarray) -> np.ndarray:
    """[h, w] of any range to float32 0..1 by its minimum and maximum; a constant map becomes 0 everywhere."""
    if not np.isfinite(heatmap).all():
        raise UserError(
            'expected a finite heat map, but it has NaN or infinite values: compute with '
            '--precision=float32, or with --ranges=auto'
        )
    wide = np.asarray(heatmap, np.float64)  # float32 could overflow in max - min
    low, high = wide.min(), wide.max()
    if low == high:
        return np.zeros(wide.shape, np.float32)
    return ((wide - low) / (high - low)).astype(np.float32)


def jet(values: np.ndarray) -> np.ndarray:
    """0..1 to uint8 RGB [..., 3], the classic jet: dark blue, cyan, yellow, dark red; three clipped tents."""
    centres = np.array([3.0, 2.0, 1.0])  # of red, green and blue, in quarters
    tents = 1.5 - np.abs(4.0 * np.asarray(values, np.float64)[..., None] - centres)
    return np.rint(np.clip(tents, 0.0, 1.0) * 255.0).astype(np.uint8)


def overlay_heatmap(pixels: np.ndarray, heatmap: np.ndarray, opacity: float = 0.5) -> np.ndarray:
    """Blends a heat map [h, w] of any size and range over a picture uint8 [H, W, 3]; returns uint8 [H, W, 3].

    Both must show the same part: the network's square with its own map, or the input with a map that was scaled to the
    square (`resize.scale`) and then restored (`resize.restore`).
    """
    height, width = pixels.shape[:2]
    colours = jet(scale(normalize_heatmap(heatmap), height, width))
    mixed = pixels.astype(np.float64) * (1.0 - opacity) + colours.astype(np.float64) * opacity
    return np.rint(mixed).astype(np.uint8)
