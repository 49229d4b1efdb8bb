"""What memory translating a clip needs over time, and how much of the time is not the network.

    python -m benchmarks.bench_video --workdir=DIR                           # 10 s, 640 x 360, an untrained light model
    python -m benchmarks.bench_video --workdir=DIR --seconds=60 --checkpoint=CKPT --batch_size=4

Makes a clip with sound and translates it as `infer.py` does. Expected: memory after 2 seconds of the clip is that at
its end within 5 %, sound and number of frames are kept. Prints JSON; exit code 3 where memory grows. Linux only.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import time
from fractions import Fraction
from typing import Any, Dict

import numpy as np
from PIL import Image

from benchmarks import machine

LIMIT = 1.05  # memory at the end over memory after WARM seconds of the clip
WARM = 2  # by then the program is traced, and the encoder holds as many frames as it ever will
RATE = 25


def main() -> int:
    """Makes the clip, translates it, prints what that cost."""
    options = _parse()
    with tempfile.TemporaryDirectory(prefix='bench-video-', dir=options.workdir) as folder:
        source = pathlib.Path(folder) / 'in.mp4'
        draw(source, options.seconds * RATE, options.height, options.width)
        results = _measure(options, source)
    machine.show(results, options)
    return 0 if results['memory_growth'] <= LIMIT else 3


def _measure(options: argparse.Namespace, source: pathlib.Path) -> Dict[str, Any]:
    from ugatit.data.clips import open_clip
    from ugatit.inference.settings import Settings
    from ugatit.inference.video import translate_clip
    from ugatit.translate import UNTRAINED, load, load_untrained

    if options.checkpoint is None:
        translate = load_untrained(image_size=options.image_size or UNTRAINED.image_size, device='cpu')
    else:
        translate = load(options.checkpoint, image_size=options.image_size, device='cpu')
    clock = _Clock(translate)
    target = source.with_name('out.mp4')
    start = time.monotonic()
    done = translate_clip(clock, source, target, Settings(batch_size=options.batch_size, keep_size=True))
    total = time.monotonic() - start
    with open_clip(target) as reader:
        info = reader.info
    memory = clock.memory
    warm = memory[min(WARM * RATE // options.batch_size, len(memory) - 1)]
    return {
        **machine.facts(),
        'model': vars(translate.architecture),
        'frames': done.frames,
        'frames_written': info.frames,
        'sound': info.audio,
        'seconds': round(total, 2),
        'frames_per_second': round(done.frames / total, 2),
        'share_inside_the_network': round(clock.computing / total, 3),
        'memory_bytes': {'warm': warm, 'end': memory[-1]},
        'memory_growth': round(memory[-1] / warm, 4),
        'limit': LIMIT,
    }


class _Clock:
    """A model that is timed, and that looks at the memory after every call."""

    def __init__(self, translate: Any) -> None:
        self._translate, self.image_size = translate, translate.image_size
        self.computing, self.memory = 0.0, []

    def __call__(self, images: np.ndarray) -> Any:
        start = time.monotonic()
        found = self._translate(images)
        self.computing += time.monotonic() - start
        self.memory.append(machine.resident_bytes())
        return found


def draw(path: pathlib.Path, frames: int, height: int, width: int) -> None:
    """Colourful noise that drifts, with a tone."""
    import av

    random = np.random.RandomState(0)
    coarse = random.randint(0, 256, (height // 16 + 2, width // 8 + 2, 3)).astype(np.uint8)
    wide = np.asarray(Image.fromarray(coarse).resize((2 * width, height), Image.BICUBIC))
    with av.open(str(path), 'w') as container:
        video, sound = container.add_stream('libx264', rate=RATE), container.add_stream('aac', rate=48_000)
        video.width, video.height, video.pix_fmt = width, height, 'yuv420p'
        for number in range(frames):
            left = number * 3 % width
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(wide[:, left : left + width]), format='rgb24')
            container.mux(video.encode(frame))
            tone = np.sin(np.arange(number * 1920, (number + 1) * 1920) * 0.0576).astype(np.float32) * 0.3
            piece = av.AudioFrame.from_ndarray(tone[None], format='fltp', layout='mono')
            piece.sample_rate, piece.pts, piece.time_base = 48_000, number * 1920, Fraction(1, 48_000)
            container.mux(sound.encode(piece))
        container.mux(video.encode(None))
        container.mux(sound.encode(None))


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__)
    parser.add_argument('--workdir', default=None, help='where the clip goes (default: temporary)')
    parser.add_argument('--checkpoint', default=None, help='default: a light model with initial weights, ch 16')
    parser.add_argument('--image_size', type=int, default=None, help='of a light model')
    parser.add_argument('--seconds', type=int, default=10)
    parser.add_argument('--height', type=int, default=360)
    parser.add_argument('--width', type=int, default=640)
    parser.add_argument('--batch_size', type=int, default=1)
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
