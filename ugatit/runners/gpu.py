"""GPUs, with memory taken as needed rather than all at once. Nothing here has run on a GPU."""

from __future__ import annotations

import logging
import os
from typing import List

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.runners.replicas import UNSHARED, Sharing, shared
from ugatit.runners.runner import Runner

_log = logging.getLogger(__name__)


def gpus() -> List[tf.config.PhysicalDevice]:
    """The GPUs that TensorFlow can use in this process."""
    return tf.config.list_physical_devices('GPU')


def open_gpu(sharing: Sharing = UNSHARED) -> Runner:
    """The first GPU, or as many as are asked for; UserError that says what TensorFlow saw instead and what to install.

    Its own float16 is used: convolutions there accumulate in float32 and overflow to infinity.
    """
    found = gpus()
    if not found:
        raise UserError(f'--device=gpu needs a GPU that TensorFlow can use, but {_seen()}; {_advice()}.')
    if sharing.devices > len(found):
        raise UserError(f'--devices={sharing.devices} GPUs are wanted, but TensorFlow sees {len(found)}; use as many.')
    for gpu in found:
        _grow(gpu)
    details = tf.config.experimental.get_device_details(found[0])
    more = f' ({sharing.devices} of {len(found)} are used)' if len(found) > 1 else ''
    name = details.get('device_name', 'unnamed')
    description = f'gpu, {name}{more}, TensorFlow {tf.__version__}'
    return shared(Runner('gpu', '/GPU:0', description, True, xla=sharing.xla), sharing, 'GPU')


def _grow(gpu: tf.config.PhysicalDevice) -> None:
    try:
        tf.config.experimental.set_memory_growth(gpu, True)
    except RuntimeError:
        _log.warning('TensorFlow was running before the GPU was opened: it keeps all of its memory for itself.')


def _seen() -> str:
    """Why there is none, the likeliest reason first."""
    visible = os.environ.get('CUDA_VISIBLE_DEVICES')
    if visible is not None and visible.strip() in ('', '-1'):
        return f'CUDA_VISIBLE_DEVICES is set to {visible!r}, which hides them all'
    if not tf.test.is_built_with_cuda():
        return f'TensorFlow {tf.__version__} here is built for the CPU only'
    return f'TensorFlow {tf.__version__} found none (is the driver there? does nvidia-smi list it?)'


def _advice() -> str:
    if not tf.test.is_built_with_cuda():
        return "install the GPU build in a fresh environment with pip install -e '.[gpu]', or use --device=cpu"
    return 'make it visible, or use --device=cpu'
