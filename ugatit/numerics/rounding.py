"""Rounding float32 values to a narrower format, as hardware of that format would store them.

Round to nearest, ties to even, subnormals kept. The result stays a float32 tensor. The gradient is straight-through:
it passes unchanged everywhere, also where a value saturated or became zero. Training on such hardware rounds gradients
as well: `round_both_ways`.
"""

from __future__ import annotations

from typing import Callable, Tuple

import numpy as np
import tensorflow as tf

from ugatit.errors import UserError
from ugatit.numerics.formats import FLOAT16, FLOAT32, Format

OVERFLOW_MODES = ('ieee', 'saturate')

_MAGNITUDE = 0x7FFFFFFF  # every bit of a float32 but the sign
_INFINITY = 0x7F800000


def check_overflow(overflow: str) -> str:
    """Returns `overflow` if it is a mode; UserError otherwise."""
    if overflow not in OVERFLOW_MODES:
        raise UserError(f'overflow must be one of {", ".join(OVERFLOW_MODES)}, got {overflow!r}; pick one of these')
    return overflow


def round_to(x: tf.Tensor, fmt: Format, overflow: str = 'ieee') -> tf.Tensor:
    """Rounds to the nearest value of a format; idempotent.

    Args:
        x: float32 tensor of any shape.
        fmt: target format. FLOAT32 returns x itself and adds no operation.
        overflow: 'ieee': too large becomes inf with its sign, inf and NaN stay.
            'saturate': too large and inf become +-fmt.max_finite, NaN becomes 0 (the Ascend 910's only mode).

    Returns:
        float32 tensor of x's shape whose values all belong to the format.

    Raises:
        UserError: unknown overflow mode.
    """
    check_overflow(overflow)
    if fmt is FLOAT32:
        return x
    x = tf.convert_to_tensor(x)
    assert x.dtype == tf.float32, f'round_to works on float32, got {x.dtype.name}'
    rounding = _round_float16 if fmt is FLOAT16 else _round_bits

    @tf.custom_gradient
    def straight_through(value: tf.Tensor) -> Tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        # A cast's own gradient would be rounded to float16 too, a bitcast's is None.
        return rounding(value, fmt, overflow), lambda upstream: upstream

    return straight_through(x)


def round_both_ways(x: tf.Tensor, fmt: Format, overflow: str, alarm: tf.Tensor) -> tf.Tensor:
    """`round_to` whose gradient is rounded to the same format, as hardware that trains in it stores gradients.

    Saturated gradients look like others, so they are counted: the gradient with respect to `alarm`, a float32 scalar
    whose value does not matter, is the number of incoming gradient values that are NaN or reach the format's end.
    Autodiff adds these up over all places, so one number tells whether a backward pass can be used. Gradients of
    gradients are rounded, and counted, in the same way.
    """
    check_overflow(overflow)
    if fmt is FLOAT32:
        return x
    x = tf.convert_to_tensor(x)
    assert x.dtype == tf.float32, f'round_both_ways works on float32, got {x.dtype.name}'
    rounding = _round_float16 if fmt is FLOAT16 else _round_bits

    @tf.custom_gradient
    def rounded(value: tf.Tensor, alarm: tf.Tensor) -> Tuple[tf.Tensor, Callable[[tf.Tensor], Tuple]]:
        def gradient(upstream: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
            return round_both_ways(upstream, fmt, overflow, alarm), _beyond(upstream, fmt)

        return rounding(value, fmt, overflow), gradient

    return rounded(x, alarm)


def _beyond(x: tf.Tensor, fmt: Format) -> tf.Tensor:
    """How many values a format cannot tell from its largest one, or are NaN; float32 scalar."""
    fits = tf.abs(tf.stop_gradient(x)) < fmt.max_finite
    return tf.reduce_sum(tf.cast(tf.logical_not(fits), tf.float32))


def _round_float16(x: tf.Tensor, fmt: Format, overflow: str) -> tf.Tensor:
    """The cast pair, faster than bit arithmetic; TensorFlow's optimiser and XLA leave it alone (tested)."""
    if overflow == 'saturate':
        # NaN first: clipping NaN gives -65504 under XLA in TensorFlow 2.6.5.
        x = tf.where(tf.equal(x, x), x, tf.zeros_like(x))
        x = tf.minimum(tf.maximum(x, -fmt.max_finite), fmt.max_finite)
    return tf.cast(tf.cast(x, tf.float16), tf.float32)


def _round_bits(x: tf.Tensor, fmt: Format, overflow: str) -> tf.Tensor:
    """For formats with float32's exponent range: drop the low bits of the significand, in integers throughout.

    Integers because float arithmetic in TensorFlow flushes float32 subnormals to zero, and 2.6.5's own bfloat16 cast
    does so too or not depending on which thread runs it.
    """
    drop = FLOAT32.significand_bits - fmt.significand_bits
    bits = tf.bitcast(x, tf.int32)
    last_kept = tf.bitwise.bitwise_and(tf.bitwise.right_shift(bits, drop), 1)
    # Just under half a unit, and the missing bit only if the last kept bit is odd: ties go to even. A carry out of
    # the significand raises the exponent, past the largest one it makes exactly inf. The sign bit rides along.
    rounded = tf.bitwise.bitwise_and(bits + last_kept + (2 ** (drop - 1) - 1), -(2**drop))
    if overflow == 'saturate':
        infinite = tf.equal(tf.bitwise.bitwise_and(rounded, _MAGNITUDE), _INFINITY)
        rounded -= tf.cast(infinite, tf.int32) * 2**drop  # the format's value next to infinity is max_finite
    nan_becomes = x if overflow == 'ieee' else tf.zeros_like(x)
    return tf.where(tf.equal(x, x), tf.bitcast(rounded, tf.float32), nan_becomes)


def round_to_numpy(x: np.ndarray, fmt: Format, overflow: str = 'ieee') -> np.ndarray:
    """`round_to` for a NumPy array (weights that are profiled or folded); float32 in, a new float32 array out."""
    check_overflow(overflow)
    x = np.array(x, np.float32)
    if overflow == 'saturate':
        x = np.clip(np.where(np.isnan(x), np.float32(0), x), np.float32(-fmt.max_finite), np.float32(fmt.max_finite))
    if fmt is FLOAT32:
        return x
    if fmt is FLOAT16:
        with np.errstate(over='ignore', under='ignore', invalid='ignore'):
            return x.astype(np.float16).astype(np.float32)
    return _round_bits_numpy(x, FLOAT32.significand_bits - fmt.significand_bits)


def _round_bits_numpy(x: np.ndarray, drop: int) -> np.ndarray:
    bits = x.view(np.uint32)  # unsigned: the sign bit rides along, and only NaN could carry into it
    last_kept = (bits >> np.uint32(drop)) & np.uint32(1)
    rounded = (bits + last_kept + np.uint32(2 ** (drop - 1) - 1)) & np.uint32(0x100000000 - 2**drop)
    return np.where(np.isnan(x), x, rounded.view(np.float32))
