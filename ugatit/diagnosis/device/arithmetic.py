"""What experiments compute with: a device as it is, or one that is emulated on the CPU."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.policy import Policy, wide
from ugatit.numerics import Format
from ugatit.training.device import Device


class Arithmetic:
    """A device: float32 operators, and whatever the device makes of them.

    Experiments hand all numbers over as arguments of a `tf.function`: constants would be folded on the CPU.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._programs: Dict[Any, Callable[..., Any]] = {}  # few, because an NPU compiles each for a long time

    def conv(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """x [N, H, W, C], kernel [1, 1, C, K] -> [N, H, W, K], float32 as stored by the device."""
        return tf.nn.conv2d(x, kernel, 1, 'VALID')

    def matmul(self, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return tf.matmul(a, b)

    def vector(self, x: tf.Tensor) -> tf.Tensor:
        """An element-wise operation's result, as it is stored."""
        return x

    def slopes(self, x: tf.Tensor, kernel: tf.Tensor, upstream: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        """The convolution's gradients to its input and to its kernel."""
        with tf.GradientTape() as tape:
            tape.watch([x, kernel])
            y = self.conv(x, kernel)
        return tuple(tape.gradient(y, [x, kernel], output_gradients=upstream))

    def run(self, function: Callable[..., Any], *arguments: Any) -> List[np.ndarray]:
        """Calls a function compiled for the device; float32 arrays in, arrays out."""
        with self.device.scope():
            if function not in self._programs:
                as_it_is = tf.autograph.experimental.do_not_convert(function)  # its errors keep their words
                self._programs[function] = self.device.compile(as_it_is)
            results = self._programs[function](*(tf.constant(a, tf.float32) for a in arguments))
            return [np.asarray(result) for result in tf.nest.flatten(results)]

    def overflow_raised(self, x: np.ndarray, kernel: np.ndarray) -> Optional[bool]:
        """Whether the device's own status says that this convolution overflowed; None where it keeps no status."""
        if not self.device.has_status:
            return None
        return bool(self.run(self._watched, x, kernel)[0])

    def _watched(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(self.device.clear_status()):
            y = self.conv(x, kernel)
        return self.device.overflowed([y])


class Emulated(Arithmetic):
    """A device that is emulated by rounding at the borders of operations, as a `Policy` says."""

    def __init__(self, policy: Policy, kernel_gradient: Format, status: bool, products: Policy) -> None:
        super().__init__(Device())
        self._policy, self._kernel_gradient, self._status = policy, kernel_gradient, status
        self._products = products  # of matrices

    def conv(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        operand, result = self._policy.operand, self._policy.result
        return result(tf.nn.conv2d(operand(x), operand(kernel), 1, 'VALID'))

    def matmul(self, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return self._products.result(tf.matmul(self._products.operand(a), self._products.operand(b)))

    def vector(self, x: tf.Tensor) -> tf.Tensor:
        return self._policy.vector(wide(x))

    def slopes(self, x: tf.Tensor, kernel: tf.Tensor, upstream: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        halves = [self._policy.operand(value) for value in (x, kernel, upstream)]
        to_x, to_kernel = Arithmetic(Device()).slopes(*halves)
        narrowed = dataclasses.replace(self._policy, result_format=self._kernel_gradient)
        return self._policy.result(to_x), narrowed.result(to_kernel)

    def overflow_raised(self, x: np.ndarray, kernel: np.ndarray) -> Optional[bool]:
        if not self._status:
            return None
        return bool(np.abs(x.astype(np.float64).reshape(-1) @ kernel.astype(np.float64).reshape(-1, 1)).max() > 65504)
