"""How much of the network's own speed is left when `infer.py` decodes, translates and writes a folder.

    python -m benchmarks.bench_throughput                     # light, 256 pixels, ch 64, batch 1; three minutes
    python -m benchmarks.bench_throughput --batch_size=4
    python -m benchmarks.bench_throughput --small             # a tiny network: does it work at all

A folder of JPEG files of different sizes is translated as `infer.py` does it, in turn with the network alone on as many
pictures that are decoded already; the median of the ratios counts. Expected: at least 0.9. Prints JSON; exit code 3
where it is less.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
from typing import Any, Dict

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

from benchmarks import machine, timing  # noqa: E402
from benchmarks.bench_folder import draw  # noqa: E402
from benchmarks.bench_inference import write_generator  # noqa: E402

LIMIT = 0.9


def main() -> int:
    """Makes the folder and the model, times both ways in turn."""
    options = _parse()
    with tempfile.TemporaryDirectory(prefix='bench-throughput-', dir=options.workdir) as folder:
        draw(pathlib.Path(folder) / 'in', options.pictures, options.side)
        write_generator(f'{folder}/model', options, True)
        results = _measure(options, pathlib.Path(folder))
    machine.show({**machine.facts(), **results}, options)
    return 0 if results['share_of_pure_compute'] >= LIMIT else 3


def _measure(options: argparse.Namespace, folder: pathlib.Path) -> Dict[str, Any]:
    import ugatit
    from ugatit.inference.inputs import find_inputs, sample
    from ugatit.inference.outputs import assign_outputs
    from ugatit.inference.run import translate_pictures
    from ugatit.inference.settings import Settings

    settings = Settings(batch_size=options.batch_size)
    translate = ugatit.load(options.checkpoint or folder / 'model', precision=options.precision, device=options.device)
    inputs = find_inputs([str(folder / 'in')]).inputs
    ready = sample(inputs, translate.image_size, settings, len(inputs))
    files = assign_outputs(inputs, str(folder / 'out'), 'a2b', settings).files
    step = options.batch_size
    runs = {
        'pure': lambda: [translate(ready[start : start + step]) for start in range(0, len(ready), step)],
        'folder': lambda: translate_pictures(translate, files, settings),
    }
    translate(ready[:step])  # tracing is not what is measured
    runs, processor = timing.processor_seconds(runs)
    seconds = timing.interleaved(runs, options.rounds, warm=0)
    shares = [1.0 / ratio for ratio in timing.ratios(seconds, 'pure')['folder']]
    return {
        'pictures': len(inputs),
        'picture_side': options.side,
        'batch_size': step,
        'seconds': timing.medians(seconds),
        'pictures_per_second': round(len(inputs) / statistics.median(seconds['folder']), 3),
        'share_of_pure_compute': round(statistics.median(shares), 3),
        'share_quartiles': timing.quartiles(shares),
        'processor_seconds': timing.medians(processor),
        'limit': LIMIT,
    }


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__, n_res=4)
    parser.add_argument('--checkpoint', default=None, help='default: a light model with initial weights')
    parser.add_argument('--image_size', type=int, default=256, help='of that model')
    parser.add_argument('--ch', type=int, default=64, help='of that model')
    parser.add_argument('--pictures', type=int, default=24)
    parser.add_argument('--side', type=int, default=600, help='pixels of the input pictures, about')
    parser.add_argument('--batch_size', type=int, default=1)
    parser.add_argument('--precision', default='float32')
    parser.add_argument('--device', default='auto')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--workdir', default=None)
    parser.add_argument('--small', action='store_true', help='a tiny network, a few pictures')
    options = parser.parse_args()
    if options.small:
        vars(options).update(image_size=16, ch=2, n_res=1, pictures=5, side=40, rounds=2)
    return options


if __name__ == '__main__':
    sys.exit(main())
