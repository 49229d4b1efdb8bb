"""The emulation against TensorFlow's own float16 convolution, where that one accumulates in float32."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from ugatit.numerics import FLOAT16, round_to, ulp_distance

NATIVE = int(tf.__version__.split('.')[1]) >= 16
pytestmark = pytest.mark.skipif(
    not NATIVE, reason=f'TensorFlow {tf.__version__} accumulates 1x1 float16 convolutions in float16'
)


def _spacing(x: np.ndarray) -> np.ndarray:
    """The distance between float16 values at |x|."""
    return np.maximum(np.ldexp(1.0, np.frexp(x)[1] - FLOAT16.significand_bits), FLOAT16.smallest_subnormal)


@pytest.mark.parametrize('amplitude', [1e-3, 1.0, 50.0])
@pytest.mark.parametrize(
    'size, kernel, channels, filters', [(32, 3, 64, 64), (16, 1, 256, 64), (32, 7, 3, 64), (8, 3, 256, 32)]
)
def test_convolution(size, kernel, channels, filters, amplitude):
    x = round_to(tf.random.stateless_normal([1, size, size, channels], [1, 2]) * amplitude, FLOAT16)
    w = round_to(tf.random.stateless_normal([kernel, kernel, channels, filters], [3, 4]) * 0.05, FLOAT16)
    conv = tf.function(lambda a, b: tf.nn.conv2d(a, b, 1, 'SAME'), autograph=False)
    half = conv(tf.cast(x, tf.float16), tf.cast(w, tf.float16)).numpy()
    emulated = round_to(conv(x, w), FLOAT16).numpy()
    x, w = tf.cast(x, tf.float64), tf.cast(w, tf.float64)
    exact, size_of_terms = conv(x, w).numpy(), conv(tf.abs(x), tf.abs(w)).numpy()
    accumulation = kernel * kernel * channels * tolerances.FLOAT32_UNIT_ROUNDOFF * size_of_terms
    for result in (half.astype(np.float64), emulated.astype(np.float64)):
        assert np.isfinite(result).all()
        # At most half a spacing from a sum that is itself off by the accumulation error.
        allowed = accumulation + 0.5 * _spacing(np.maximum(np.abs(exact), np.abs(result)))
        assert np.all(np.abs(result - exact) <= allowed)
    ulp = ulp_distance(half, emulated)
    print(
        f'conv {kernel}x{kernel} {channels}->{filters}, amplitude {amplitude:g}: native and emulated differ by at most '
        f'{ulp.max()} ulp, {np.mean(ulp > 0):.3%} of the values differ'
    )


def test_both_overflow_in_the_same_places():
    x = tf.constant(np.linspace(100, 60000, 64 * 16).reshape(1, 8, 8, 16), tf.float32)
    x, w = round_to(x, FLOAT16), tf.ones([1, 1, 16, 4])
    half = tf.nn.conv2d(tf.cast(x, tf.float16), tf.cast(w, tf.float16), 1, 'SAME').numpy()
    emulated = round_to(tf.nn.conv2d(x, w, 1, 'SAME'), FLOAT16, 'ieee').numpy()
    assert 0 < np.isinf(emulated).mean() < 1
    assert np.array_equal(np.isinf(half), np.isinf(emulated))
