"""What emulating float16 costs: one picture through the generator, each precision against float32.

    python -m benchmarks.bench_emulation                               # light, 256 pixels, ch 64, batch 1; some minutes
    python -m benchmarks.bench_emulation --image_size=128 --ch=32      # a quick look

The runs of all precisions are interleaved, so that a busy machine slows all of them, and each is compared with the
float32 run of its own round; the median of these ratios counts. Expected: at most 1.6 for `mixed_float16`.
Prints JSON; exit code 3 where it is more.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from typing import Any, Callable, Dict, List

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

LIMIT = 1.6  # mixed_float16 over float32
POLICIES = {
    'float32': ('float32', 'ieee', 'plain'),
    'mixed_float16 saturate': ('mixed_float16', 'saturate', 'plain'),
    'mixed_float16 ieee': ('mixed_float16', 'ieee', 'plain'),
    'float16 saturate': ('float16', 'saturate', 'plain'),
    'float16 saturate, prescaled': ('float16', 'saturate', 'prescaled'),
}
BASE, JUDGED = 'float32', 'mixed_float16 saturate'


def main() -> int:
    """Builds and traces every network first, then times them in turn."""
    options = _parse()
    runs = {name: _runner(options, *policy) for name, policy in POLICIES.items()}
    for run in runs.values():
        run()  # traces
    rounds = [{name: _seconds(run) for name, run in runs.items()} for _ in range(options.rounds)]
    results = {**_machine(), **vars(options), **_summary(rounds)}
    print(json.dumps(results, indent=1))
    return 0 if results['ratio'][JUDGED] <= LIMIT else 3


def _runner(options: argparse.Namespace, precision: str, overflow: str, chosen: str) -> Callable[[], Any]:
    import tensorflow as tf

    from ugatit.nn.architecture import Architecture
    from ugatit.nn.build import Build
    from ugatit.nn.generator import Generator
    from ugatit.nn.policy import make_policy
    from ugatit.nn.rules import Variants

    architecture = Architecture(image_size=options.image_size, ch=options.ch, light=True)
    variants = Variants(chosen, statistics=(('.*', chosen),))
    generator = Generator(architecture, 'generator_B', Build(make_policy(precision, overflow), variants=variants))
    x = tf.random.stateless_uniform([1, options.image_size, options.image_size, 3], [1, 2], -1.0, 1.0)
    function = tf.function(lambda: generator(x).image)
    return lambda: function().numpy()


def _seconds(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def _summary(rounds: List[Dict[str, float]]) -> Dict[str, Any]:
    ratios = {name: [seconds[name] / seconds[BASE] for seconds in rounds] for name in POLICIES}
    return {
        'seconds': {name: round(statistics.median(seconds[name] for seconds in rounds), 4) for name in POLICIES},
        'ratio': {name: round(statistics.median(values), 3) for name, values in ratios.items()},
        'ratio_lowest': {name: round(min(values), 3) for name, values in ratios.items()},
        'ratio_highest': {name: round(max(values), 3) for name, values in ratios.items()},
        'limit': LIMIT,
    }


def _machine() -> Dict[str, Any]:
    import tensorflow as tf

    return {'tensorflow': tf.__version__, 'python': platform.python_version(), 'cpus': os.cpu_count()}


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--image_size', type=int, default=256)
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument('--rounds', type=int, default=7, help='how often each precision runs')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
