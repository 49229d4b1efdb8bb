"""Powers of two, exactly: made, applied and read off by the exponent field of a float32, never through a logarithm.

Float32 subnormals count as zero wherever a value is scaled: TensorFlow's float kernels flush them, inputs and results,
on CPU in 2.6.5 and in 2.21 alike (an optimised-away multiplication by one is the exception). `floor_log2` only reads.
"""

from __future__ import annotations

from typing import Callable, Tuple

import numpy as np
import tensorflow as tf

MIN_EXPONENT, MAX_EXPONENT = -126, 127  # of a normal float32
FLOOR_LOG2_OF_ZERO = -150  # one below the smallest subnormal, so that floor_log2 stays monotone

_FRACTION_BITS = 23
_BIAS = 127
_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000
_SIGN = -0x80000000


def pow2(e: tf.Tensor) -> tf.Tensor:
    """2**e as float32, exact for -126..127; smaller exponents give 0, larger ones inf.

    Args:
        e: integer tensor or Python int, any shape.
    """
    e = tf.clip_by_value(tf.cast(e, tf.int32), MIN_EXPONENT - 1, MAX_EXPONENT + 1)
    return tf.bitcast(tf.bitwise.left_shift(e + _BIAS, _FRACTION_BITS), tf.float32)


def scale_by_pow2(x: tf.Tensor, e: tf.Tensor) -> tf.Tensor:
    """x * 2**e, exact whenever x and the result are normal, also when 2**e alone would not be.

    Too large becomes inf with its sign, a subnormal x or result becomes zero with its sign, inf and NaN stay.
    The gradient with respect to x is the incoming one times 2**e, by the same rules; e has none.
    For an exponent tensor known to stay within -126..127, `x * pow2(e)` gives the same bits several times faster.

    Args:
        x: float32 tensor.
        e: integer tensor or Python int that broadcasts to x's shape.
    """
    x, e = tf.convert_to_tensor(x), tf.convert_to_tensor(tf.cast(e, tf.int32))  # a variable is read here, once
    known = tf.get_static_value(e)
    if known is not None and np.all((known >= MIN_EXPONENT) & (known <= MAX_EXPONENT)):
        return x * pow2(e)

    @tf.custom_gradient
    def scaled(value: tf.Tensor) -> Tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        return _add_to_exponent(value, e), lambda upstream: scale_by_pow2(upstream, e)

    return scaled(x)


def _add_to_exponent(x: tf.Tensor, e: tf.Tensor) -> tf.Tensor:
    # Not as a product of two powers: the graph optimiser merges constant factors, and the merged one overflows.
    bits = tf.bitcast(x, tf.int32)
    sign = tf.bitwise.bitwise_and(bits, _SIGN)
    field = tf.bitwise.right_shift(tf.bitwise.bitwise_and(bits, _MAGNITUDE), _FRACTION_BITS)
    e = tf.clip_by_value(e, -2 * _BIAS, 2 * _BIAS)  # past any float32 either way; keeps the sums small
    moved = bits + tf.bitwise.left_shift(e, _FRACTION_BITS)
    moved = tf.where(field + e > MAX_EXPONENT + _BIAS, sign + _INFINITY, moved)
    moved = tf.where(tf.logical_or(field + e < 1, field < 1), sign, moved)
    return tf.bitcast(tf.where(field > MAX_EXPONENT + _BIAS, bits, moved), tf.float32)


def floor_log2(x: tf.Tensor) -> tf.Tensor:
    """The integer k with 2**k <= |x| < 2**(k + 1), exact for every finite float32, subnormals too.

    Args:
        x: float32 tensor of any shape.

    Returns:
        int32 tensor of x's shape; zero gives FLOOR_LOG2_OF_ZERO (-150), inf and NaN give 128.
    """
    magnitude = tf.bitwise.bitwise_and(tf.bitcast(x, tf.int32), _MAGNITUDE)
    # A subnormal is magnitude * 2**-149, and an integer below 2**23 is an exact, normal float32.
    integer = tf.bitcast(tf.cast(magnitude, tf.float32), tf.int32)
    subnormal = tf.bitwise.right_shift(integer, _FRACTION_BITS) - _BIAS - 149
    normal = tf.bitwise.right_shift(magnitude, _FRACTION_BITS) - _BIAS
    exponent = tf.where(normal < MIN_EXPONENT, subnormal, normal)
    return tf.where(magnitude > 0, exponent, FLOOR_LOG2_OF_ZERO)


def power_of_two_near(x: tf.Tensor, low: int = MIN_EXPONENT, high: int = MAX_EXPONENT) -> tf.Tensor:
    """The largest power of two not above |x|, held within 2**low..2**high; dividing by it gives 1 <= |x| < 2.

    By comparisons with a table, so it has an ONNX and a TFLite form, and no gradient. Equal to
    `power_of_two_near_bits` for every float32. Meant for amplitudes (one per slice), not for whole feature maps: it
    holds high - low + 1 comparisons per value. In all-float16 graphs the table must fit too: low=-14, high=15.

    Args:
        x: float32 tensor; zero, subnormals and NaN give 1 (nothing to scale), inf gives 2**high.
        low, high: smallest and largest exponent of the result.
    """
    powers = np.ldexp(np.float32(1), np.arange(low, high + 1)).astype(np.float32)
    amplitude = tf.abs(x)
    reached = tf.where(amplitude[..., tf.newaxis] >= powers, powers, powers[0])
    near = tf.where(amplitude > 0.0, tf.reduce_max(reached, axis=-1), tf.ones_like(amplitude))
    return tf.stop_gradient(near)


def power_of_two_near_bits(x: tf.Tensor, low: int = MIN_EXPONENT, high: int = MAX_EXPONENT) -> tf.Tensor:
    """`power_of_two_near` by the exponent field: one pass over x, but bitcast has no ONNX or TFLite form."""
    near = pow2(tf.clip_by_value(floor_log2(x), low, high))
    return tf.stop_gradient(tf.where(tf.abs(x) > 0.0, near, tf.ones_like(near)))


def floor_log2_numpy(x: np.ndarray) -> np.ndarray:
    """`floor_log2` for NumPy float32 or float64 arrays (int32 out), with the same values for zero, inf and NaN."""
    x = np.asarray(x)
    exponent = np.frexp(x)[1] - 1  # frexp's fraction lies in [0.5, 1)
    exponent = np.where(x == 0, FLOOR_LOG2_OF_ZERO, exponent)
    return np.where(np.isfinite(x), exponent, MAX_EXPONENT + 1).astype(np.int32)


def scale_by_pow2_numpy(x: np.ndarray, e: np.ndarray) -> np.ndarray:
    """`scale_by_pow2` for NumPy float32 arrays: the same bits, subnormals become zero here too."""
    x = np.asarray(x, np.float32)
    # Exact in float64; there a product just under the smallest normal is still told from one that rounds up to it.
    scaled = np.ldexp(x.astype(np.float64), np.clip(e, -4 * _BIAS, 4 * _BIAS))
    tiny = np.ldexp(1.0, MIN_EXPONENT)
    scaled = np.where((np.abs(x) < tiny) | (np.abs(scaled) < tiny), np.copysign(0.0, x), scaled)
    with np.errstate(over='ignore'):
        return scaled.astype(np.float32)
