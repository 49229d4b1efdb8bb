"""How long the first picture takes: from starting Python to a written PNG, and where the time goes.

    python -m benchmarks.bench_startup                      # light, 256 pixels, ch 64: about a minute
    python -m benchmarks.bench_startup --small              # a tiny network: does it work at all

Fresh processes, in turn: Python with TensorFlow imported the usual way and nothing else, then a whole `infer.py` on one
picture, then the steps of that command one by one. Medians; the share of what TensorFlow alone needs says how much of
the start is ours. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List

from benchmarks import machine

_TENSORFLOW = 'import tensorflow'


def main() -> int:
    """Times whole processes from outside, and the steps from inside."""
    options = _parse()
    if options.part:
        print(json.dumps(steps(options.folder)))
        return 0
    with tempfile.TemporaryDirectory(prefix='bench-startup-', dir=options.workdir) as folder:
        _write(options, folder)
        results = _measure(options, folder)
    machine.show({**machine.facts(), **results}, options)
    return 0


def _measure(options: argparse.Namespace, folder: str) -> Dict[str, Any]:
    infer = ['infer.py', f'--checkpoint={folder}/model', f'{folder}/photo.png', f'--output={folder}/out']
    programs = {'tensorflow alone': ['-c', _TENSORFLOW], 'infer.py': infer}
    whole: Dict[str, List[float]] = {name: [] for name in programs}
    inside: List[Dict[str, float]] = []
    for _ in range(options.repeats):
        for name, words in programs.items():
            whole[name].append(_seconds(words))
        inside.append(machine.in_process('benchmarks.bench_startup', ['--part=steps', f'--folder={folder}']))
    seconds = {name: round(statistics.median(found), 3) for name, found in whole.items()}
    return {
        'whole_process_seconds': seconds,
        'infer_over_tensorflow_alone': round(seconds['infer.py'] / seconds['tensorflow alone'], 3),
        'step_seconds': {step: round(statistics.median(run[step] for run in inside), 3) for step in inside[0]},
    }


def steps(folder: str) -> Dict[str, float]:
    """Seconds of what a command does until its first picture is there, and of the second picture."""
    import numpy as np

    found: Dict[str, float] = {}

    def step(name: str, run: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = run()
        found[name] = time.perf_counter() - begin
        return result

    def load() -> Any:
        import ugatit

        return ugatit.load(f'{folder}/model', device='cpu')

    def project() -> None:
        import ugatit.inference.command  # noqa: F401
        import ugatit.inference.model  # noqa: F401

    step('import tensorflow', _import_tensorflow)
    step('import the project', project)
    translate = step('load the checkpoint', load)
    images = np.zeros([1, translate.image_size, translate.image_size, 3], np.float32)
    step('first picture', lambda: translate(images))
    step('second picture', lambda: translate(images))
    return found


def _import_tensorflow() -> None:
    from ugatit.cli.tensorflow import import_tensorflow

    import_tensorflow()


def _write(options: argparse.Namespace, folder: str) -> None:
    """A light generator and a picture."""
    import numpy as np
    from PIL import Image

    from benchmarks.bench_inference import write_generator

    write_generator(f'{folder}/model', options, True)
    pixels = np.random.RandomState(0).randint(0, 256, [options.image_size, options.image_size, 3]).astype(np.uint8)
    Image.fromarray(pixels).save(f'{folder}/photo.png')


def _seconds(words: List[str]) -> float:
    environment = {'CUDA_VISIBLE_DEVICES': '', 'TF_CPP_MIN_LOG_LEVEL': '3', **os.environ}
    environment['PYTHONPATH'] = os.pathsep.join(filter(None, [str(machine.REPOSITORY), os.environ.get('PYTHONPATH')]))
    begin = time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=machine.REPOSITORY, env=environment, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    return time.perf_counter() - begin


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__, n_res=4)
    parser.add_argument('--image_size', type=int, default=256)
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--workdir', default=None)
    parser.add_argument('--small', action='store_true', help='a tiny network, once')
    parser.add_argument('--part', choices=['steps'], help=argparse.SUPPRESS)
    parser.add_argument('--folder', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.small:
        vars(options).update(image_size=16, ch=2, n_res=1, repeats=1)
    return options


if __name__ == '__main__':
    sys.exit(main())
