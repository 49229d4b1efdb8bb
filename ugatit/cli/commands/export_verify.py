"""`export.py --verify=FILE`."""

from __future__ import annotations

import pathlib
import sys
from importlib.util import find_spec
from typing import Any

from ugatit.cli.commands import model_flags
from ugatit.cli.main import DONE, THRESHOLD_PASSED


def main(options: Any) -> int:
    """Exit code 3 where the file is not what it was, or differs more than its JSON allows."""
    from ugatit.data.names import printable
    from ugatit.export.formats import format_of

    path = pathlib.Path(options.verify)
    kind = format_of(path).name
    if kind in ('saved_model', 'frozen_graph') or (kind == 'tflite' and find_spec('ai_edge_litert') is None):
        from ugatit.cli.tensorflow import import_tensorflow

        import_tensorflow()
    from ugatit.export.verify import verify

    found = verify(path)
    print(f'{printable(path)}: {found.check.text()}')
    print(f'largest difference from its own first run: {found.drift:.3g}')
    model_flags.write_json(options.json, found.to_json())
    if not found.same_bytes:
        print('the file is not the one that was checked when it was written: its checksum differs', file=sys.stderr)
    if not found.check.passes(found.bound):
        print(f'{found.bound.text()} were asked for', file=sys.stderr)
    print('right' if found.passed else 'wrong')
    return DONE if found.passed else THRESHOLD_PASSED
