"""Compares two dumps, tensor by tensor in constant memory, resumable, some tensors at a time."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import math
import os
import pathlib
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Optional, Sequence, Tuple

from ugatit.dumps.ahead import ReadAhead
from ugatit.dumps.engines import NUMPY, Engine, choose_engine
from ugatit.dumps.matching import Matching, Pair, choose, match
from ugatit.dumps.metrics import measure
from ugatit.dumps.table import Row, alone_rows, row_of
from ugatit.dumps.tree import DumpGraph, Tree
from ugatit.dumps.verdict import DEFAULT_LIMITS, Limits, Verdict, judge
from ugatit.errors import UserError
from ugatit.inference.progress import Silent

_MOST_THREADS = 4
Progress = Callable[[Sequence[Pair], str], ContextManager]  # ugatit.cli.progress.Progress, or `Silent`


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Everything that was found out."""

    matching: Matching
    rows: Tuple[Row, ...]  # compared outputs in topological order, then what has no counterpart
    verdict: Verdict
    failures: Tuple[str, ...]  # files that could not be read

    @property
    def compared(self) -> List[Row]:
        return [row for row in self.rows if row.metrics is not None]

    def to_json(self) -> Dict[str, object]:
        """Plain data; NaN is null and infinity a text, because JSON has neither."""
        return _jsonable(
            {
                'verdict': dataclasses.asdict(self.verdict),
                'left': _graph_json(self.matching.left),
                'right': _graph_json(self.matching.right),
                'rows': [row.to_json() for row in self.rows],
                'failures': list(self.failures),
            }
        )


def compare(
    left: Tree,
    right: Tree,
    graph: Optional[str] = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress = Silent,
    journal: Optional[pathlib.Path] = None,
    resume: bool = False,
    threads: Optional[int] = None,
) -> Comparison:
    """Chooses the graphs, pairs their tensors, measures every pair and names the first that is wrong.

    Args:
        graph: name of the graph to compare; None: the pair of graphs that fits best.
        journal: finished rows are kept here until all are done.
        resume: take the finished rows from there.
        threads: tensors measured at a time; None: one per core, 4 at most.

    Raises:
        UserError: nothing fits, or several graphs do; it lists them.
    """
    matching = match(*choose(left, right, graph))
    with _Journal(journal, matching, resume) as done:
        rows = _measure_all(matching, done, progress, threads)
    results = [(pair, row.metrics) for pair, row in zip(matching.pairs, rows)]
    verdict = judge(matching, results, limits)
    rows += alone_rows(len(rows), matching.left_alone, matching.right_alone)
    failures = (*left.failures, *right.failures, *matching.left.failures, *matching.right.failures)
    return Comparison(matching, tuple(rows), verdict, failures)


def _measure_all(matching: Matching, done: _Journal, progress: Progress, threads: Optional[int]) -> List[Row]:
    count = threads or min(_MOST_THREADS, os.cpu_count() or 1)
    pairs = list(enumerate(matching.pairs))
    wanted = [() if number in done.known else (pair.left, pair.right) for number, pair in pairs]
    rows, pool = [], concurrent.futures.ThreadPoolExecutor(count)
    with progress(matching.pairs, 'tensors') as bar, pool, ReadAhead(wanted) as ahead:
        engine = choose_engine(sum(os.stat(ref.path).st_size for group in wanted for ref in group))

        def one(item: Tuple[int, Pair]) -> Row:
            row = done.known.get(item[0]) or measured_row(*item, engine)
            ahead.done(item[0])
            return row

        try:
            for row in pool.map(one, pairs):
                rows.append(row)
                done.add(row)
                bar.advance()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return rows


def measured_row(sequence: int, pair: Pair, engine: Engine = NUMPY) -> Row:
    """Measures one pair; what cannot be compared gets the reason."""
    row = row_of(sequence, pair)
    try:
        left, right = pair.left.open(), pair.right.open()
        row = dataclasses.replace(
            row,
            left_type=left.dtype.name,
            right_type=right.dtype.name,
            address=left.address,
            shape=tuple(left.shape),
        )
        m = measure(left, right, engine)
        notes = list(m.notes)
        if _squeezed(left.shape) != _squeezed(right.shape):
            notes.append(f'shapes differ: {list(left.shape)} and {list(right.shape)}, compared value by value')
        if pair.operator.times > 1:
            notes.append(f'dumped {pair.operator.times} times, the last is compared')
        if pair.relation == 'fusion':
            notes.append(f'fused operator, compared with {pair.truth[0]}')
        return dataclasses.replace(row, metrics=m, reason='; '.join(notes))
    except UserError as error:
        return dataclasses.replace(row, reason=str(error))


class _Journal:
    """Finished rows, one JSON line each, beside the result; removed when everything is done."""

    def __init__(self, path: Optional[pathlib.Path], matching: Matching, resume: bool) -> None:
        self.path, self.known, self._file = path, {}, None
        self._fingerprint = _fingerprint(matching) if path is not None else ''
        if path is not None and resume and path.exists():
            self.known = {row.sequence: row for row in self._read()}

    def __enter__(self) -> _Journal:
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, 'w', encoding='utf-8')
            self._write({'fingerprint': self._fingerprint})
            for row in self.known.values():
                self._write(row.to_json())
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            if kind is None:
                os.unlink(self.path)

    def add(self, row: Row) -> None:
        if self._file is not None and row.sequence not in self.known:
            self._write(row.to_json())

    def _write(self, value: Dict[str, object]) -> None:
        self._file.write(json.dumps(value) + '\n')
        self._file.flush()

    def _read(self) -> Iterator[Row]:
        """Rows of an earlier run on the same files, up to a line that was cut off."""
        with open(self.path, encoding='utf-8', errors='replace') as file:
            try:
                if json.loads(file.readline()).get('fingerprint') != self._fingerprint:
                    return
                for line in file:
                    yield Row.from_json(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError):
                return


def _fingerprint(matching: Matching) -> str:
    digest = hashlib.sha256()
    for pair in matching.pairs:
        for ref in (pair.left, pair.right):
            stat = os.stat(ref.path)
            digest.update(f'{ref.path}|{ref.kind}|{ref.index}|{stat.st_size}|{stat.st_mtime_ns}\n'.encode())
    return digest.hexdigest()


def _squeezed(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    return tuple(side for side in shape if side != 1)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _graph_json(graph: DumpGraph) -> Dict[str, object]:
    return {'label': graph.label, 'model': graph.model, 'kind': graph.kind(), 'operators': len(graph.operators)}
