"""What loading one generator out of a full training checkpoint costs, in memory and in time.

    python -m benchmarks.bench_loading --workdir=DIR                  # 8 GB of disk, two minutes on two cores
    python -m benchmarks.bench_loading --workdir=DIR --ch=8           # 0.1 GB, a quick look

A training checkpoint with optimiser slots is written first (seeded weights; tensors of one shape share their values, so
that writing needs little memory), then fresh processes load `generator_B` from it, or read as many bytes with plain
file reads. Expected: the peak stays below 1.25 times the generator, over what interpreter and TensorFlow need anyway.
Prints JSON; exit code 3 where the peak is higher. Linux only (`/proc/self/status`).
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List

LIMIT = 1.25  # peak over base, as a multiple of the generator's bytes
SCOPE = 'generator_B'
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    """Writes the checkpoint, measures in processes of their own, deletes it again."""
    options = _parse()
    if options.part:
        print(json.dumps(PARTS[options.part](options)))
        return 0
    with tempfile.TemporaryDirectory(prefix='bench-loading-', dir=options.workdir) as folder:
        results = _measure(options, folder)
    print(json.dumps(results, indent=1))
    return 0 if results['peak_ratio'] < LIMIT else 3


def _measure(options: argparse.Namespace, folder: str) -> Dict[str, Any]:
    written = _in_process(options, folder, 'write')
    timings: Dict[str, List[Dict[str, Any]]] = {}
    for cache in ('cold', 'warm'):
        for _ in range(options.repeats):
            for part in ('load', 'plain'):
                if cache == 'cold':
                    _forget(folder)
                timings.setdefault(f'{part} {cache}', []).append(_in_process(options, folder, part))
    return {**written, **_summary(timings)}


def _summary(timings: Dict[str, List[Dict[str, Any]]]) -> Dict[str, Any]:
    loads = timings['load cold'] + timings['load warm']
    seconds = {name: statistics.median(run['seconds'] for run in runs) for name, runs in timings.items()}
    peak = max(run['peak_bytes'] - run['base_bytes'] for run in loads)
    generator = loads[0]['bytes']
    return {
        'generator_bytes': generator,
        'base_bytes': loads[0]['base_bytes'],
        'peak_over_base_bytes': peak,
        'peak_ratio': round(peak / generator, 4),
        'limit': LIMIT,
        'seconds': {name: round(value, 3) for name, value in seconds.items()},
        'load_over_plain_cold': round(seconds['load cold'] / seconds['plain cold'], 3),
        'load_over_plain_warm': round(seconds['load warm'] / seconds['plain warm'], 3),
    }


def write(options: argparse.Namespace) -> Dict[str, Any]:
    """All 776 tensors of a default training checkpoint in one data file, through our own writer."""
    import tensorflow as tf

    from ugatit.checkpoints import model_name, official_names, save_checkpoint
    from ugatit.nn.architecture import Architecture

    names = official_names(Architecture(image_size=options.image_size, ch=options.ch, light=options.light))
    shapes = sorted(set(names.values()))
    values = {s: 0.02 * tf.random.stateless_normal(s, [options.seed, n]) for n, s in enumerate(shapes)}
    base, start = peak_bytes(), time.perf_counter()
    tensors = {name: values[shape] for name, shape in names.items()}
    location = save_checkpoint(options.folder, model_name(options.light), 1000000, tensors)
    return {
        'python': platform.python_version(),
        'tensorflow': tf.__version__,
        'checkpoint_bytes': sum(path.stat().st_size for path in location.folder.iterdir()),
        'save_seconds': round(time.perf_counter() - start, 2),
        'save_peak_over_weights_bytes': peak_bytes() - base,
    }


def load(options: argparse.Namespace) -> Dict[str, Any]:
    """One generator into variables, the way every command loads it."""
    import tensorflow as tf

    from ugatit.checkpoints import CheckpointReader, architecture_of, check_variables, checkpoint_factory
    from ugatit.nn.blueprint import variable_specs
    from ugatit.nn.variables import ZEROS

    tf.Variable(tf.zeros([])).assign_add(1.0)  # what TensorFlow sets up with its first operation belongs to the base
    base, start = peak_bytes(), time.perf_counter()
    reader = CheckpointReader(options.folder)
    specs = variable_specs(architecture_of(reader, [SCOPE]).architecture, SCOPE)
    check_variables(specs, reader)
    make = checkpoint_factory(reader)
    variables = [make(name, spec.shape, ZEROS, spec.trainable) for name, spec in specs.items()]
    seconds = time.perf_counter() - start
    size = sum(4 * variable.shape.num_elements() for variable in variables)
    return {'base_bytes': base, 'peak_bytes': peak_bytes(), 'bytes': size, 'seconds': seconds}


def plain(options: argparse.Namespace) -> Dict[str, Any]:
    """As many bytes as a generator has, in arrays of the same sizes, from the start of the data file."""
    import numpy as np

    from ugatit.checkpoints import CheckpointReader

    reader = CheckpointReader(options.folder)
    names = [name for name in reader.groups()['generators'] if name.startswith(f'{SCOPE}/')]
    sizes = [reader.variables()[name].count for name in names]
    start = time.perf_counter()
    with open(next(pathlib.Path(options.folder).glob('*.data-00000-of-00001')), 'rb') as file:
        arrays = [np.fromfile(file, np.float32, size) for size in sizes]
    return {'seconds': time.perf_counter() - start, 'bytes': sum(array.nbytes for array in arrays)}


PARTS: Dict[str, Callable[[argparse.Namespace], Dict[str, Any]]] = {'write': write, 'load': load, 'plain': plain}


def peak_bytes() -> int:
    """The largest resident size of this process so far; `ru_maxrss` would count the parent's, from before the exec."""
    status = pathlib.Path('/proc/self/status').read_text()
    return int(re.search(r'VmHWM:\s+(\d+) kB', status).group(1)) * 1024


def _in_process(options: argparse.Namespace, folder: str, part: str) -> Dict[str, Any]:
    command = [sys.executable, '-m', 'benchmarks.bench_loading', f'--part={part}', f'--folder={folder}']
    command += [f'--{name}={getattr(options, name)}' for name in ('ch', 'image_size', 'seed')]
    environment = {'CUDA_VISIBLE_DEVICES': '', 'TF_CPP_MIN_LOG_LEVEL': '3', **os.environ}
    output = subprocess.run(
        command + ['--light'] * options.light, cwd=REPOSITORY, env=environment, check=True, stdout=subprocess.PIPE
    ).stdout
    return json.loads(output)


def _forget(folder: str) -> None:
    """Drops the data file from the system's cache."""
    for path in pathlib.Path(folder).glob('*.data-*'):
        with open(path, 'rb') as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--workdir', default=tempfile.gettempdir(), help='where the checkpoint goes for a while')
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument('--image_size', type=int, default=256)
    parser.add_argument('--light', action='store_true')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--repeats', type=int, default=3, help='of each timing; medians are given')
    parser.add_argument('--part', choices=sorted(PARTS), help='one measurement in this process, for the script itself')
    parser.add_argument('--folder', help='the checkpoint of --part')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
