"""How fast and in how much memory `diagnose.py compare` goes through a large dump.

    python benchmarks/bench_compare.py --size=3.7 --json=results/compare.json

Writes an NPU dump (float16, NC1HWC0 tiles) of that many GB and float32 `.npy` beside it to a temporary folder, reads
both sides with plain numpy, compares them in a fresh process, and deletes everything. Peak memory is the comparing
process's largest resident set, mapped pages of the files included. Two rates are told: with the files in the page
cache, and with `--cold` from the disk. The first run with numba compiles for some seconds: run it twice.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, Optional

import numpy as np

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from ugatit.dumps.formats import NC1HWC0  # noqa: E402
from ugatit.dumps.names import make_dump_name, make_golden_name  # noqa: E402
from ugatit.dumps.writer import Tensor, dump_bytes  # noqa: E402

SHAPES = ((1, 256, 256, 64), (1, 128, 128, 128), (1, 64, 64, 256))  # of the full generator at 256 px


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--size', type=float, default=0.2, help='GB of the NPU dump (the reported one had 3.7)')
    parser.add_argument('--folder', default=None, help='where to write; a temporary folder without it')
    parser.add_argument('--cold', action='store_true', help='also measure from the disk, not from the page cache')
    parser.add_argument('--engine', choices=('numpy', 'numba'), default=None, help='without it, as the size suggests')
    parser.add_argument('--json', default=None)
    parser.add_argument('--compare', nargs=2, help=argparse.SUPPRESS)  # the measured process itself
    options = parser.parse_args()
    if options.compare:
        print(json.dumps(_compare(*map(pathlib.Path, options.compare), options.engine)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        words = [f'--engine={options.engine}'] if options.engine else []
        result = _measure(pathlib.Path(folder), options.size, options.cold, words)
    print('\n'.join(f'{key}: {value}' for key, value in result.items()))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + '\n')


def _measure(folder: pathlib.Path, gigabytes: float, cold: bool, words: List[str]) -> Dict[str, object]:
    left, right = folder / 'npu', folder / 'npy'
    pairs = _write(left, right, gigabytes)
    total = sum(path.stat().st_size for place in (left, right) for path in place.iterdir())
    result: Dict[str, object] = {
        'npu_gb': round(sum(p.stat().st_size for p in left.iterdir()) / 1e9, 2),
        'both_gb': round(total / 1e9, 2),
        'tensors': pairs,
        'cores': os.cpu_count(),
    }
    for state in ('warm', 'cold') if cold else ('warm',):
        _drop(state, left, right)
        reading, cpu = _read(left, right)
        _drop(state, left, right)
        start = time.monotonic()
        command = [sys.executable, __file__, '--compare', str(left), str(right), *words]
        child = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = time.monotonic() - start
        found = json.loads(child.stdout)
        assert found['compared'] == pairs
        result['engine'] = found['engine']
        result[f'{state}_read_gb_per_s'] = round(total / reading / 1e9, 3)
        result[f'{state}_compare_gb_per_s'] = round(total / seconds / 1e9, 3)
        result[f'{state}_fraction_of_reading'] = round(reading / seconds, 3)
        result[f'{state}_compare_seconds'] = round(seconds, 1)
        result[f'{state}_read_cpu_seconds'] = round(cpu, 1)
        result[f'{state}_compare_cpu_seconds'] = round(found['cpu_seconds'], 1)
        result['peak_mb'] = max(result.get('peak_mb', 0), round(found['peak_kb'] / 1024))
    return result


def _write(left: pathlib.Path, right: pathlib.Path, gigabytes: float) -> int:
    left.mkdir()
    right.mkdir()
    random, written, count = np.random.RandomState(0), 0, 0
    while written < gigabytes * 1e9:
        shape = SHAPES[count % len(SHAPES)]
        values = random.standard_normal(shape).astype(np.float32)
        name = f'generator_B/block_{count}/conv2d/Conv2D'
        data = dump_bytes(name, [], [Tensor(values.astype(np.float16), NC1HWC0)], count)
        (left / make_dump_name('Conv2D', name, count, 3, 1629880658000000 + count)).write_bytes(data)
        np.save(right / make_golden_name(name, 0, 1629880658 + count), values)
        written, count = written + len(data), count + 1
    return count


def _read(left: pathlib.Path, right: pathlib.Path) -> List[float]:
    """Seconds and CPU seconds of reading every byte of both sides into numpy arrays, nothing else."""
    start, cpu = time.monotonic(), time.process_time()
    for path in sorted(left.iterdir()):
        np.fromfile(path, np.uint8)
    for path in sorted(right.iterdir()):
        np.load(path)
    return [time.monotonic() - start, time.process_time() - cpu]


def _compare(left: pathlib.Path, right: pathlib.Path, engine: Optional[str]) -> Dict[str, object]:
    from ugatit.dumps import engines
    from ugatit.dumps.compare import compare
    from ugatit.dumps.tree import scan

    if engine is not None:
        engines.WORTH = {'numpy': math.inf, 'numba': 0}[engine]
    comparison = compare(scan(left), scan(right))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    status = pathlib.Path('/proc/self/status')  # ru_maxrss begins with what the parent process had
    peaks = re.findall(r'VmHWM:\s+(\d+) kB', status.read_text()) if status.exists() else [usage.ru_maxrss]
    return {
        'compared': len(comparison.compared),
        'peak_kb': int(peaks[0]),
        'engine': 'numba' if 'ugatit.dumps.fused' in sys.modules else 'numpy',
        'cpu_seconds': usage.ru_utime + usage.ru_stime,
    }


def _drop(state: str, *folders: pathlib.Path) -> None:
    """Takes the files, and nothing else, out of the page cache; they must be on the disk by then."""
    if state == 'warm':
        return
    for path in (path for folder in folders for path in folder.iterdir()):
        with open(path, 'rb') as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == '__main__':
    main()
