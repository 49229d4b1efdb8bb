"""What exporting the full model at its full size costs: 256 pixels, 64 channels, 1.1 GB of weights for one direction.

    python -m benchmarks.bench_export_full --workdir=DIR                     # 5 GB of disk, 8 GB of memory, minutes
    python -m benchmarks.bench_export_full --workdir=DIR --ch=8 --image_size=64   # a quick look

A checkpoint with one full generator is written (seeded initial weights: sizes and operators are those of a trained
one). `export.py` measures ranges on a picture, plans, writes and checks each file with it, then `infer.py --model`
translates that picture, every command in a process of its own. Prints a JSON line for each with seconds, by the clock
and of the processor (user and system, of all cores together), and with its peak memory; the files are deleted. Linux
only (`os.wait4`).
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
FILES = {'frozen_graph float32': '.pb', 'onnx float16': '.onnx', 'onnx float32': '.onnx', 'tflite float16': '.tflite'}


def main() -> int:
    """Exit code 3 where a command failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--workdir', default=None, help='a folder on a disk with room')
    parser.add_argument('--pictures', default=str(REPOSITORY / 'checkpoints' / 'demo' / 'pictures' / 'A'))
    parser.add_argument('--image_size', type=int, default=256)
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument(
        '--files', nargs='+', default=list(FILES)[:2], choices=list(FILES), metavar='"FORMAT PRECISION"'
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='bench-export-', dir=options.workdir) as folder:
        checkpoint = pathlib.Path(folder) / 'full'
        write_checkpoint(checkpoint, options.image_size, options.ch)
        rows = [row for file in options.files for row in measure(file, checkpoint, options.pictures)]
    return 3 if any(row['exit_code'] for row in rows) else 0


def write_checkpoint(folder: pathlib.Path, image_size: int, ch: int) -> None:
    """generator_B alone, in a process of its own: its gigabyte must not stay in this one."""
    code = (
        'from ugatit.checkpoints import model_name, save_checkpoint\n'
        'from ugatit.nn.architecture import Architecture\n'
        'from ugatit.nn.build import Build\n'
        'from ugatit.nn.generator import Generator\n'
        'from ugatit.nn.variables import seeded\n'
        f'made = Generator(Architecture({image_size}, {ch}), "generator_B", Build(factory=seeded(0)))\n'
        f'save_checkpoint({str(folder)!r}, model_name(False), 1, made.named_variables)\n'
    )
    subprocess.run([sys.executable, '-c', code], check=True, cwd=REPOSITORY)


def measure(file: str, checkpoint: pathlib.Path, pictures: str) -> List[Dict[str, Any]]:
    """Rows of the export and of one picture through the file, which is removed."""
    form, precision = file.split()
    output = checkpoint.parent / f'{form}{FILES[file]}'
    commands = {
        'export': ['export.py', f'--checkpoint={checkpoint}', f'--format={form}', f'--output={output}',
                   f'--precision={precision}', f'--calibration_a={pictures}', '--pictures=1'],
        'infer': ['infer.py', f'--model={output}', f'--input={first_picture(pictures)}',
                  f'--output={output.parent / form}'],
    }  # fmt: skip
    rows = []
    for what, words in commands.items():
        row = {'file': file, 'command': what, **timed(words)}
        rows.append({**row, 'bytes': output.stat().st_size if output.exists() else None})
        print(json.dumps(rows[-1]), flush=True)
    if output.exists():
        output.unlink()
    return rows


def first_picture(pictures: str) -> pathlib.Path:
    """By name."""
    return min(path for path in pathlib.Path(pictures).iterdir() if path.suffix in ('.png', '.jpg'))


def timed(words: List[str]) -> Dict[str, Any]:
    """Runs a command of this project; peak memory is the most that the process had resident."""
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, *words], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status) if hasattr(os, 'waitstatus_to_exitcode') else status >> 8
    return {'exit_code': process.returncode, 'seconds': time.monotonic() - start,
            'cpu_seconds': usage.ru_utime + usage.ru_stime, 'peak_bytes': usage.ru_maxrss * 1024,
            'said': said.splitlines()}  # fmt: skip


if __name__ == '__main__':
    sys.exit(main())
