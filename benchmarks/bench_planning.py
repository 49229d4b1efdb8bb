"""What a range plan costs per picture: planned against plain mixed_float16 inference, interleaved in one run.

    python benchmarks/bench_planning.py [--image_size=256] [--ch=64] [--pairs=15] [--json=FILE]

Exponents are folded into the weights when a model is loaded, so the expected ratio is 1. Printed as JSON: the median of
the ratios planned / plain of neighbouring runs, and their quartiles. The order within a pair alternates. Exit code 3 if
the median is above 1.02.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any, Callable, Dict, List

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import tensorflow as tf  # noqa: E402

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--image_size', type=int, default=256)
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument('--pairs', type=int, default=15)
    parser.add_argument('--json', help='also write the result here')
    options = parser.parse_args()
    result = _measure(options)
    print(json.dumps(result, indent=1))
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file:
            json.dump(result, file, indent=1)
    return 3 if result['ratio_median'] > LIMIT else 0


def _measure(options: argparse.Namespace) -> Dict[str, Any]:
    architecture = Architecture(image_size=options.image_size, ch=options.ch, light=True)
    groups = blueprint(architecture, SCOPE).members
    planned = _program(architecture, {group: 3 for group in groups})
    plain = _program(architecture, None)
    images = tf.random.stateless_uniform([1, options.image_size, options.image_size, 3], [0, 1], -1.0, 1.0)
    for _ in range(2):  # compile, settle
        plain(images), planned(images)
    times: List[List[float]] = []
    for pair in range(options.pairs):
        order = (plain, planned) if pair % 2 == 0 else (planned, plain)
        pair_times = [_seconds(function, images) for function in order]
        times.append(pair_times if pair % 2 == 0 else pair_times[::-1])
    ratios = sorted(after / before for before, after in times)
    return {
        'what': 'planned / plain mixed_float16 (saturate, emulated), one picture',
        'image_size': options.image_size,
        'ch': options.ch,
        'tensorflow': tf.__version__,
        'plain_seconds': statistics.median(before for before, _ in times),
        'planned_seconds': statistics.median(after for _, after in times),
        'ratio_median': statistics.median(ratios),
        'ratio_quartiles': [ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]],
    }


def _program(architecture: Architecture, exponents: Any) -> Callable[[tf.Tensor], tf.Tensor]:
    build = Build(policy=make_policy('mixed_float16', 'saturate'), factory=seeded(0))
    if exponents is not None:
        folding = folding_factory(seeded(0), blueprint(architecture, SCOPE), exponents)
        build = Build(policy=build.policy, scaling=Folded(exponents), factory=folding)
    return tf.function(Generator(architecture, SCOPE, build))


def _seconds(function: Callable[[tf.Tensor], Any], images: tf.Tensor) -> float:
    start = time.perf_counter()
    function(images).image.numpy()
    return time.perf_counter() - start


if __name__ == '__main__':
    sys.exit(main())
