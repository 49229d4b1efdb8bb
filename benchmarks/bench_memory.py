"""Memory and time of training and translating, light and full, by size, width and batch: the table of docs/memory.md.

    python -m benchmarks.bench_memory                                      # the default points: 10 minutes on two cores
    python -m benchmarks.bench_memory --points train:light:128:64:1 translate:full:256:64:1

A point is job:kind:size:ch:batch; the job train_plain is train with --config.training.algebra=plain. Each runs in a
process of its own with untrained weights: one call to trace, then three that are timed. `peak` is that of the whole
process, TensorFlow's own 0.4 GB included. Prints JSON, and the table to stderr. Linux only.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import sys
import time
from typing import Any, Callable, Dict

from benchmarks import machine

POINTS = (
    'translate:light:256:64:1',
    'translate:light:256:64:4',
    'translate:full:256:64:1',
    'train:light:64:64:1',
    'train:light:128:64:1',
    'train:light:128:64:2',
    'train:light:128:32:1',
    'train:full:64:64:1',
    'train:full:128:64:1',
    'train:light:256:32:1',
)
REPEATS = 3


def main() -> int:
    """Each point in a process of its own."""
    options = _parse()
    if options.point:
        print(json.dumps(measure(options.point)))
        return 0
    found = {point: machine.in_process('benchmarks.bench_memory', [f'--point={point}']) for point in options.points}
    rows = [[*point.split(':'), *row.values()] for point, row in found.items()]
    columns = ('job', 'kind', 'size', 'ch', 'batch', 'peak, GB', 'over the weights, GB', 'seconds')
    machine.show({**machine.facts(), 'points': found}, options, machine.table(columns, rows))
    return 0


def measure(point: str) -> Dict[str, float]:
    """Peak memory in GB (10**9 bytes), of the process and over what there is with the weights; seconds a call."""
    job, kind, *numbers = point.split(':')
    call = JOBS[job](kind == 'light', *map(int, numbers))
    base = machine.resident_bytes()
    call()
    seconds = []
    for _ in range(REPEATS):
        start = time.monotonic()
        call()
        seconds.append(time.monotonic() - start)
    peak = machine.peak_bytes()
    return {
        'peak': round(peak / 1e9, 2),
        'over': round((peak - base) / 1e9, 2),
        'seconds': round(statistics.median(seconds), 2),
    }


def _train(light: bool, size: int, ch: int, batch: int, algebra: bool = True) -> Callable[[], Any]:
    """A fused training step, Adam's state included; by the identities of ugatit.nn.algebra where train.py uses them."""
    import tensorflow as tf

    from ugatit.nn.algebra import LEAST_CH
    from ugatit.nn.architecture import Architecture
    from ugatit.nn.build import Build
    from ugatit.training.networks import build_networks
    from ugatit.training.objective import Objective
    from ugatit.training.optimiser import make_optimisers
    from ugatit.training.step import TrainingStep
    from ugatit.training.update import Training

    architecture = Architecture(size, ch, n_dis=6 if size >= 96 else 5, light=light)
    networks = build_networks(architecture, lambda scope: Build(algebra=algebra and ch >= LEAST_CH))
    step = TrainingStep(Training(networks, make_optimisers(networks), Objective('lsgan')))
    images = tuple(tf.random.stateless_uniform([batch, size, size, 3], [1, domain], -1.0, 1.0) for domain in range(2))
    return lambda: {name: float(value) for name, value in step(0, images).items()}


def _translate(light: bool, size: int, ch: int, batch: int) -> Callable[[], Any]:
    """One call of a generator."""
    import numpy as np

    from ugatit.nn.architecture import Architecture
    from ugatit.nn.build import Build
    from ugatit.nn.generator import Generator
    from ugatit.nn.variables import seeded
    from ugatit.translate import Translator

    generator = Generator(Architecture(size, ch, light=light), 'generator_B', Build(factory=seeded(0)))
    translate = Translator(generator, 'a2b', '/CPU:0')
    images = np.random.RandomState(0).uniform(-1, 1, [batch, size, size, 3]).astype(np.float32)
    return lambda: translate(images)


JOBS = {'train': _train, 'train_plain': functools.partial(_train, algebra=False), 'translate': _translate}


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__)
    parser.add_argument('--points', nargs='+', default=POINTS, help='job:kind:size:ch:batch')
    parser.add_argument('--point', default=None, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
