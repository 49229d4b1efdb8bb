"""What a range plan costs per picture: planned against plain mixed_float16 inference, interleaved in one run.

    python -m benchmarks.bench_planning                     # light, 256 pixels, ch 64
    python -m benchmarks.bench_planning --small             # a tiny network: does it work at all

Exponents are folded into the weights when a model is loaded, so the expected ratio is 1. Printed as JSON: the median of
the ratios planned / plain of neighbouring runs, and their quartiles. The order within a pair alternates. Exit code 3 if
the median is above 1.02.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from typing import Any, Callable, Dict

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import tensorflow as tf  # noqa: E402

from benchmarks import machine, timing  # noqa: E402
from ugatit.nn.architecture import Architecture  # noqa: E402
from ugatit.nn.blueprint import blueprint  # noqa: E402
from ugatit.nn.build import Build  # noqa: E402
from ugatit.nn.generator import Generator  # noqa: E402
from ugatit.nn.policy import make_policy  # noqa: E402
from ugatit.nn.scaling import Folded  # noqa: E402
from ugatit.nn.variables import seeded  # noqa: E402
from ugatit.ranges import folding_factory  # noqa: E402

SCOPE = 'generator_B'
LIMIT = 1.02  # planned / plain: more than noise would mean that something is multiplied per picture


def main() -> int:
    """Measures, prints one JSON object; 3 where the limit is passed."""
    options = _parse()
    result = _measure(options)
    machine.show({**machine.facts(), **result}, options)
    return 3 if result['ratio_median'] > LIMIT else 0


def _measure(options: argparse.Namespace) -> Dict[str, Any]:
    architecture = Architecture(image_size=options.image_size, ch=options.ch, light=True)
    groups = blueprint(architecture, SCOPE).members
    images = tf.random.stateless_uniform([1, options.image_size, options.image_size, 3], [0, 1], -1.0, 1.0)
    runs = {
        'plain': _run(_program(architecture, None), images),
        'planned': _run(_program(architecture, {group: 3 for group in groups}), images),
    }
    seconds = timing.interleaved(runs, options.pairs, warm=2)
    ratios = timing.ratios(seconds, 'plain')['planned']
    return {
        'what': 'planned / plain mixed_float16 (saturate, emulated), one picture',
        'image_size': options.image_size,
        'ch': options.ch,
        'seconds': timing.medians(seconds),
        'ratio_median': round(statistics.median(ratios), 4),
        'ratio_quartiles': timing.quartiles(ratios, 4),
        'limit': LIMIT,
    }


def _program(architecture: Architecture, exponents: Any) -> Callable[[tf.Tensor], tf.Tensor]:
    build = Build(policy=make_policy('mixed_float16', 'saturate'), factory=seeded(0))
    if exponents is not None:
        folding = folding_factory(seeded(0), blueprint(architecture, SCOPE), exponents)
        build = Build(policy=build.policy, scaling=Folded(exponents), factory=folding)
    return tf.function(Generator(architecture, SCOPE, build))


def _run(function: Callable[[tf.Tensor], Any], images: tf.Tensor) -> Callable[[], Any]:
    return lambda: function(images).image.numpy()


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__)
    parser.add_argument('--image_size', type=int, default=256)
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument('--pairs', type=int, default=15)
    parser.add_argument('--small', action='store_true', help='a tiny network, four pairs')
    options = parser.parse_args()
    if options.small:
        vars(options).update(image_size=16, ch=2, pairs=4)
    return options


if __name__ == '__main__':
    sys.exit(main())
