"""Where two pictures differ, and by how much: one fixed logarithmic scale, so that maps can be compared."""

from __future__ import annotations

import numpy as np

LEAST, MOST = -4, 8  # log2 of levels of 255: black at a 16th of a level, brightest at 256
RAMP = ((0, 0, 0), (62, 28, 128), (186, 48, 92), (246, 148, 44), (255, 248, 214))


def difference_map(picture: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """uint8 [S, S, 3] of two pictures [S, S, 3] in [-1, 1]: per pixel the largest difference of its channels.

    What is not finite in either is as different as can be.
    """
    with np.errstate(invalid='ignore'):
        apart = np.abs(np.asarray(picture, np.float64) - np.asarray(reference, np.float64)).max(-1) * 127.5
    apart = np.where(np.isfinite(apart), apart, np.inf)
    with np.errstate(divide='ignore'):
        place = np.clip((np.log2(apart) - LEAST) / (MOST - LEAST), 0.0, 1.0)
    stops = np.linspace(0.0, 1.0, len(RAMP))
    channels = [np.interp(place, stops, [colour[i] for colour in RAMP]) for i in range(3)]
    return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)


def place_of(levels: float) -> float:
    """Where a difference of so many levels lies on the scale: 0 black to 1 brightest."""
    return float(np.clip((np.log2(levels) - LEAST) / (MOST - LEAST), 0.0, 1.0))
