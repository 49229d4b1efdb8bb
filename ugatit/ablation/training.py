"""A list of training runs that differ in one thing each, and one finished run as numbers. Read from configs/ablation.

base = 'configs/ablation/train_base.py'            what all runs have in common
seeds = (0, 1)
runs = [
    dict(name='adalin', changes='The paper.', reference=True),
    dict(name='layer', changes='...', fields={'model.variants': 'layer_own'}),
]
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from ugatit.ablation.spec import require_unique, run_config, run_file
from ugatit.data.files import PathLike
from ugatit.data.names import printable
from ugatit.errors import UserError


@dataclasses.dataclass(frozen=True)
class Entry:
    """One way to train; as many runs as there are seeds."""

    name: str
    changes: str  # one sentence
    fields: Tuple[Tuple[str, Any], ...] = ()  # of the config that differ from the base
    reference: bool = False

    def words(self, seed: int) -> List[str]:
        """The flags of train.py that make this run of the base."""
        chosen = [('training.seed', seed), *self.fields]
        return [f'--config.{name}={value}' for name, value in chosen]


@dataclasses.dataclass(frozen=True)
class Plan:
    """All runs."""

    root: pathlib.Path  # what files are named from
    base: pathlib.Path  # a config of train.py
    seeds: Tuple[int, ...]
    entries: Tuple[Entry, ...]

    def only(self, entries: Sequence[Entry]) -> Plan:
        """The same with some of the entries."""
        return dataclasses.replace(self, entries=tuple(entries))

    def runs(self) -> List[Tuple[Entry, int]]:
        """Seed by seed: what is done when time runs out is a whole comparison."""
        return [(entry, seed) for seed in self.seeds for entry in self.entries]


def read_runs(path: PathLike, root: pathlib.Path) -> Plan:
    """The list of a file; `base` is looked for from `root` on.

    Raises:
        UserError: no such file or base, no list, or entries that cannot be.
    """
    values = run_file(path)
    entries = tuple(_entry(path, entry) for entry in run_config(path, 'runs'))
    require_unique(path, [entry.name for entry in entries])
    if [entry.reference for entry in entries].count(True) != 1:
        raise UserError(f'{printable(path)}: just one run must be the reference, with reference=True; correct it.')
    base = root / str(values.get('base', ''))
    if not base.is_file():
        raise UserError(f"{printable(path)} must assign the path of a config of train.py to base, but"
                        f' {values.get("base")!r} is none.')  # fmt: skip
    seeds = values.get('seeds', (0,))
    if not isinstance(seeds, (list, tuple)) or not seeds or not all(isinstance(s, int) and s >= 0 for s in seeds):
        raise UserError(f'{printable(path)}: seeds must be whole numbers such as (0, 1), but {seeds!r} arrived.')
    return Plan(root, base, tuple(seeds), tuple(sorted(entries, key=lambda entry: not entry.reference)))


def _entry(path: PathLike, given: Any) -> Entry:
    legal = {'name', 'changes', 'fields', 'reference'}
    if not isinstance(given, dict) or not {'name', 'changes'} <= set(given) <= legal:
        raise UserError(f'{printable(path)}: a run is a dict with name, changes and perhaps fields and reference, but'
                        f' {given!r} arrived; correct it.')  # fmt: skip
    if not re.fullmatch(r'[a-z0-9][a-z0-9_.-]*', str(given['name'])):
        raise UserError(f'{printable(path)}: the name of a run must be small letters, digits, _, - and ., but'
                        f' {given["name"]!r} arrived.')  # fmt: skip
    fields = given.get('fields', {})
    if not isinstance(fields, Mapping) or not all(isinstance(name, str) for name in fields):
        raise UserError(f'{printable(path)}: fields must map config fields to values, but {fields!r} arrived.')
    return Entry(given['name'], given['changes'], tuple(fields.items()), bool(given.get('reference', False)))


def summary(results: Sequence[Dict[str, Any]], key: str) -> Tuple[float, float]:
    """(mean, sample deviation) over seeds of one number; deviation 0 of a single seed."""
    import numpy as np

    values = [result[key] for result in results]
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def separated(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether no seed of one is as good as any seed of the other: all that two or three seeds can say."""
    return max(a) < min(b) or max(b) < min(a)
