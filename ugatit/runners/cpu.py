"""The CPU: always there, and the reference for every other device."""

from __future__ import annotations

import os
import platform

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.runners.replicas import UNSHARED, Sharing, shared
from ugatit.runners.runner import Runner


def open_cpu(sharing: Sharing = UNSHARED) -> Runner:
    """The CPU alone, so that a GPU beside it gives no memory away and gets no operation.

    Its float16 is not used: TensorFlow 2.6.5 accumulates some convolutions in float16, and 2.21 trains slowly in it.
    Several devices are logical ones on the same cores: for trying out what several GPUs would do.
    """
    try:
        tf.config.set_visible_devices([], 'GPU')
    except RuntimeError:  # TensorFlow is already running in this process; placement by tf.device still holds
        pass
    if sharing.devices > 1:
        _split(sharing.devices)
    description = f'cpu, {_cores()} cores, {_machine()}, TensorFlow {tf.__version__}'
    return shared(Runner('cpu', '/CPU:0', description, False, xla=sharing.xla), sharing, 'CPU')


def _split(count: int) -> None:
    try:
        cpu = tf.config.list_physical_devices('CPU')[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)
    except RuntimeError:
        pass  # running already: then as many as there are, see below
    there = len(tf.config.list_logical_devices('CPU'))
    if there < count:
        raise UserError(f'{count} logical CPU devices are wanted, but TensorFlow is running with {there} already; use'
                        ' another process.')  # fmt: skip


def _cores() -> int:
    """Cores that this process may use, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1


def _machine() -> str:
    return f'{platform.system()} {platform.machine()}'
