"""The Ascend NPU through the vendor's adapter, `npu_device`. Nothing here has ever run on one.

The adapter works with TensorFlow 2.6.5 on Python 3.7 to 3.9 only and is on no package index. What is done here follows
its documents to the letter; tests run it against a stand-in that refuses and computes as they say (docs/ascend.md).
"""

from __future__ import annotations

import dataclasses
import importlib
import logging
import os
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.nn.build import Build
from ugatit.nn.policy import FLOAT32_POLICY, Policy
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.runners.npu_cluster import Cluster, read_cluster
from ugatit.runners.npu_options import section_of
from ugatit.runners.npu_precision import MODES, device_policy
from ugatit.runners.npu_settings import Handover, NpuSettings, hand_over
from ugatit.runners.runner import Runner

TENSORFLOW = '2.6.5'
PYTHON = ((3, 7), (3, 9))  # first and last that the adapter supports
EVERYWHERE = ''  # for tf.device: where `as_default` puts things
_OPENED = '_ugatit_runner'  # the adapter's module remembers, as the device lives as long as its module
_READ = '_ugatit_status_read'  # a traced program remembers where it read the status

_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, eq=False)
class NpuRunner(Runner):
    """One NPU of this process, perhaps one of several that train together."""

    npu: Any = dataclasses.field(default=None, repr=False)  # the adapter's package
    cluster: Cluster = Cluster()
    handover: Handover = Handover({}, {}, [])
    reflect_pad: str = 'slices'
    saturates: bool = True  # an overflow gives 65504 and NaN gives 0; False: infinity, as on GPUs
    static_shapes: bool = True
    op_by_op: bool = False  # scopes and precision modes are the compiler's

    @property
    def replicas(self) -> int:
        return self.cluster.size

    @property
    def processes(self) -> int:
        return self.cluster.size

    @property
    def chief(self) -> bool:
        return self.cluster.rank == 0

    def replica(self) -> int:
        return self.cluster.rank or 0

    def adapt(self, build: Build) -> Build:
        """Float32 operators in which the device rounds, slices for padding, the adapter's scope around statistics."""
        return dataclasses.replace(
            build,
            policy=device_policy(build.policy, self.saturates),
            pad_mode=self.reflect_pad,
            keep_float32=self.npu.keep_dtype_scope,
        )

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return tf.function(function, autograph=False)  # the adapter's own by now

    def broadcast(self, variables: Sequence[tf.Variable]) -> None:
        if self.replicas > 1:
            self.npu.distribute.broadcast(list(variables), root_rank=0)

    def mean(self, tensors: Sequence[tf.Tensor]) -> List[tf.Tensor]:
        if self.replicas == 1 or not tensors:
            return list(tensors)
        return list(self.npu.distribute.all_reduce(list(tensors), reduction='mean'))

    def explain(self, error: Exception) -> Optional[str]:
        """HCCL's operators are called Hcom...; what they say is not documented, so only that much is told."""
        if self.replicas == 1 or not any(word in str(error).lower() for word in ('hcom', 'hccl')):
            return None
        return (
            f'worker {self.replica()} of {self.replicas} could not exchange values with the others: look at their logs'
            ' for the first that failed, and start all of them again; the run continues from its last checkpoint.'
        )

    def clear_status(self) -> List[Any]:
        """After all reads before it in the same program, whether or not the operators are ordered by themselves."""
        if not self.has_status:
            return []
        with tf.control_dependencies(getattr(_program(), _READ, [])):
            return [self.npu.gen_npu_ops.npu_clear_float_status_v2()]

    def overflowed(self, after: Sequence[tf.Tensor]) -> Optional[tf.Tensor]:
        """The register of the device, summed over all of them; None where overflow shows as infinity anyway."""
        if not self.has_status:
            return None
        with tf.control_dependencies(list(after)):
            status = self.npu.gen_npu_ops.npu_get_float_status_v2()
        if not tf.executing_eagerly():
            setattr(_program(), _READ, [*getattr(_program(), _READ, []), status])
        if self.replicas > 1:
            status = self.npu.distribute.all_reduce([status], reduction='sum')[0]
        return tf.reduce_any(tf.not_equal(status, 0))

    @property
    def has_status(self) -> bool:
        """Some chips lack the operators (910C); then values decide."""
        names = ('npu_clear_float_status_v2', 'npu_get_float_status_v2')
        return self.saturates and all(hasattr(self.npu.gen_npu_ops, name) for name in names)


def _program() -> Any:
    """What is being traced."""
    return tf.compat.v1.get_default_graph()


def open_npu(
    policy: Policy = FLOAT32_POLICY,
    variants: Variants = DEFAULT_VARIANTS,
    settings: Optional[NpuSettings] = None,
) -> NpuRunner:
    """The NPU that ASCEND_DEVICE_ID names (0 without it), opened in the policy's precision mode, once per process.

    Raises:
      UserError: something is missing or contradicts, or the process has opened it with other options already.
    """
    npu = _adapter()
    settings = settings or NpuSettings()
    cluster = read_cluster(os.environ)
    handover = hand_over(settings, policy, variants)
    opened: Optional[NpuRunner] = getattr(npu, _OPENED, None)
    if opened is None:
        opened = _open(npu, cluster, handover, policy, settings)
        setattr(npu, _OPENED, opened)
    elif _told(opened.handover) != _told(handover):
        raise UserError(
            f'this process has opened its NPU with {_changed(opened.handover.options, handover.options)}, and options'
            ' are fixed then; use another process.'
        )
    if opened.reflect_pad != settings.reflect_pad:  # networks are told this, not the device
        return dataclasses.replace(opened, reflect_pad=settings.reflect_pad)
    return opened


def npu_is_open() -> bool:
    """Whether this process has opened one; from then on the adapter stands in front of TensorFlow."""
    return hasattr(sys.modules.get('npu_device'), _OPENED)


def _open(npu: Any, cluster: Cluster, handover: Handover, policy: Policy, settings: NpuSettings) -> NpuRunner:
    for name, value in handover.environment.items():
        os.environ.setdefault(name, value)
    for name, value in handover.options.items():
        section = section_of(name)
        setattr(getattr(npu.global_options(), section) if section else npu.global_options(), name, value)
    npu.set_npu_loop_size(1)  # one step per call, because each step is judged
    try:
        npu.open(cluster.device_id).as_default()
    except (RuntimeError, ValueError) as error:
        raise UserError(f'the NPU {cluster.device_id} cannot be opened: {error}') from error
    if policy.overflow == 'saturate' and npu.is_inf_nan_enabled():
        npu.set_device_sat_mode(0)  # an A2 can do both
    if cluster.rank is None:
        cluster = dataclasses.replace(cluster, rank=_rank())
    saturates = not npu.is_inf_nan_enabled()
    for line in (*handover.notes, *_facts(policy, handover, saturates)):
        _log.info('npu: %s', line)
    description = f'npu {cluster.device_id}, TensorFlow {tf.__version__}, {_mode(handover)}'
    if cluster.size > 1:
        description += f', rank {cluster.rank} of {cluster.size}'
    return NpuRunner('npu', EVERYWHERE, description, False, npu=npu, cluster=cluster, handover=handover,
                     reflect_pad=settings.reflect_pad, saturates=saturates)  # fmt: skip


def _mode(handover: Handover) -> str:
    return ', '.join(f'{name} {value}' for name, value in handover.options.items() if name.startswith('precision_mode'))


def _facts(policy: Policy, handover: Handover, saturates: bool) -> List[str]:
    """What the log says of the arithmetic."""
    mode = MODES[policy.name]
    overflow = 'saturates at 65504, so no infinity and no NaN shows' if saturates else 'gives infinity'
    return [
        f'{policy.name} is {_mode(handover)}. By the vendor\'s documents a 910 {mode.on_910}; an A2: {mode.on_a2}.'
        ' diagnose.py device --device=npu shows what this one does',
        f'overflow {overflow}',
    ]  # fmt: skip


def _rank() -> int:
    """This process's rank, once the chief has given it out."""
    return int(importlib.import_module('hccl.manage.api').get_rank_id())


def _told(handover: Handover) -> Dict[str, Any]:
    """Options without the generated file, which has a new name each time."""
    return {name: value for name, value in handover.options.items() if name != 'modify_mixlist'}


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return ', '.join(f'{name} {before.get(name)} where now {now.get(name)} is asked for' for name in names)


def _adapter() -> Any:
    """The vendor's package; UserError with everything that is missing."""
    missing = _missing()
    if missing:
        raise UserError(
            "--device=npu needs Python 3.7 to 3.9, TensorFlow 2.6.5 and the vendor's npu_device, but here"
            f" {' and '.join(missing)}; install with pip install -e '.[npu]' on Python 3.9, add the"
            ' npu_device wheel that belongs to your CANN release, or use --device=cpu.'
        )
    return importlib.import_module('npu_device')


def _missing() -> List[str]:
    missing = []
    python = sys.version_info[:2]
    if not PYTHON[0] <= python <= PYTHON[1]:
        missing.append(f'Python is {python[0]}.{python[1]}')
    if tf.__version__ != TENSORFLOW:
        missing.append(f'TensorFlow is {tf.__version__}')
    if missing:
        return missing  # the adapter changes TensorFlow when it is imported: never into one that it does not know
    try:
        importlib.import_module('npu_device')
    except Exception as error:  # a broken CANN installation raises anything
        missing.append(f'npu_device does not import ({type(error).__name__}: {error})')
    return missing
