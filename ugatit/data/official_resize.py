"""The two resize functions of the official code, in NumPy: OpenCV's for testing, TensorFlow 1's for training.

Neither averages over what it skips: a picture made smaller than half loses detail to aliasing. They exist for parity.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

Taps = Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

_COEFFICIENT_BITS = 11  # OpenCV: INTER_RESIZE_COEF_BITS


def opencv_bilinear(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    """cv2.resize(pixels, (width, height)) of uint8 [H, W, C]: half-pixel grid, fixed-point weights of 11 bits.

    Equal to the last bit to OpenCV 4.14 and to the recorded results of the official test loader.
    """
    source_height, source_width = pixels.shape[:2]
    if (source_height, source_width) == (2 * height, 2 * width):
        return _halve(pixels)  # OpenCV takes its area filter at exactly 1/2
    top, bottom, weight_top, weight_bottom = _opencv_taps(source_height, height, clamp_weights=False)
    columns = _opencv_taps(source_width, width, clamp_weights=True)
    # OpenCV's 16-bit vector arithmetic: row sums lose 4 bits, products 16, and the last 2 are rounded.
    upper = (weight_top[:, None, None] * (_mix_columns(pixels[top], columns) >> 4)) >> 16
    lower = (weight_bottom[:, None, None] * (_mix_columns(pixels[bottom], columns) >> 4)) >> 16
    return ((upper + lower + 2) >> 2).astype(np.uint8)


def _halve(pixels: np.ndarray) -> np.ndarray:
    wide = pixels.astype(np.int32)
    total = wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2] + wide[1::2, 1::2]
    return ((total + 2) >> 2).astype(np.uint8)


def _mix_columns(rows: np.ndarray, columns: Taps) -> np.ndarray:
    left, right, weight_left, weight_right = columns
    return rows[:, left] * weight_left[None, :, None] + rows[:, right] * weight_right[None, :, None]


def _opencv_taps(source: int, target: int, clamp_weights: bool) -> Taps:
    """(first index, second index, first weight, second weight) of each target position, weights int32 of sum 2048."""
    position = ((np.arange(target) + 0.5) * (1.0 / (target / source)) - 0.5).astype(np.float32)
    first = np.floor(position).astype(np.int64)
    fraction = position - first.astype(np.float32)
    if clamp_weights:  # OpenCV clamps the weight along x, along y only the index: same value, other rounding
        fraction = np.where((first < 0) | (first >= source - 1), np.float32(0), fraction)
    one = np.float32(1 << _COEFFICIENT_BITS)
    weights = [np.rint(part * one).astype(np.int32) for part in (np.float32(1) - fraction, fraction)]
    last = source - 1
    return np.clip(first, 0, last), np.clip(first + 1, 0, last), weights[0], weights[1]


def tensorflow1_bilinear(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    """tf.compat.v1.image.resize_images of [H, W, C] to float32: legacy grid, position = index * source / target.

    The grid starts at the corner, so the picture moves by half a source pixel times the factor, up and left.
    """
    top, bottom, down = _legacy_taps(pixels.shape[0], height)
    left, right, across = _legacy_taps(pixels.shape[1], width)
    down, across = down[:, None, None], across[None, :, None]
    upper, lower = pixels[top].astype(np.float32), pixels[bottom].astype(np.float32)
    upper = upper[:, left] + (upper[:, right] - upper[:, left]) * across
    lower = lower[:, left] + (lower[:, right] - lower[:, left]) * across
    return upper + (lower - upper) * down


def _legacy_taps(source: int, target: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    position = np.arange(target, dtype=np.float32) * (np.float32(source) / np.float32(target))
    first = np.minimum(np.floor(position).astype(np.int64), source - 1)
    return first, np.minimum(first + 1, source - 1), position - first.astype(np.float32)
