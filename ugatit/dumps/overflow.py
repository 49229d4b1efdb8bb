"""An overflow-detection folder: which operators overflowed, in order of time, and what their status says."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Dict, List, Optional, Tuple

import numpy as np

from ugatit.dumps import binary
from ugatit.dumps.dtypes import FLOAT16_MAX
from ugatit.dumps.mapped import Mapped
from ugatit.dumps.names import is_digits, parse_name, read_mapping
from ugatit.dumps.opdebug import OverflowRecord, parse_opdebug
from ugatit.dumps.tensors import TensorRef
from ugatit.errors import UserError


@dataclasses.dataclass(frozen=True)
class Overflow:
    """One overflow record with the operator it belongs to."""

    time: int  # microseconds
    record: OverflowRecord
    file: str
    operator: Optional[str]  # None: its own dump is not there
    type: str
    saturated: Tuple[str, ...]  # of its dump: 'output 0: 0.4 % at 65504'

    def to_json(self) -> Dict[str, object]:
        return {**dataclasses.asdict(self), 'words': self.record.words}


def find_overflows(root: os.PathLike[str]) -> Tuple[List[Overflow], List[str]]:
    """All records below a folder in order of time, and sentences about files that cannot be read.

    Raises:
        UserError: no folder.
    """
    root = pathlib.Path(root)
    if not root.is_dir():
        raise UserError(f'{root}: expected a folder with overflow records, but it is no folder; check the path.')
    found: List[Overflow] = []
    failures: List[str] = []
    for folder, _, names in os.walk(root):
        found += _folder(pathlib.Path(folder), sorted(names), failures)
    return sorted(found, key=lambda o: (o.time, o.record.task)), failures


def _folder(folder: pathlib.Path, names: List[str], failures: List[str]) -> List[Overflow]:
    mapping = read_mapping(folder) if 'mapping.csv' in names else {}
    parsed = {name: parse_name(mapping.get(name, name) if is_digits(name) else name) for name in names}
    dumps = {(p.task, p.stream): (name, p.op_type, p.op_name) for name, p in parsed.items()
             if p is not None and p.form == 'dump'}  # fmt: skip
    found = []
    for name, p in parsed.items():
        if p is None or p.form != 'opdebug':
            continue
        try:
            records = read_records(folder / name)
            found += [_overflow(folder, name, p.time, record, dumps) for record in records]
        except (UserError, OSError) as error:
            failures.append(str(error))
    return found


def read_records(path: pathlib.Path) -> List[OverflowRecord]:
    """The records of one Opdebug file."""
    dump = binary.read_dump(path)
    mapped = Mapped(path)
    try:
        return [record for stored in dump.tensors if stored.kind == 'output'
                for record in parse_opdebug(binary.raw_bytes(mapped, stored)[: 1 << 16].tobytes())]  # fmt: skip
    except UserError as error:
        raise UserError(f'{path}: {error}.') from None


def _overflow(folder: pathlib.Path, file: str, time: int, record: OverflowRecord, dumps: dict) -> Overflow:
    name, op_type, op_name = dumps.get((record.task, record.stream), dumps.get((record.task, None), (None, '', None)))
    if name is None:
        return Overflow(time, record, file, None, '', ())
    try:
        dump = binary.read_dump(folder / name)
        states = [_state(folder / name, stored) for stored in dump.tensors]
        return Overflow(time, record, file, dump.header.op_name or op_name, op_type, tuple(filter(None, states)))
    except UserError as error:
        return Overflow(time, record, file, op_name, op_type, (str(error),))


def _state(path: pathlib.Path, stored: binary.Stored) -> str:
    """How much of a float16 tensor stands at the end of its range; '' for none."""
    try:
        tensor = TensorRef(path, 'dump', stored.kind, stored.index).open()
    except UserError:
        return ''
    if not tensor.dtype.is_float16 or not tensor.size:
        return ''
    count = sum(int(np.count_nonzero(~(np.abs(block) < FLOAT16_MAX))) for block in tensor.blocks(1 << 18))
    return f'{stored.kind} {stored.index}: {100 * count / tensor.size:.2g} % at 65504' if count else ''


def overflow_text(overflows: List[Overflow]) -> str:
    """One block per record, the first overflow first."""
    if not overflows:
        return 'no overflow record: nothing overflowed, or overflow detection (dump_debug_mode) was off.'
    lines = [f'{len(overflows)} overflow records; the first in time:']
    for i, o in enumerate(overflows, 1):
        operator = f'{o.operator} ({o.type})' if o.operator else 'an operator whose own dump is missing'
        lines.append(f'{i}. {operator}')
        lines.append(f'   task {o.record.task}, stream {o.record.stream}, {o.record.unit}: {o.record.words}')
        lines += [f'   {state}' for state in o.saturated]
    return '\n'.join(lines)
