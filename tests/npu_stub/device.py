"""Opening a device: one per process, options fixed at that moment; `as_default` replaces TensorFlow's entry points."""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Any, Dict, List, Optional
from unittest import mock

import tensorflow as tf

from tests.npu_stub import arithmetic
from tests.npu_stub.options import Config, conflicts, make_options

Function = Any


class Adapter:
    """The state of the stubbed package, with a log of what was asked of it: `calls`, `handed_over`."""

    def __init__(self, chip: str, undo: contextlib.ExitStack) -> None:
        assert chip in ('910', 'A2')
        self.chip, self._undo = chip, undo
        self.options: Config = make_options()
        self.device_id: Optional[int] = None
        self.default = False
        self.sat_mode = 0 if chip == '910' else 1
        self.loop_size: Optional[int] = None
        self.handed_over: Dict[str, str] = {}  # the options at the moment of opening, as the C++ side gets them
        self.calls: List[str] = []
        self.workers = 1
        self.status = tf.Variable(tf.zeros([8], tf.int32), trainable=False, name='npu_float_status')

    def open(self, device_id: Optional[int] = None) -> Handle:
        """As documented; RuntimeError for a second device or an unusable environment."""
        device_id = int(os.getenv('ASCEND_DEVICE_ID', '0')) if device_id is None else device_id
        if self.device_id is not None and self.device_id != device_id:
            raise RuntimeError(
                f'Failed create npu instance on device {device_id} as existed instance on {self.device_id}'
            )
        if self.device_id is None:
            self.workers = _workers(os.environ)
            self._check_options()
            self.device_id, self.handed_over = device_id, self.options.as_dict()
            self.calls.append(f'open {device_id}')
        return Handle(self)

    def _check_options(self) -> None:
        for sentence in conflicts(self.options):
            raise ValueError(sentence)
        dump = self.options.dump_config
        if (dump.enable_dump or dump.enable_dump_debug) and not pathlib.Path(dump.dump_path or '').is_dir():
            raise ValueError(f'dump_path {dump.dump_path} does not exist')
        mode = self.options.precision_mode or ''
        if self.chip == '910' and mode.endswith('bf16'):
            raise RuntimeError(f'{mode}: this product does not support bfloat16')

    @property
    def precision_mode(self) -> str:
        """What was handed over at opening, or the chip's default."""
        default = 'allow_fp32_to_fp16' if self.chip == '910' else 'must_keep_origin_dtype'
        return self.handed_over.get('precision_mode', default)

    def set_npu_loop_size(self, loop_size: int) -> None:
        self.loop_size = loop_size

    def set_device_sat_mode(self, mode: int) -> None:
        if mode not in (0, 1):
            raise ValueError(f'mode must be 0 or 1, got {mode}')
        if self.chip == '910' and mode == 1:
            raise RuntimeError('this product has the saturation mode only')
        self.sat_mode = mode

    def npu_compat_function(self, func: Function = None, *args: Any, **kwargs: Any) -> Function:
        """tf.function without what an NPU cannot do."""
        for name in ('jit_compile', 'experimental_compile'):
            kwargs.pop(name, None)
        return self._function(func, *args, **kwargs) if func is not None else self._function(*args, **kwargs)

    _function = staticmethod(tf.function)

    def make_default(self) -> None:
        """From here on TensorFlow's operations run on the (emulated) NPU."""
        if self.default:
            return
        self.default = True
        self.calls.append('as_default')
        for owner, name, replacement in (
            (tf, 'function', self.npu_compat_function),
            *arithmetic.replacements(self),
        ):
            self._undo.enter_context(mock.patch.object(owner, name, replacement))


class Handle:
    """What `open` returns."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def as_default(self) -> Handle:
        self._adapter.make_default()
        return self


def _workers(environment: Any) -> int:
    """The documented conflicts of a cluster's environment."""
    if 'RANK_SIZE' in environment and 'CM_WORKER_SIZE' in environment:
        raise ValueError('RANK_SIZE and CM_WORKER_SIZE must not both be set')
    if 'CM_CHIEF_IP' in environment and 'RANK_TABLE_FILE' in environment:
        raise RuntimeError('CM_CHIEF_IP and RANK_TABLE_FILE must not both be set')
    size = int(environment.get('RANK_SIZE', environment.get('CM_WORKER_SIZE', '1')))
    if size > 1 and 'CM_CHIEF_IP' not in environment and 'RANK_TABLE_FILE' not in environment:
        raise RuntimeError('neither CM_CHIEF_IP nor RANK_TABLE_FILE is set, but there are several workers')
    return size
