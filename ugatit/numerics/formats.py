"""Number formats: how many significant bits, how large, how small.

Every format here is the set {0, +-k * 2**q} with 0 < k < 2**significand_bits and q >= log2(smallest_subnormal), up to
`max_finite`. Rounding to a format (rounding.py) follows from these numbers alone, so tests need no table per format.
"""

from __future__ import annotations

import dataclasses
from typing import Optional

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Format:
    """A binary floating-point format; all limits are positive Python floats, exact."""

    name: str
    significand_bits: int  # with the leading one
    max_finite: float
    smallest_normal: float  # below it the spacing no longer shrinks
    smallest_subnormal: float  # that spacing
    tf_dtype: Optional[tf.DType]  # None: no such dtype exists, values live in float32


def _format(name: str, significand_bits: int, max_exponent: int, tf_dtype: Optional[tf.DType]) -> Format:
    """IEEE 754 layout: the exponents of normal numbers run from 1 - max_exponent to max_exponent."""
    smallest_normal = 2.0 ** (1 - max_exponent)
    spacing_at_one = 2.0 ** (1 - significand_bits)
    return Format(
        name=name,
        significand_bits=significand_bits,
        max_finite=(2.0 - spacing_at_one) * 2.0**max_exponent,
        smallest_normal=smallest_normal,
        smallest_subnormal=smallest_normal * spacing_at_one,
        tf_dtype=tf_dtype,
    )


FLOAT32 = _format('float32', 24, 127, tf.float32)
FLOAT16 = _format('float16', 11, 15, tf.float16)
BFLOAT16 = _format('bfloat16', 8, 127, tf.bfloat16)

# Float16's precision without its range: what float16 costs when range is no problem at all. "Unbounded" means as far
# as the float32 that carries it: 2**-126 to 2**128.
FLOAT16_UNBOUNDED = _format('float16_unbounded', 11, 127, None)

FORMATS = {fmt.name: fmt for fmt in (FLOAT32, FLOAT16, BFLOAT16, FLOAT16_UNBOUNDED)}
