"""What emulating float16 costs: one picture through the generator, each precision against float32.

    python -m benchmarks.bench_emulation                               # light, 256 pixels, ch 64, batch 1; some minutes
    python -m benchmarks.bench_emulation --image_size=128 --ch=32      # a quick look
    python -m benchmarks.bench_emulation --small                       # a tiny network: does it work at all

The runs of all precisions are interleaved, so that a busy machine slows all of them, and each is compared with the
float32 run of its own round; the median of these ratios counts. Expected: at most 1.6 for `mixed_float16`.
Prints JSON; exit code 3 where it is more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from typing import Any, Callable, Dict

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

from benchmarks import machine, timing  # noqa: E402

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
    results = {**machine.facts(), **vars(options), **_summary(timing.interleaved(runs, options.rounds))}
    machine.show(results, options)
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


def _summary(seconds: timing.Seconds) -> Dict[str, Any]:
    ratios = timing.ratios(seconds, BASE)
    return {
        'seconds': timing.medians(seconds),
        'ratio': {name: round(statistics.median(values), 3) for name, values in ratios.items()},
        'ratio_quartiles': {name: timing.quartiles(values) for name, values in ratios.items()},
        'limit': LIMIT,
    }


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__)
    parser.add_argument('--image_size', type=int, default=256)
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument('--rounds', type=int, default=7, help='how often each precision runs')
    parser.add_argument('--small', action='store_true', help='a tiny network, two rounds')
    options = parser.parse_args()
    if options.small:
        vars(options).update(image_size=16, ch=1, rounds=2)
    return options


if __name__ == '__main__':
    sys.exit(main())
