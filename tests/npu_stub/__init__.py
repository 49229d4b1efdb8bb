"""A stand-in for the vendor's `npu_device`, written from its documentation: nothing of it is the vendor's code.

It refuses what the real one is documented to refuse, and computes as an Ascend 910 is documented to: convolutions and
matrix products in float16 with a float32 accumulator, results saturated, every overflow noted in the status register.
What it cannot show is whether the documents are right. Vector operations stay float32 (the training default).

    with npu_stub.installed() as npu:      # `import npu_device` finds it; everything is put back at the end
        ...
"""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any, Dict, Iterator, List
from unittest import mock

from tests.npu_stub import arithmetic, distribute, optimizer, scope
from tests.npu_stub.device import Adapter

__all__ = ['Adapter', 'installed']


@contextlib.contextmanager
def installed(chip: str = '910') -> Iterator[Adapter]:
    """`npu_device` in sys.modules. chip: '910' (saturates only, no float32 convolution) or 'A2' (has both modes)."""
    with contextlib.ExitStack() as undo:
        adapter = Adapter(chip, undo)
        modules = _modules(adapter)
        undo.enter_context(mock.patch.dict(sys.modules, modules))
        yield adapter


def _modules(adapter: Adapter) -> Dict[str, types.ModuleType]:
    """The names that `import npu_device as npu` exports, and those below it that our code may use."""
    train = _module('npu_device.train', optimizer=_module('npu_device.train.optimizer', **optimizer.exports(adapter)))
    hccl = _module('npu_device.distribute', **distribute.exports(adapter))
    top = _module(
        'npu_device',
        open=adapter.open,
        global_options=lambda: adapter.options,
        set_npu_loop_size=adapter.set_npu_loop_size,
        set_device_sat_mode=adapter.set_device_sat_mode,
        is_inf_nan_enabled=lambda: adapter.sat_mode == 1,
        npu_compat_function=adapter.npu_compat_function,
        npu_run_context=contextlib.nullcontext,
        keep_dtype_scope=scope.keep_dtype_scope,
        gen_npu_ops=_module('npu_device.gen_npu_ops', **arithmetic.status_ops(adapter)),
        distribute=hccl,
        train=train,
    )
    below: List[types.ModuleType] = [top, train, train.optimizer, hccl, top.gen_npu_ops]
    return {module.__name__: module for module in below}


def _module(name: str, **members: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    made.__dict__.update(members)
    return made
