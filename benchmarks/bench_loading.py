"""What loading one generator costs, in memory and against reading as many bytes of the same file.

    python -m benchmarks.bench_loading --workdir=DIR                  # 8 GB of disk, two minutes on two cores
    python -m benchmarks.bench_loading --workdir=DIR --generator      # a file of one generator: 1.1 GB of disk
    python -m benchmarks.bench_loading --workdir=DIR --ch=8           # 0.1 GB, a quick look

A training checkpoint with optimiser slots (or a generator's) is written first (seeded weights; tensors of one shape
share their values, so that writing needs little memory). Then fresh processes in turn load `generator_B` from it with
`ugatit.load`, or read as many bytes with plain file reads, from the disk and from the system's cache. Expected: the
peak stays below 1.25 times the generator, over what interpreter and TensorFlow need anyway, and the speed is at least
0.7 of plain reading. Prints JSON; exit code 3 where it is not so. Linux only (`/proc/self/status`).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List

from benchmarks import machine

LIMIT = 1.25  # peak over base, as a multiple of the generator's bytes
SPEED_LIMIT = 0.7  # loading speed over that of plain reads
SCOPE = 'generator_B'


def main() -> int:
    """Writes the checkpoint, measures in processes of their own, deletes it again."""
    options = _parse()
    if options.part:
        print(json.dumps(PARTS[options.part](options)))
        return 0
    with tempfile.TemporaryDirectory(prefix='bench-loading-', dir=options.workdir) as folder:
        results = _measure(options, folder)
    machine.show(results, options)
    return 0 if results['peak_ratio'] < LIMIT and min(results['share_of_reading_speed'].values()) >= SPEED_LIMIT else 3


def _measure(options: argparse.Namespace, folder: str) -> Dict[str, Any]:
    written = _in_process(options, folder, 'write')
    runs: Dict[str, List[Dict[str, Any]]] = {}
    for cache in ('cold', 'warm'):
        for _ in range(options.repeats):
            for part in ('load', 'plain'):
                if cache == 'cold':
                    machine.forget(folder)
                runs.setdefault(f'{part} {cache}', []).append(_in_process(options, folder, part))
    return {**machine.facts(), **written, **_summary(runs)}


def _summary(runs: Dict[str, List[Dict[str, Any]]]) -> Dict[str, Any]:
    loads = runs['load cold'] + runs['load warm']
    seconds = {name: statistics.median(run['seconds'] for run in found) for name, found in runs.items()}
    peak = max(run['peak_bytes'] - run['base_bytes'] for run in loads)
    generator = loads[0]['bytes']
    return {
        'generator_bytes': generator,
        'base_bytes': loads[0]['base_bytes'],
        'peak_over_base_bytes': peak,
        'peak_ratio': round(peak / generator, 4),
        'limit': LIMIT,
        'seconds': {name: round(value, 3) for name, value in seconds.items()},
        'share_of_reading_speed': {
            cache: round(seconds[f'plain {cache}'] / seconds[f'load {cache}'], 3) for cache in ('cold', 'warm')
        },
        'speed_limit': SPEED_LIMIT,
    }


def write(options: argparse.Namespace) -> Dict[str, Any]:
    """All 776 tensors of a default training checkpoint, or one generator's 92, in one data file, by our own writer."""
    import tensorflow as tf

    from ugatit.checkpoints import model_name, network_names, official_names, save_checkpoint
    from ugatit.nn.architecture import Architecture

    architecture = Architecture(image_size=options.image_size, ch=options.ch, light=options.light)
    names = network_names(architecture, [SCOPE]) if options.generator else official_names(architecture)
    shapes = sorted(set(names.values()))
    values = {s: 0.02 * tf.random.stateless_normal(s, [options.seed, n]) for n, s in enumerate(shapes)}
    base, start = machine.peak_bytes(), time.perf_counter()
    tensors = {name: values[shape] for name, shape in names.items()}
    location = save_checkpoint(options.folder, model_name(options.light), 1000000, tensors)
    return {
        'checkpoint_bytes': sum(path.stat().st_size for path in location.folder.iterdir()),
        'save_seconds': round(time.perf_counter() - start, 2),
        'save_peak_over_weights_bytes': machine.peak_bytes() - base,
    }


def load(options: argparse.Namespace) -> Dict[str, Any]:
    """One generator, the way a command loads it: TensorFlow is imported and has computed something by then."""
    from ugatit.cli.tensorflow import import_tensorflow

    import_tensorflow()
    import tensorflow as tf

    import ugatit
    import ugatit.translate

    tf.Variable(tf.zeros([])).assign_add(1.0)  # what TensorFlow sets up with its first operation belongs to the base
    base, start = machine.peak_bytes(), time.perf_counter()
    translate = ugatit.load(options.folder, device='cpu')
    seconds = time.perf_counter() - start
    size = sum(4 * variable.shape.num_elements() for variable in translate.generator.named_variables.values())
    return {'base_bytes': base, 'peak_bytes': machine.peak_bytes(), 'bytes': size, 'seconds': seconds}


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


def _in_process(options: argparse.Namespace, folder: str, part: str) -> Dict[str, Any]:
    words = [f'--part={part}', f'--folder={folder}']
    words += [f'--{name}={getattr(options, name)}' for name in ('ch', 'image_size', 'seed')]
    words += [f'--{name}' for name in ('light', 'generator') if getattr(options, name)]
    return machine.in_process('benchmarks.bench_loading', words)


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__)
    parser.add_argument('--workdir', default=tempfile.gettempdir(), help='where the checkpoint goes for a while')
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument('--image_size', type=int, default=256)
    parser.add_argument('--light', action='store_true')
    parser.add_argument('--generator', action='store_true', help='a checkpoint of one generator, not of a training')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--repeats', type=int, default=3, help='of each timing; medians are given')
    parser.add_argument('--part', choices=sorted(PARTS), help='one measurement in this process, for the script itself')
    parser.add_argument('--folder', help='the checkpoint of --part')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
