"""The matrix unit of a 910 as documented: float16 operands, float32 accumulator, float16 results that saturate.

Gradients too: to the input float16, to the kernel float32. What does not fit is noted in the status register, forward
and backward, whoever asks later.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

import tensorflow as tf

from tests.npu_stub.scope import keeps_dtype
from ugatit.numerics import FLOAT16, round_to

_conv2d, _matmul = tf.nn.conv2d, tf.matmul
_FLOAT32_RESULTS = ('cube_fp16in_fp32out', 'force_fp32')
_FLOAT32 = ('must_keep_origin_dtype',)


def replacements(adapter: Any) -> List[Tuple[Any, str, Callable[..., tf.Tensor]]]:
    """(module, name, function) to put in place of TensorFlow's."""
    cube = Cube(adapter)
    return [(tf.nn, 'conv2d', cube.conv2d), (tf, 'matmul', cube.matmul), (tf.linalg, 'matmul', cube.matmul)]


def status_ops(adapter: Any) -> Dict[str, Callable[[], Any]]:
    """The two operators on the register, int32[8]."""

    def npu_get_float_status_v2() -> tf.Tensor:
        return tf.identity(adapter.status)

    def npu_clear_float_status_v2() -> Any:
        adapter.calls.append('clear')  # once per trace
        return adapter.status.assign(tf.zeros([8], tf.int32))

    return {
        'npu_get_float_status_v2': npu_get_float_status_v2,
        'npu_clear_float_status_v2': npu_clear_float_status_v2,
    }


class Cube:
    """Convolutions and products in the precision mode that the device was opened with."""

    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter

    def conv2d(self, x: tf.Tensor, kernel: tf.Tensor, strides: Any, padding: str) -> tf.Tensor:
        if self._adapter.precision_mode in _FLOAT32:
            if self._adapter.chip == '910':
                raise RuntimeError('Conv2D: no kernel of this chip takes float32')
            return _conv2d(x, kernel, strides, padding)
        steps = [1, strides, strides, 1] if isinstance(strides, int) else list(strides)
        fields = dict(strides=steps, padding=padding)

        @tf.custom_gradient
        def on_chip(x: tf.Tensor, kernel: tf.Tensor) -> Tuple[tf.Tensor, Callable[..., Any]]:
            def slopes(upstream: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
                upstream = self._half(upstream)
                # halves again, not captured ones: a penalty differentiates this a second time, with respect to them
                left, right = self._half(x), self._half(kernel)
                to_x = tf.raw_ops.Conv2DBackpropInput(
                    input_sizes=tf.shape(left), filter=right, out_backprop=upstream, **fields
                )
                to_kernel = tf.raw_ops.Conv2DBackpropFilter(
                    input=left, filter_sizes=tf.shape(right), out_backprop=upstream, **fields
                )
                return self._half(to_x), to_kernel

            return self._result(_conv2d(self._half(x), self._half(kernel), steps, padding)), slopes

        return on_chip(x, kernel)

    def matmul(
        self, a: tf.Tensor, b: tf.Tensor, transpose_a: bool = False, transpose_b: bool = False, **more: Any
    ) -> tf.Tensor:
        """Under `keep_dtype_scope` the chip's float32 product is used (a convolution has none)."""
        if self._adapter.precision_mode in _FLOAT32 or keeps_dtype():
            return _matmul(a, b, transpose_a, transpose_b, **more)
        halves = self._half(a), self._half(b)  # its gradient is made of products of halves, in float32
        return self._result(_matmul(*halves, transpose_a, transpose_b, **more))

    def _result(self, y: tf.Tensor) -> tf.Tensor:
        return y if self._adapter.precision_mode in _FLOAT32_RESULTS and self._adapter.chip == 'A2' else self._half(y)

    def _half(self, x: tf.Tensor) -> tf.Tensor:
        x = tf.convert_to_tensor(x)
        if x.dtype != tf.float32:
            return x
        self._note(x)
        return round_to(x, FLOAT16, 'saturate' if self._adapter.sat_mode == 0 else 'ieee')

    def _note(self, x: tf.Tensor) -> None:
        """Counts in the first word: the documents do not say what the words mean."""
        inside = tf.reduce_all(tf.abs(tf.stop_gradient(x)) < 65520.0)  # false for NaN too
        count = tf.cast(tf.logical_not(inside), tf.int32)
        self._adapter.status.assign_add(tf.concat([count[None], tf.zeros([7], tf.int32)], 0))
