"""Number formats, rounding, powers of two and error measures. Knows nothing of networks."""

from ugatit.numerics.errors import (
    cosine,
    max_error_8bit,
    overflow_share,
    psnr,
    relative_l2,
    ssim,
    subnormal_share,
    ulp_distance,
    underflow_share,
)
from ugatit.numerics.exponents import (
    FLOOR_LOG2_OF_ZERO,
    MAX_EXPONENT,
    MIN_EXPONENT,
    floor_log2,
    floor_log2_numpy,
    pow2,
    power_of_two_near,
    power_of_two_near_bits,
    scale_by_pow2,
    scale_by_pow2_numpy,
)
from ugatit.numerics.formats import BFLOAT16, FLOAT16, FLOAT16_UNBOUNDED, FLOAT32, FORMATS, Format
from ugatit.numerics.rounding import OVERFLOW_MODES, check_overflow, round_to, round_to_numpy

__all__ = [
    'BFLOAT16',
    'FLOAT16',
    'FLOAT16_UNBOUNDED',
    'FLOAT32',
    'FLOOR_LOG2_OF_ZERO',
    'FORMATS',
    'Format',
    'MAX_EXPONENT',
    'MIN_EXPONENT',
    'OVERFLOW_MODES',
    'check_overflow',
    'cosine',
    'floor_log2',
    'floor_log2_numpy',
    'max_error_8bit',
    'overflow_share',
    'pow2',
    'power_of_two_near',
    'power_of_two_near_bits',
    'psnr',
    'relative_l2',
    'round_to',
    'round_to_numpy',
    'scale_by_pow2',
    'scale_by_pow2_numpy',
    'ssim',
    'subnormal_share',
    'ulp_distance',
    'underflow_share',
]
