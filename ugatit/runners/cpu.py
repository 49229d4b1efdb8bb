"""The CPU: always there, and the reference for every other device."""

from __future__ import annotations

import os
import platform

import tensorflow as tf

from ugatit.runners.runner import Runner


def open_cpu() -> Runner:
    """The CPU alone, so that a GPU beside it gives no memory away and gets no operation.

    Its float16 is not used: TensorFlow 2.6.5 accumulates some convolutions in float16, and 2.21 trains slowly in it.
    """
    try:
        tf.config.set_visible_devices([], 'GPU')
    except RuntimeError:  # TensorFlow is already running in this process; placement by tf.device still holds
        pass
    return Runner('cpu', '/CPU:0', f'cpu, {_cores()} cores, {_machine()}, TensorFlow {tf.__version__}', False)


def _cores() -> int:
    """Cores that this process may use, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1


def _machine() -> str:
    return f'{platform.system()} {platform.machine()}'
