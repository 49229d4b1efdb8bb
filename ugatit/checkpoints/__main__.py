"""`python -m ugatit.checkpoints PATH`: what a checkpoint holds; with `--slim` a copy for inference."""

from __future__ import annotations

import argparse
import json
import logging
import os
import pathlib
import sys
from typing import List, Optional

from ugatit.errors import UserError

_DIRECTIONS = {'a2b': ('a2b',), 'b2a': ('b2a',), 'both': ('a2b', 'b2a')}


def main(arguments: Optional[List[str]] = None) -> int:
    """Returns the exit code: 0 done, 2 bad usage or nothing usable, 3 `--check_finite` found NaN or infinity."""
    options = _parse(arguments)
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')  # TensorFlow's own messages; ours say it in one sentence
    logging.basicConfig(level=logging.WARNING, format='%(message)s')
    try:
        return _run(options)
    except UserError as error:
        print(f'error: {error}', file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    from ugatit.checkpoints.describe import as_text, describe, non_finite
    from ugatit.checkpoints.reader import CheckpointReader
    from ugatit.checkpoints.slimming import slim

    reader = CheckpointReader(options.path)
    found = describe(reader)
    if options.check_finite:
        found['non_finite'] = non_finite(reader)
    print(as_text(found))
    if options.slim:
        found['slim'] = str(slim(options.path, options.slim, _DIRECTIONS[options.direction]).prefix)
        print(f'  written    {found["slim"]}')
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found, indent=1) + '\n', encoding='utf-8')
    return 3 if found.get('non_finite') else 0


def _parse(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser('python -m ugatit.checkpoints', description=__doc__)
    parser.add_argument('path', help='model directory, a parent of one, prefix UGATIT.model-N, or its .index file')
    parser.add_argument('--slim', metavar='FOLDER', help='write a generator-only checkpoint into this folder')
    parser.add_argument('--direction', choices=list(_DIRECTIONS), default='both', help='for --slim; default: both')
    parser.add_argument('--check_finite', action='store_true', help='also read all data and look for NaN and infinity')
    parser.add_argument('--json', metavar='FILE', help='write what was found as JSON, too')
    return parser.parse_args(arguments)


if __name__ == '__main__':
    sys.exit(main())
