"""What every benchmark tells of the machine, how it shows its results, and how it measures a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
from typing import Any, Dict, Iterable, List, Mapping, Sequence

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


def facts() -> Dict[str, Any]:
    """Versions, cores, devices: no figure means anything without them."""
    import tensorflow as tf

    return {
        'machine': f'{platform.system()} {platform.machine()}',
        'cores': cores(),
        'python': platform.python_version(),
        'tensorflow': tf.__version__,
        'devices': [device.name for device in tf.config.list_physical_devices()],
    }


def cores() -> int:
    """Cores that this process may use, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1


def parser(description: str, **settings: Any) -> argparse.ArgumentParser:
    """A parser that shows the module's text as it stands, with `--json`."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument('--json', metavar='FILE', help='also write the results here')
    made.set_defaults(**settings)
    return made


def show(results: Mapping[str, Any], options: argparse.Namespace, table: str = '') -> None:
    """JSON to stdout and to `--json=FILE`; a table for people goes to stderr, so that stdout stays JSON."""
    text = json.dumps(results, indent=1)
    print(text)
    if table:
        print(table, file=sys.stderr)
    if options.json:
        pathlib.Path(options.json).write_text(text + '\n', encoding='utf-8')


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines: List[str] = [_line(columns), _line('---' for _ in columns), *map(_line, rows)]
    return '\n'.join(lines)


def in_process(module: str, words: Sequence[str], **environment: str) -> Dict[str, Any]:
    """The JSON that `python -m module words` prints last: memory and start-up are those of a fresh process."""
    quiet = {'CUDA_VISIBLE_DEVICES': '', 'TF_CPP_MIN_LOG_LEVEL': '3', **os.environ, **environment}
    program = [sys.executable, '-m', module, *words]
    done = subprocess.run(program, cwd=REPOSITORY, env=quiet, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode().splitlines()[-1])


def resident_bytes() -> int:
    """Memory of this process now. Linux only."""
    return _status('VmRSS')


def peak_bytes() -> int:
    """The most memory so far. Linux only; `ru_maxrss` would count the parent's, from before the exec."""
    return _status('VmHWM')


def forget(folder: str) -> None:
    """Drops the data files of a checkpoint's folder from the system's cache."""
    for path in pathlib.Path(folder).glob('*.data-*'):
        with open(path, 'rb') as file:
            os.fsync(file.fileno())  # what is not written yet cannot be dropped
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _status(field: str) -> int:
    status = pathlib.Path('/proc/self/status').read_text('ascii')
    return 1024 * int(re.search(rf'{field}:\s+(\d+) kB', status).group(1))


def _line(cells: Iterable[Any]) -> str:
    return '| ' + ' | '.join(str(cell) for cell in cells) + ' |'
