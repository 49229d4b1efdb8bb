"""Number formats, rounding, powers of two and error measures. Knows nothing of networks."""

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
    'floor_log2',
    'floor_log2_numpy',
    'pow2',
    'power_of_two_near',
    'power_of_two_near_bits',
    'round_to',
    'round_to_numpy',
    'scale_by_pow2',
    'scale_by_pow2_numpy',
]
