"""Where a model runs: `open_runner('cpu' | 'gpu' | 'auto' | 'npu')` sets the device up and describes it.

Call it before anything else touches TensorFlow's devices: memory growth and visibility are fixed at first use.

A `Runner` is what inference computes on (`device`, `native_float16`) and what training runs on: it is a
`ugatit.training.device.Device`, whose methods training calls in this order.

    with runner.scope():                          # variables are created, and steps called, on the device
        ...networks, optimisers, state...
        runner.broadcast(variables)               # replicas begin with the same values
        step = runner.compile(update)             # tf.function, one call a step, with the whole batch
        step(batch)

    inside `update`, traced, once for each replica:
        rows of runner.replica() of runner.replicas
        with tf.control_dependencies(runner.clear_status()):       # before a phase: clear
            ...forward and backward...
        runner.overflowed(after=gradients)        # after it: read; None: no status, so values decide
        runner.mean(gradients)                    # over replicas; then every replica applies the same update, or none

The plain Device answers for one replica without a status; a subclass of Runner overrides what its device can do better.
"""

from __future__ import annotations

import functools
import logging
from typing import Callable, Dict, Optional, Tuple

from ugatit.errors import UserError
from ugatit.nn.policy import FLOAT32_POLICY, Policy
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.runners.cpu import open_cpu
from ugatit.runners.gpu import gpus, open_gpu
from ugatit.runners.npu import npu_is_open, open_npu
from ugatit.runners.npu_settings import NpuSettings
from ugatit.runners.replicas import UNSHARED, Sharing
from ugatit.runners.runner import Runner
from ugatit.runners.workers import read_worker

__all__ = ['NAMES', 'NpuSettings', 'Runner', 'Sharing', 'open_runner', 'read_worker']

NAMES: Tuple[str, ...] = ('auto', 'cpu', 'gpu', 'npu')
"""What `--device` accepts."""

_log = logging.getLogger(__name__)


def open_runner(
    name: str,
    policy: Policy = FLOAT32_POLICY,
    variants: Variants = DEFAULT_VARIANTS,
    npu: Optional[NpuSettings] = None,
    sharing: Sharing = UNSHARED,
) -> Runner:
    """The named device, ready to use, and logged; UserError where this machine does not have it.

    An NPU must know before it is opened how precise it shall be and which statistics are float32: policy and variants.
    `npu` are its further settings, an error with any other device. `sharing`: several CPUs or GPUs, for training; NPUs
    find out about each other by themselves.
    """
    openers = {**_openers(sharing), 'npu': lambda: open_npu(policy, variants, npu)}
    if name not in openers:
        raise UserError(f'the device must be one of {", ".join(NAMES)}, but {name!r} arrived.')
    if npu is not None and npu.flags and name != 'npu':
        raise UserError(f'{npu.flags[0]} belongs to --device=npu, but the device is {name}; for a dump of what another'
                        ' device computes use diagnose.py dump.')  # fmt: skip
    if name == 'npu' and (sharing.devices > 1 or sharing.worker.count > 1):
        raise UserError('several NPUs are one process each, found by RANK_TABLE_FILE or CM_CHIEF_IP (docs/ascend.md),'
                        ' but --devices or TF_CONFIG asks for another way; leave that out.')  # fmt: skip
    if name == 'npu' and sharing.xla:
        raise UserError('--xla is for CPUs and GPUs, but the device is npu, which has a compiler of its own; leave it'
                        ' out.')  # fmt: skip
    if name != 'npu' and npu_is_open():
        _log.warning('this process has opened an NPU: whether the %s computes as in another process is not known', name)
    runner = openers[name]()
    _log.info('device: %s', runner.description)
    return runner


def _open_auto(sharing: Sharing) -> Runner:
    """The GPU where there is one, else the CPU; never the NPU, which nobody gets by accident."""
    return open_gpu(sharing) if gpus() else open_cpu(sharing)


def _openers(sharing: Sharing) -> Dict[str, Callable[[], Runner]]:
    openers = {'auto': _open_auto, 'cpu': open_cpu, 'gpu': open_gpu}
    return {name: functools.partial(opener, sharing) for name, opener in openers.items()}
