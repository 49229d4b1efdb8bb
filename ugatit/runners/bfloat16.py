"""Whether this machine's CPU multiplies bfloat16 itself."""

from __future__ import annotations

import platform
import re

import tensorflow as tf

_FLAGS = re.compile(r'^(flags|Features)\s*:.*\b(avx512_bf16|amx_bf16|bf16)\b', re.MULTILINE)
_FIRST_VERSION = (2, 16)  # 2.6.5 has no kernel, and its eager convolution silently returns an empty tensor


def cpu_has_bfloat16() -> bool:
    """True where both the CPU and TensorFlow's kernels can; without the former they are slower than float32."""
    if tuple(map(int, tf.__version__.split('.')[:2])) < _FIRST_VERSION or platform.system() != 'Linux':
        return False
    try:
        with open('/proc/cpuinfo', encoding='utf-8', errors='replace') as file:
            return bool(_FLAGS.search(file.read()))
    except OSError:
        return False
