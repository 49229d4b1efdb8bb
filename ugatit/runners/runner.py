"""What the rest of the program knows about a device."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, ContextManager

import tensorflow as tf

from ugatit.nn.build import Build
from ugatit.training.device import Device


@dataclasses.dataclass(frozen=True)
class Runner(Device):
    """An opened device, which can be passed around and logged, and trained on: the methods are those of Device."""

    name: str = 'cpu'  # or 'gpu' or 'npu', never 'auto'
    device: str = '/CPU:0'  # for tf.device
    description: str = ''  # one line for the log
    native_float16: bool = False
    static_shapes: bool = False  # True: compiled programs must know the batch size; each new one compiles anew
    xla: bool = False  # True: training steps are compiled by XLA

    def scope(self) -> ContextManager[Any]:
        return tf.device(self.device)

    def adapt(self, build: Build) -> Build:
        """XLA has no kernel for the gradient of TensorFlow's own reflect padding, and a slow one for sums by index."""
        return dataclasses.replace(build, pad_mode='slices', algebra=False) if self.xla else build

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return tf.function(function, autograph=False, jit_compile=True if self.xla else None)

    @property
    def processes(self) -> int:
        """How many of them train together."""
        return 1

    def agree(self, stop: bool) -> bool:
        """Whether any process wants to stop: all must stop after the same step, or the rest would wait for ever."""
        return stop if self.processes == 1 else float(_shared_wish(self)(tf.constant(float(stop)))) > 0.0


@functools.cache
def _shared_wish(runner: Runner) -> Callable[..., Any]:
    return runner.compile(lambda wish: runner.mean([wish])[0])
