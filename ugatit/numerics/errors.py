"""How far two arrays are apart, and how badly one fits a format. NumPy in, float64 inside, Python float out.

Unless said otherwise a pair may have any one shape, and NaN in either array makes the result NaN: a measure never hides
a broken value.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

from ugatit.errors import UserError
from ugatit.numerics.formats import Format
from ugatit.numerics.rounding import round_to_numpy

_SSIM_WINDOW, _SSIM_SIGMA = 11, 1.5
_SSIM_K1, _SSIM_K2 = 0.01, 0.03


def _pair(a: np.ndarray, b: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape or not a.size:
        raise UserError(
            f'expected two non-empty arrays of one shape, got {a.shape} and {b.shape}; compare like with like'
        )
    return a, b


def psnr(a: np.ndarray, b: np.ndarray, peak: float = 2.0) -> float:
    """Peak signal-to-noise ratio in dB over all elements together; equal arrays give inf, an infinite error -inf.

    Args:
        a, b: arrays of one shape, images in [-1, 1] for the default peak.
        peak: the distance from the smallest to the largest possible value.
    """
    a, b = _pair(a, b)
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        return float(10.0 * np.log10(peak**2 / np.mean(np.square(a - b))))


def ssim(a: np.ndarray, b: np.ndarray, peak: float = 2.0) -> float:
    """Mean structural similarity (Wang et al. 2004): 11x11 Gaussian window of sigma 1.5, K1 0.01, K2 0.03.

    Only windows that lie wholly inside a picture count. Every channel is compared on its own.

    Args:
        a, b: pictures [..., height, width, channels], both sides at least 11.
        peak: as for `psnr`.

    Returns:
        The mean over windows, channels and pictures: 1 for equal pictures, at least -1.
    """
    a, b = _pair(a, b)
    if a.ndim < 3 or min(a.shape[-3:-1]) < _SSIM_WINDOW:
        raise UserError(f'ssim expects [..., height, width, channels] of at least 11x11 pixels, got {a.shape}')
    c1, c2 = (_SSIM_K1 * peak) ** 2, (_SSIM_K2 * peak) ** 2
    with np.errstate(invalid='ignore'):
        mean_a, mean_b = _blur(a), _blur(b)
        variances = _blur(a * a) - mean_a**2 + _blur(b * b) - mean_b**2
        covariance = _blur(a * b) - mean_a * mean_b
        luminance = (2 * mean_a * mean_b + c1) / (mean_a**2 + mean_b**2 + c1)
        return float(np.mean(luminance * (2 * covariance + c2) / (variances + c2)))


def _blur(x: np.ndarray) -> np.ndarray:
    """Gaussian window over height and width, without padding."""
    offsets = np.arange(_SSIM_WINDOW) - _SSIM_WINDOW // 2
    weights = np.exp(-0.5 * (offsets / _SSIM_SIGMA) ** 2)
    weights /= weights.sum()
    for axis in (-3, -2):
        kept = x.shape[axis] - _SSIM_WINDOW + 1
        x = sum(w * np.take(x, range(i, i + kept), axis=axis) for i, w in enumerate(weights))
    return x


def relative_l2(value: np.ndarray, reference: np.ndarray) -> float:
    """|value - reference| / |reference| over all elements; 0 if both are zero, inf if only the reference is."""
    value, reference = _pair(value, reference)
    with np.errstate(invalid='ignore'):
        error, size = np.linalg.norm(value - reference), np.linalg.norm(reference)
    if size == 0:
        return float(error) if error == 0 or np.isnan(error) else float('inf')
    with np.errstate(invalid='ignore'):
        return float(error / size)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Cosine of the angle between two tensors seen as vectors; both zero give 1, exactly one zero gives NaN."""
    a, b = _pair(a, b)
    with np.errstate(invalid='ignore'):
        size_a, size_b = np.linalg.norm(a), np.linalg.norm(b)
        if size_a == 0 or size_b == 0:
            return 1.0 if size_a == size_b else float('nan')
        # Divided before they are multiplied: float32's largest values stay finite, its smallest do not vanish.
        return float(np.clip(np.sum((a / size_a) * (b / size_b)), -1.0, 1.0))


def ulp_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many float16 values apart, element by element (int32): 0 equal, 1 neighbours.

    -0 and +0 are one value, infinity is one step above 65504, two NaN are equal, and NaN is 2**16 from anything else.

    Args:
        a, b: arrays of one shape, float16 or wider with values that float16 has (UserError otherwise).
    """
    a, b = _pair(a, b)
    distance = np.abs(_half_order(a) - _half_order(b))
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    return np.where(nan_a | nan_b, np.where(nan_a & nan_b, 0, 2**16), distance).astype(np.int32)


def _half_order(x: np.ndarray) -> np.ndarray:
    """Numbers float16's values in increasing order: 0 for both zeros, +-0x7c00 for the infinities."""
    with np.errstate(over='ignore', invalid='ignore'):
        half = x.astype(np.float16)
    if not np.array_equal(half[~np.isnan(x)].astype(np.float64), x[~np.isnan(x)]):
        raise UserError('ulp_distance expects values that float16 has, got others; round both arrays to float16 first')
    bits = half.view(np.uint16).astype(np.int32)
    return np.where(bits >= 0x8000, 0x8000 - bits, bits)


def overflow_share(x: np.ndarray, fmt: Format) -> float:
    """Share (0..1) of the values that do not stay finite in a format: too large after rounding, inf or NaN."""
    return _share(~np.isfinite(round_to_numpy(x, fmt)))


def subnormal_share(x: np.ndarray, fmt: Format) -> float:
    """Share (0..1) of the values that lose significant bits: not zero, but below the smallest normal number."""
    x = np.abs(np.asarray(x, np.float64))
    with np.errstate(invalid='ignore'):
        return _share((x > 0) & (x < fmt.smallest_normal))


def underflow_share(x: np.ndarray, fmt: Format) -> float:
    """Share (0..1) of the values that are not zero and become zero in a format."""
    return _share((np.asarray(x) != 0) & (round_to_numpy(x, fmt) == 0))


def _share(condition: np.ndarray) -> float:
    return float(np.mean(condition)) if condition.size else 0.0


def max_error_8bit(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference, in levels of 0..255, between two pictures stored with 8 bits per channel.

    Args:
        a, b: pictures of one shape in [-1, 1]; values beyond are clipped as on saving.
    """
    a, b = _pair(a, b)
    levels_a, levels_b = (np.rint((np.clip(x, -1.0, 1.0) + 1.0) * 127.5) for x in (a, b))
    return float(np.max(np.abs(levels_a - levels_b)))
