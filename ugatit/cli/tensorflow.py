"""Imports TensorFlow for a command: without its start-up chatter, and with a sentence where it is missing or too old.

Only after the flags are read, so that `--help` and a mistyped flag answer at once.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from typing import Iterator, Tuple

from ugatit.data.silence import silent_stderr
from ugatit.errors import UserError

OLDEST = (2, 6)

_KERAS = 'keras.src'


def import_tensorflow() -> None:
    """Makes `import tensorflow` quick and silent from here on; UserError where it cannot be imported or is too old.

    Someone who sets TF_CPP_MIN_LOG_LEVEL wants to see messages and gets them all.
    """
    if 'tensorflow' in sys.modules:
        return
    quiet = 'TF_CPP_MIN_LOG_LEVEL' not in os.environ
    # 3, because it logs as errors what is none (no GPU driver, float16 without a oneDNN kernel); real ones are raised.
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    silent = silent_stderr(replay=True) if quiet else contextlib.nullcontext()  # 2.21's first lines have no level
    try:
        with silent, _without_keras(), _without_garbage_collection():
            version = importlib.import_module('tensorflow').__version__
    except ModuleNotFoundError as error:
        if error.name != 'tensorflow':
            raise
        raise UserError(
            "TensorFlow is not installed in this Python environment; install it with pip install -e '.[cpu]'"
            " (or '.[gpu]' on a machine with an NVIDIA GPU)."
        ) from None
    if _numbers(version) < OLDEST:
        raise UserError(f"TensorFlow 2.6 or newer is needed, but {version} is installed; pip install -e '.[cpu]'.")


@contextlib.contextmanager
def _without_keras() -> Iterator[None]:
    """TensorFlow 2.16 and later import all of Keras at once, a third of their time, and do without where it is missing.

    Nothing of ours uses it. Where somebody does, `tf.keras` imports it then, as ever.
    """
    if _KERAS in sys.modules:
        yield
        return
    sys.modules[_KERAS] = None  # Python's own way to say that a module is not there
    try:
        yield
    finally:
        del sys.modules[_KERAS]


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """The import makes a million objects that stay: each search for garbage among them, also later, takes 0.2 s."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def _numbers(version: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in version.split('.')[:2])
