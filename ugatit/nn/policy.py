"""Precision as a small frozen value that is passed in: which format each kind of operation computes in."""

from __future__ import annotations

import dataclasses
from typing import Optional, Tuple

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.numerics import BFLOAT16, FLOAT16, FLOAT16_UNBOUNDED, FLOAT32, Format, round_both_ways, round_to

OVERFLOWS: Tuple[str, str] = ('ieee', 'saturate')


@dataclasses.dataclass(frozen=True)
class Policy:
    """Formats of the three kinds of values, and what overflow does.

    Values travel as float32 tensors and are rounded at operation borders (`native=False`, the emulation: operands and
    results in the format, accumulation in float32), or are cast to the format and computed there (`native=True`, for
    devices that have it). Reductions always accumulate in float32; only their result is rounded.

    Emulated gradients are exact unless there is an `alarm`: with one they are rounded like the values that they belong
    to, as in training on such hardware, and those that do not fit are counted in the alarm's own gradient.
    """

    name: str
    operand_format: Format = FLOAT32  # what convolutions and dense layers multiply
    result_format: Format = FLOAT32  # what they give
    vector_format: Format = FLOAT32  # element-wise operations and statistics
    overflow: str = 'ieee'  # or 'saturate': inf becomes the largest finite value, NaN becomes 0
    native: bool = False  # True: tensors really have these dtypes; only where the device computes in them
    alarm: Optional[tf.Variable] = dataclasses.field(default=None, compare=False, repr=False)  # float32 scalar

    def operand(self, x: tf.Tensor) -> tf.Tensor:
        """A convolution's or dense layer's input or kernel, in the operand format."""
        return tf.cast(x, self.operand_format.tf_dtype) if self.native else self._round(x, self.operand_format)

    def result(self, x: tf.Tensor) -> tf.Tensor:
        """A convolution's or dense layer's stored result (and its bias), in the result format."""
        return tf.cast(x, self.result_format.tf_dtype) if self.native else self._round(x, self.result_format)

    def vector(self, x: tf.Tensor) -> tf.Tensor:
        """An element-wise operation's stored result, in the vector format."""
        return tf.cast(x, self.vector_format.tf_dtype) if self.native else self._round(x, self.vector_format)

    def _round(self, x: tf.Tensor, fmt: Format) -> tf.Tensor:
        if self.alarm is None:
            return round_to(x, fmt, self.overflow)
        return round_both_ways(x, fmt, self.overflow, tf.convert_to_tensor(self.alarm))

    @property
    def emulated(self) -> bool:
        """Whether rounding is done by operations of ours, so that they can look at what they round."""
        return not self.native

    @property
    def has_float16(self) -> bool:
        """Whether anything is stored in float16, so that range matters."""
        return FLOAT16 in (self.operand_format, self.result_format, self.vector_format)

    def floor(self) -> Policy:
        """The same significand with an unlimited exponent: what the format costs when range is no problem."""

        def unbounded(fmt: Format) -> Format:
            return FLOAT16_UNBOUNDED if fmt is FLOAT16 else fmt

        formats = (self.operand_format, self.result_format, self.vector_format)
        if any(fmt is BFLOAT16 for fmt in formats):
            raise UserError(
                'A floor is defined for float16 policies; bfloat16 has the exponent range of float32 anyway.'
            )
        return Policy(f'{self.name}:floor', *(unbounded(fmt) for fmt in formats))


def wide(x: tf.Tensor) -> tf.Tensor:
    """float32, so that a sum or mean neither overflows nor loses its small terms (float16 means of ones give 0)."""
    return tf.cast(x, tf.float32)


_FORMATS = {
    'float32': (FLOAT32, FLOAT32, FLOAT32),
    'mixed_float16': (FLOAT16, FLOAT16, FLOAT32),
    'float16': (FLOAT16, FLOAT16, FLOAT16),
    'float16_operands': (FLOAT16, FLOAT32, FLOAT32),
    'mixed_bfloat16': (BFLOAT16, BFLOAT16, FLOAT32),
}
PRECISIONS: Tuple[str, ...] = tuple(_FORMATS)


def make_policy(precision: str = 'float32', overflow: str = 'ieee', native: bool = False) -> Policy:
    """The policy with this name; raises UserError that lists the legal names.

    Args:
        precision: one of PRECISIONS.
        overflow: 'ieee' or 'saturate'.
        native: compute in the device's own formats where it has what the policy says; emulated otherwise.
    """
    if precision not in _FORMATS:
        raise UserError(
            f'precision must be one of {", ".join(PRECISIONS)}, but {precision!r} arrived; choose one of these.'
        )
    if overflow not in OVERFLOWS:
        raise UserError(
            f'overflow must be one of {", ".join(OVERFLOWS)}, but {overflow!r} arrived; choose one of these.'
        )
    if precision == 'mixed_bfloat16' and overflow == 'saturate':
        raise UserError('overflow saturate belongs to float16 hardware, but precision is mixed_bfloat16; use ieee.')
    formats = _FORMATS[precision]
    return Policy(precision, *formats, overflow=overflow, native=native and overflow == 'ieee' and _is_native(*formats))


def _is_native(operand: Format, result: Format, vector: Format) -> bool:
    """Whether casting to these formats computes in them, on a device that has them."""
    del vector
    if operand is BFLOAT16 and tuple(map(int, tf.__version__.split('.')[:2])) < (2, 16):
        return False  # 2.6.5 has no kernel, and its eager convolution silently returns an empty tensor
    return operand is result  # a half convolution gives halves, so wider results are emulated


FLOAT32_POLICY = make_policy()
