"""What a checkpoint holds, as text for people and as a dictionary for programs."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List

from ugatit.checkpoints import naming
from ugatit.checkpoints.architecture import architecture_of
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.checkpoints.writer import is_finite

_LISTED = 12  # so many names that belong to no group; the JSON has them all
_USES = {'generator_B': 'a2b: pictures of A become B', 'generator_A': 'b2a: pictures of B become A'}


def describe(reader: CheckpointReader) -> Dict[str, Any]:
    """Everything that `python -m ugatit.checkpoints` prints, ready for JSON; reads no data but a few scalars.

    Returns:
      prefix, found, step, variant ('light' or 'full'), architecture (field -> value), sources (field -> source),
      networks and groups (name -> tensors, values, bytes), other (names that belong to no group), sidecar.
    """
    resolved = architecture_of(reader)
    groups = reader.groups()
    networks = _by_network(groups['generators'] + groups['discriminators'])
    return {
        'prefix': str(reader.location.prefix),
        'found': reader.location.how,
        'step': reader.location.step,
        'variant': 'light' if resolved.architecture.light else 'full',
        'architecture': dataclasses.asdict(resolved.architecture),
        'sources': resolved.sources,
        'networks': {scope: _measure(reader, names) for scope, names in networks.items()},
        'groups': {group: _measure(reader, names) for group, names in groups.items()},
        'other': groups['other'],
        'sidecar': reader.sidecar() is not None,
    }


def non_finite(reader: CheckpointReader) -> List[str]:
    """The names of all tensors that hold NaN or infinity; reads everything, one tensor at a time."""
    return [name for name in reader.variables() if not is_finite(reader.read_one(name))]


def as_text(found: Dict[str, Any]) -> str:
    """`describe`'s result for people."""
    lines = [found['prefix'], f'  found      {found["found"]}', f'  step       {found["step"]}']
    lines += [f'  variant    {found["variant"]}']
    lines += _table(
        'setting', [(f'{field} = {value} ({found["sources"][field]})',) for field, value in _settings(found)]
    )
    lines += _table('network', [_network_row(scope, size) for scope, size in found['networks'].items()])
    lines += _table('group', [(group, *_size(size)) for group, size in found['groups'].items()])
    lines += _table('unknown', [(name,) for name in found['other'][:_LISTED]])
    lines += [f'  sidecar    {"JSON beside it" if found["sidecar"] else "none"}']
    return '\n'.join(lines + (_non_finite_lines(found['non_finite']) if 'non_finite' in found else []))


def _non_finite_lines(names: List[str]) -> List[str]:
    return [f'  NaN or inf {", ".join(names) or "in no tensor"}']


def _settings(found: Dict[str, Any]) -> List[Any]:
    return [item for item in found['architecture'].items() if item[0] != 'light']


def _network_row(scope: str, size: Dict[str, int]) -> Any:
    return (scope, *_size(size), _USES.get(scope, ''))


def _size(size: Dict[str, int]) -> Any:
    return f'{size["tensors"]:,} tensors', f'{size["values"]:,} values', f'{size["bytes"] / 1e6:,.1f} MB'


def _table(title: str, rows: List[Any]) -> List[str]:
    """Columns as wide as needed; names to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    cells = [[row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))] for row in rows]
    return [f'  {title if n == 0 else "":<10} {"  ".join(cell)}'.rstrip() for n, cell in enumerate(cells)]


def _by_network(names: List[str]) -> Dict[str, List[str]]:
    networks: Dict[str, List[str]] = {}
    for name in names:
        networks.setdefault(naming.scope_of(name), []).append(name)
    return networks


def _measure(reader: CheckpointReader, names: List[str]) -> Dict[str, int]:
    tensors = [reader.variables()[name] for name in names]
    return {
        'tensors': len(tensors),
        'values': sum(tensor.count for tensor in tensors),
        'bytes': sum(tensor.bytes for tensor in tensors),
    }
