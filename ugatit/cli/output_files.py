"""Whether the files that a command is to write may be written: asked before TensorFlow starts, for every command.

A report may replace an earlier report of its own kind, which carries a mark, and an empty file. Anything else that
exists is somebody's work: a picture, a checkpoint, a plan that is being read, a device.
"""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ugatit.cli.flags import CommandFlags
from ugatit.errors import UserError

_HEAD = 4096  # bytes in which a mark must stand
Named = Tuple[str, pathlib.Path]  # a flag's name and a path that was given with it


def check_output_files(flags: CommandFlags, options: Any) -> None:
    """Looks at every flag defined with `output_file` that was given.

    Raises:
        UserError: a folder, a device, a place that cannot be written, a file that another flag names, a file of a
            checkpoint, or one that exists and is no report of ours; one sentence that names the flag.
    """
    given = [(name, getattr(options, name)) for name in flags.outputs if getattr(options, name)]
    if not given:
        return
    others = list(_others(flags, options))
    outputs = [(name, pathlib.Path(text)) for name, text in given]
    for index, (name, text) in enumerate(given):
        check_output_file(name, text, flags.outputs[name])
        _check_others(name, pathlib.Path(text), outputs[:index] + outputs[index + 1 :], others)


def check_output_file(name: str, given: str, kind: str) -> None:
    """The same for one file, whatever else is written; kind: one of KINDS."""
    from ugatit.data.convert import regular_target
    from ugatit.data.names import printable
    from ugatit.inference.outputs import require_writable

    path = pathlib.Path(given)
    if path.is_dir() or given.endswith(('/', os.sep)):
        raise UserError(f'--{name} must be a file, but {printable(path)} is a folder; write'
                        f' --{name}={printable(path / "report")}{_ENDINGS[kind]}.')  # fmt: skip
    target = regular_target(path, f'--{name}')
    require_writable(target.parent, f'--{name}')
    _check_checkpoint(name, path, target)
    if target.exists() and not _is_ours(target, kind):
        raise UserError(f'--{name}={printable(path)} exists already and is not {KINDS[kind]} of ours; give another'
                        ' name.')  # fmt: skip


def _others(flags: CommandFlags, options: Any) -> Iterator[Named]:
    """What the other flags name: inputs, plans, the folder of results."""
    for name in flags.places:
        if name not in flags.outputs:
            value = getattr(options, name)
            for one in value if isinstance(value, list) else [value] if value else []:
                if flags.given(name) or os.path.exists(one):
                    yield name, pathlib.Path(one)


def _check_others(name: str, path: pathlib.Path, outputs: List[Named], others: List[Named]) -> None:
    from ugatit.data.names import printable
    from ugatit.inference.outputs import key_of

    key = key_of(path)
    for other, place in outputs + others:
        if key_of(place) == key:
            raise UserError(f'--{name}={printable(path)} is what --{other} names, too, and would overwrite it; give'
                            ' another name.')  # fmt: skip
    for other, place in outputs:
        if key_of(place).startswith(key + os.sep):
            raise UserError(f'--{name}={printable(path)} is a file, but --{other}={printable(place)} needs a folder of'
                            ' that name; give another name.')  # fmt: skip


def _check_checkpoint(name: str, path: pathlib.Path, target: pathlib.Path) -> None:
    """Nothing that lies beside a checkpoint's .index is replaced, and none of its own file names is taken."""
    from ugatit.checkpoints.location import STATE_FILE, prefix_of, prefixes_in, with_suffix
    from ugatit.data.names import printable

    if not target.parent.is_dir() or not prefixes_in(target.parent):
        return
    prefix = prefix_of(target)
    belongs = target.name == STATE_FILE or (prefix != target and with_suffix(prefix, '.index').exists())
    if belongs or target.exists():
        raise UserError(f'--{name}={printable(path)} lies in the folder of a checkpoint and would overwrite or pose as'
                        ' a file there; give a name in another folder.')  # fmt: skip


def _is_ours(target: pathlib.Path, kind: str) -> bool:
    with target.open('rb') as file:
        head = file.read(_HEAD)
    return not head or _MARKS[kind](head)


def _json(head: bytes) -> bool:
    from ugatit.data.reports import JSON_KEY, JSON_VALUE

    return re.match(rb'\s*\{\s*"%s"\s*:\s*"%s"' % (JSON_KEY.encode(), JSON_VALUE.encode()), head) is not None


def _html(head: bytes) -> bool:
    from ugatit.data.reports import HTML_MARKS

    return any(mark.encode() in head for mark in HTML_MARKS)


def _svg(head: bytes) -> bool:
    from ugatit.data.reports import SVG_MARK

    return head.startswith(b'<svg') and SVG_MARK.encode() in head


def _png(head: bytes) -> bool:
    from ugatit.inference.mark import KEY, VALUE

    return head.startswith(b'\x89PNG\r\n\x1a\n') and f'tEXt{KEY}\0{VALUE}'.encode() in head


def _csv(head: bytes) -> bool:
    from ugatit.dumps.table import HEADER

    return head.split(b'\n')[0].rstrip(b'\r') == ','.join(HEADER).encode()


def _plan(head: bytes) -> bool:
    return re.match(rb'\s*\{\s*"format"\s*:\s*\d+\s*,\s*"meaning"\s*:\s*"every tensor of a group', head) is not None


def _journal(head: bytes) -> bool:
    return re.match(rb'\{"fingerprint": "[0-9a-f]+"\}\n', head) is not None


KINDS: Dict[str, str] = {
    'json': 'a report',
    'html': 'a page',
    'svg': 'a plot',
    'png': 'a picture',
    'csv': 'a sheet',
    'plan': 'a range plan',
    'journal': 'an interrupted comparison',
}
_ENDINGS = {
    'json': '.json',
    'html': '.html',
    'svg': '.svg',
    'png': '.png',
    'csv': '.csv',
    'plan': '.json',
    'journal': '.partial',
}
_MARKS: Dict[str, Callable[[bytes], bool]] = {
    'json': _json,
    'html': _html,
    'svg': _svg,
    'png': _png,
    'csv': _csv,
    'plan': _plan,
    'journal': _journal,
}
