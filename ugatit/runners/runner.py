"""What the rest of the program knows about a device."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, ContextManager

import tensorflow as tf

from ugatit.nn.build import Build
from ugatit.training.device import Device


@dataclasses.dataclass(frozen=True)
class Runner(Device):
    """An opened device, which can be passed around and logged, and trained on: the methods are those of Device."""

    name: str  # 'cpu', 'gpu' or 'npu', never 'auto'
    device: str  # for tf.device, such as '/GPU:0'
    description: str  # one line for the log
    native_float16: bool  # whether its own float16 can be used; False: float16 is emulated on float32
    static_shapes: bool = False  # True: compiled programs must know the batch size; each new one compiles anew
    xla: bool = False  # True: training steps are compiled by XLA

    def scope(self) -> ContextManager[Any]:
        return tf.device(self.device)

    def adapt(self, build: Build) -> Build:
        """XLA has no kernel for the gradient of TensorFlow's own reflect padding."""
        return dataclasses.replace(build, pad_mode='slices') if self.xla else build

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return tf.function(function, autograph=False, jit_compile=True if self.xla else None)
