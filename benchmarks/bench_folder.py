"""What memory translating a folder needs over time; how fast it goes is told by `bench_throughput`.

    python -m benchmarks.bench_folder --workdir=DIR                          # 500 pictures, an untrained light model
    python -m benchmarks.bench_folder --workdir=DIR --checkpoint=CKPT --pictures=100 --batch_size=4

Makes a folder of JPEG files of different sizes and translates it as `infer.py` does. Expected: memory after 100
pictures is that after all of them within 5 %. Prints JSON; exit code 3 where memory grows. Linux only.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
from typing import Any, Dict, List

import numpy as np
from PIL import Image

from benchmarks import machine

LIMIT = 1.05  # memory at the end over memory after WARM pictures
WARM = 100  # by then every program is traced and every buffer has its size


def main() -> int:
    """Makes the folder, translates it, prints what that cost."""
    options = _parse()
    with tempfile.TemporaryDirectory(prefix='bench-folder-', dir=options.workdir) as folder:
        draw(pathlib.Path(folder) / 'in', options.pictures, options.side)
        results = _measure(options, pathlib.Path(folder))
    machine.show(results, options)
    return 0 if results['memory_growth'] <= LIMIT else 3


def _measure(options: argparse.Namespace, folder: pathlib.Path) -> Dict[str, Any]:
    from ugatit.inference.gallery import Gallery
    from ugatit.inference.inputs import find_inputs
    from ugatit.inference.outputs import assign_outputs
    from ugatit.inference.run import translate_pictures
    from ugatit.inference.settings import Settings
    from ugatit.translate import UNTRAINED, load, load_untrained

    settings = Settings(batch_size=options.batch_size, heatmap=options.everything, thumbnails=options.everything)
    if options.checkpoint is None:  # 128 pixels: the demo model's 64 would be nearly all overhead
        translate = load_untrained(image_size=options.image_size or UNTRAINED.image_size, device='cpu')
    else:
        translate = load(options.checkpoint, image_size=options.image_size, device='cpu')
    inputs = find_inputs([str(folder / 'in')]).inputs
    gallery = Gallery(folder / 'out', 'a2b', 'benchmark')
    memory: List[int] = []

    def show(shown: Any) -> None:
        memory.append(machine.resident_bytes())
        if options.everything:
            gallery.add(shown)

    files = assign_outputs(inputs, str(folder / 'out'), 'a2b', settings).files
    outcomes, timing = translate_pictures(translate, files, settings, show)
    return {
        **machine.facts(),
        'model': vars(translate.architecture),
        'pictures': len(outcomes),
        'failed': sum(outcome.error is not None for outcome in outcomes),
        'batch_size': options.batch_size,
        'pictures_per_second': round(len(outcomes) / timing.total, 2),
        'seconds': round(timing.total, 2),
        'share_inside_the_network': round(timing.computing / timing.total, 3),
        'memory_bytes': {str(count): memory[count - 1] for count in _marks(len(memory))},
        'memory_growth': round(memory[-1] / memory[min(WARM, len(memory)) - 1], 4),
        'limit': LIMIT,
    }  # fmt: skip


def draw(folder: pathlib.Path, pictures: int, side: int) -> None:
    """Colourful noise on a gradient, about as hard to decode as photographs; sizes around `side`."""
    folder.mkdir()
    random = np.random.RandomState(0)
    for number in range(pictures):
        height, width = (int(side * factor) for factor in random.uniform(0.7, 1.3, 2))
        coarse = random.randint(0, 256, (height // 16 + 2, width // 16 + 2, 3)).astype(np.uint8)
        Image.fromarray(coarse).resize((width, height), Image.BICUBIC).save(folder / f'{number:05}.jpg', quality=90)


def _marks(count: int) -> List[int]:
    return sorted({mark for mark in (10, WARM, 200, 300, 400, count) if mark <= count})


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__)
    parser.add_argument('--workdir', default=None, help='where the pictures go; some 100 kB each (default: temporary)')
    parser.add_argument('--checkpoint', default=None, help='default: a light model with initial weights, ch 16')
    parser.add_argument('--image_size', type=int, default=None, help='of a light model')
    parser.add_argument('--pictures', type=int, default=500)
    parser.add_argument('--side', type=int, default=600, help='pixels of the input pictures, about')
    parser.add_argument('--batch_size', type=int, default=1)
    parser.add_argument('--everything', action='store_true', help='heat maps and a gallery as well')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
