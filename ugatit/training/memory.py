"""How much memory a run needs, before it is built, and how much there is."""

from __future__ import annotations

import logging
import pathlib
import subprocess
from typing import Dict, NamedTuple, Optional

from ugatit.errors import UserError
from ugatit.nn.architecture import DISCRIMINATORS, GENERATORS, Architecture
from ugatit.nn.blueprint import variable_specs
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants

_log = logging.getLogger(__name__)

REMEDIES = (
    '--config.model.light=True (a fifth of the weights), a smaller --config.model.ch (32: a quarter), or a smaller'
    ' --config.model.image_size (128: a quarter)'
)
# Fitted to the peaks of eight compiled plain steps on a CPU (docs/memory.md), which it gives within 9 %.
# Tensors that one generator call holds at its peak, in units of image_size^2 * ch values, without and per n_res:
_PER_PICTURE, _PER_BLOCK = 19.5, 2.45
_GRADIENTS = 4.7  # copies of the larger pair's weights: gradients, their sums, kernels divided by their spectral norm
_CALLS = 6  # pictures per step and generator pair: 2 fakes, 2 identities, 2 cycles
_DISCRIMINATORS = 4.0  # the same unit, both, real and fake
_RUNTIME = 1.8e9  # TensorFlow itself and the compiled step, bytes
_UNLIMITED = 2**60  # cgroup version 1 writes a number of this size for "no limit"


class Estimate(NamedTuple):
    """Bytes."""

    state: int  # weights and Adam's slots: exact, and what a checkpoint needs on disk
    step: int  # gradients and activations, roughly

    @property
    def total(self) -> int:
        return int(self.state + self.step + _RUNTIME)

    def __str__(self) -> str:
        return f'{_text(self.state)} of weights and Adam state and about {_text(self.step)} for a step'


def estimate_memory(architecture: Architecture, batch_size: int, variants: Variants = DEFAULT_VARIANTS) -> Estimate:
    """What training needs; nothing is allocated."""
    counts = {scopes: _trainable(architecture, scopes, variants) for scopes in (GENERATORS, DISCRIMINATORS)}
    weights = 4 * sum(counts.values())
    unit = 4.0 * architecture.image_size**2 * architecture.ch * batch_size
    generator = _PER_PICTURE + _PER_BLOCK * architecture.n_res
    activations = unit * (_CALLS * generator + _DISCRIMINATORS * 2)
    return Estimate(state=3 * weights, step=int(_GRADIENTS * 4 * max(counts.values()) + activations))


def _trainable(architecture: Architecture, scopes: tuple, variants: Variants) -> int:
    total = 0
    for scope in scopes:
        for spec in variable_specs(architecture, scope, variants).values():
            size = 1
            for side in spec.shape:
                size *= side
            total += size
    return total


def check_memory(estimate: Estimate, free: Optional[int], device: str) -> None:
    """Logs the estimate. UserError where even the weights do not fit; a warning where a step might not."""
    there = 'unknown' if free is None else _text(free)
    _log.info('memory: %s; free on the %s: %s', estimate, device, there)
    if free is None or estimate.total <= free:
        return
    text = f'this model needs {estimate}, but {there} are free on the {device}'
    if estimate.state > free:
        raise UserError(f'{text}; use {REMEDIES}.')
    _log.warning(
        '%s, so it may run out of memory; if it does, use --config.training.recompute=True, or %s.', text, REMEDIES
    )


def free_memory(device: str) -> Optional[int]:
    """Bytes that a process may still take on 'cpu' or 'gpu'; None where nobody says, as for an NPU."""
    if device == 'npu':
        return None
    return _free_gpu() if device == 'gpu' else _free_host()


def _free_host() -> Optional[int]:
    """What Linux calls available, or what is left of this container's limit where that is less."""
    known = [value for value in (_available(), _left_in_cgroup()) if value is not None]
    return min(known) if known else None


def _available() -> Optional[int]:
    try:
        lines = pathlib.Path('/proc/meminfo').read_text().splitlines()
    except OSError:
        return None
    values: Dict[str, str] = dict(line.split(':', 1) for line in lines if ':' in line)
    return int(values['MemAvailable'].split()[0]) * 1024 if 'MemAvailable' in values else None


def _left_in_cgroup() -> Optional[int]:
    """The kernel gives up its copies of files when a process needs the memory, so those do not count as used."""
    for folder, limit, used in (('', 'memory.max', 'memory.current'),
                                ('memory', 'memory.limit_in_bytes', 'memory.usage_in_bytes')):  # fmt: skip
        place = pathlib.Path('/sys/fs/cgroup', folder)
        try:
            most, now = (int((place / name).read_text()) for name in (limit, used))
            stat = dict(line.split() for line in (place / 'memory.stat').read_text().splitlines())
        except (OSError, ValueError):  # no such file, or 'max'
            continue
        files = sum(int(stat.get(name, 0)) for name in ('active_file', 'inactive_file'))
        return max(0, most - now + files) if most < _UNLIMITED else None
    return None


def _free_gpu() -> Optional[int]:
    """Of the first GPU, as the driver counts; TensorFlow does not tell what others use."""
    command = ['nvidia-smi', '--query-gpu=memory.free', '--format=csv,noheader,nounits']
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        return int(done.stdout.splitlines()[0]) * 2**20
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _text(size: float) -> str:
    return f'{size / 1e6:.0f} MB' if size < 1e9 else f'{size / 1e9:.1f} GB'
