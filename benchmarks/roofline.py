"""How fast this machine could be: TensorFlow's own float32 matrix product and its reading of main memory.

    python -m benchmarks.roofline                       # GFLOP/s and GB/s, JSON

`time * matmul_rate()` is the cost of a run in GFLOP: so many operations the machine could have done in that time. It
compares runs of different machines, where seconds do not. Measure the rate in the process and the minute of the run:
let `matmul()` take part in its rounds (`benchmarks.timing.interleaved`), or call `matmul_rate()` before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any, Callable, List

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

SIZE = 2048  # rows and columns: 17 GFLOP, about a sixth of a picture's
REPEATS = 9


def matmul(size: int = SIZE) -> Callable[[], Any]:
    """A function without arguments that multiplies two float32 matrices once: `matmul_flops(size)` operations."""
    import tensorflow as tf

    left, right = (tf.random.stateless_uniform([size, size], [1, side], -1.0, 1.0) for side in range(2))
    return lambda: tf.linalg.matmul(left, right)[0, 0].numpy()


def matmul_flops(size: int = SIZE) -> float:
    """Operations of one product, two for each multiply-add."""
    return 2.0 * size**3


def matmul_rate(size: int = SIZE, repeats: int = REPEATS) -> float:
    """GFLOP/s of TensorFlow's float32 matrix product, median of `repeats`; about a second on two cores."""
    return matmul_flops(size) / 1e9 / _median_seconds(matmul(size), repeats)


def read_bandwidth(megabytes: int = 256, repeats: int = REPEATS) -> float:
    """GB/s at which TensorFlow sums float32 values that no cache holds, median of `repeats`."""
    import tensorflow as tf

    values = tf.random.stateless_uniform([megabytes * 250_000], [1, 2])
    return megabytes / 1e3 / _median_seconds(lambda: tf.reduce_sum(values).numpy(), repeats)


def _median_seconds(run: Callable[[], Any], repeats: int) -> float:
    run()  # threads start, buffers are made
    seconds: List[float] = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def main() -> int:
    """Prints both limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--size', type=int, default=SIZE, help='of the matrices')
    parser.add_argument('--megabytes', type=int, default=256, help='that are read')
    parser.add_argument('--repeats', type=int, default=REPEATS)
    options = parser.parse_args()
    rate, bandwidth = matmul_rate(options.size, options.repeats), read_bandwidth(options.megabytes, options.repeats)
    print(json.dumps({'matmul_gflop_per_second': round(rate, 1), 'read_gb_per_second': round(bandwidth, 2)}, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
