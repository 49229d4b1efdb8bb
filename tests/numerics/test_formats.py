from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.numerics import reference
from ugatit.numerics import BFLOAT16, FLOAT16, FLOAT16_UNBOUNDED, FLOAT32, FORMATS


@pytest.mark.parametrize('fmt, dtype', [(FLOAT16, np.float16), (FLOAT32, np.float32)])
def test_limits_are_numpys(fmt, dtype):
    info = np.finfo(dtype)
    assert fmt.max_finite == float(info.max)
    assert fmt.smallest_normal == float(info.tiny)
    assert fmt.smallest_subnormal == float(np.nextafter(dtype(0), dtype(1)))
    assert fmt.significand_bits == info.nmant + 1


def test_limits_in_numbers():
    assert (FLOAT16.max_finite, FLOAT16.smallest_normal, FLOAT16.smallest_subnormal) == (65504.0, 2.0**-14, 2.0**-24)
    assert BFLOAT16.max_finite == float(tf.bfloat16.max) == 255 * 2.0**120
    assert (FLOAT16_UNBOUNDED.significand_bits, FLOAT16_UNBOUNDED.max_finite) == (11, 2047 * 2.0**117)
    assert FLOAT16_UNBOUNDED.tf_dtype is None


def test_float16_has_63488_finite_values():
    # Both zeros count, as in the bit patterns.
    values = reference.all_values(FLOAT16)
    assert 2 * len(values) == 63488
    assert np.array_equal(values, np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64))


def test_formats_are_found_by_name_and_frozen():
    assert FORMATS['float16'] is FLOAT16 and len(FORMATS) == 4
    with pytest.raises(AttributeError):
        FLOAT16.max_finite = 1.0
