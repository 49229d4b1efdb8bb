"""The Ascend NPU: the place for it. Nothing here has ever run on one.

The vendor's adapter, `npu_device`, works with TensorFlow 2.6.5 on Python 3.7 to 3.9 only and is on no package index.
"""

from __future__ import annotations

import importlib
import sys
from typing import List

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.runners.runner import Runner

TENSORFLOW = '2.6.5'
PYTHON = ((3, 7), (3, 9))  # first and last that the adapter supports


def open_npu() -> Runner:
    """Raises UserError with everything that is missing, and where nothing is, that this device is yet to be written."""
    missing = _missing()
    needs = "--device=npu needs Python 3.7 to 3.9, TensorFlow 2.6.5 and the vendor's npu_device"
    if missing:
        raise UserError(
            f"{needs}, but here {' and '.join(missing)}; install with pip install -e '.[npu]' on Python 3.9, add the"
            ' npu_device wheel that belongs to your CANN release, or use --device=cpu.'
        )
    raise UserError(f'{needs}, and they are here, but this version cannot open an NPU yet; use --device=cpu.')


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
