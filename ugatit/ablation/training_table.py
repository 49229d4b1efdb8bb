"""Training runs as table.csv, and their means over seeds."""

from __future__ import annotations

import csv
import io
import math
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from ugatit.ablation.training import separated, summary

DIRECTIONS = ('a2b', 'b2a')
COLUMNS = ('run', 'seed', *(f'{direction}_{name}' for direction in DIRECTIONS
                            for name in ('kid_x100', 'kid_x100_deviation', 'kid_x100_untranslated', 'fid')),
           'last_cycle', 'changes', 'command', 'error')  # fmt: skip


class Mean(NamedTuple):
    """One entry over its seeds."""

    name: str
    changes: str
    reference: bool
    seeds: Tuple[int, ...]
    kid: Dict[str, Tuple[float, float]]  # direction -> mean and sample deviation over seeds, x 100
    each: Dict[str, List[float]]  # direction -> one value per seed
    cycle: Tuple[float, float]  # sum of both cycle losses, mean of the last tenth of the steps
    errors: Tuple[str, ...]


def csv_text(results: Sequence[Dict[str, Any]]) -> str:
    """One line per run."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator='\n')
    writer.writerow(COLUMNS)
    for result in results:
        numbers: List[Any] = []
        for direction in DIRECTIONS:
            found = result.get(direction)
            numbers += [''] * 4 if found is None else [
                f'{value:.6g}' for value in (found['kid']['x100'], found['kid']['x100_deviation'],
                                             found['kid_untranslated']['x100'], found['fid']['value'])
            ]  # fmt: skip
        cycle = f'{last_cycle(result):.6g}' if 'curves' in result else ''
        writer.writerow([result['name'], result['seed'], *numbers, cycle, result['changes'], result['command'],
                         result.get('error', '')])  # fmt: skip
    return buffer.getvalue()


def means(results: Sequence[Dict[str, Any]]) -> List[Mean]:
    """In the order of the list, the reference first."""
    names = list(dict.fromkeys(result['name'] for result in results))
    return [_mean([result for result in results if result['name'] == name]) for name in names]


def verdict(mean: Mean, reference: Mean, direction: str) -> str:
    """'nearer', 'farther' or 'not separated' from the reference, by whether the seeds overlap."""
    a, b = mean.each[direction], reference.each[direction]
    if min(len(a), len(b)) < 2 or not separated(a, b):  # one seed separates nothing
        return 'not separated'
    return 'nearer' if max(a) < min(b) else 'farther'


def summed(curves: Dict[str, Any], columns: Sequence[str]) -> Dict[float, float]:
    """Step -> sum of some columns of one run's curves, at those steps that have a value in all of them."""
    found = [dict(map(tuple, curves[column])) for column in columns]
    return {step: sum(values[step] for values in found) for step in found[0] if all(step in v for v in found)}


def last_cycle(result: Dict[str, Any]) -> float:
    """How well pictures come back: both cycle losses, mean of the last tenth of the logged steps; NaN without any."""
    both = list(summed(result['curves'], ('G_A_cycle', 'G_B_cycle')).values())
    last = both[-max(1, len(both) // 10) :]
    return sum(last) / len(last) if last else math.nan


def _mean(results: Sequence[Dict[str, Any]]) -> Mean:
    done = [result for result in results if 'error' not in result]
    first = results[0]
    flat = [{**{d: result[d]['kid']['x100'] for d in DIRECTIONS}, 'cycle': last_cycle(result)} for result in done]
    return Mean(
        first['name'],
        first['changes'],
        first['reference'],
        tuple(result['seed'] for result in done),
        {d: summary(flat, d) for d in DIRECTIONS} if done else {},
        {d: [row[d] for row in flat] for d in DIRECTIONS},
        summary(flat, 'cycle') if done else (0.0, 0.0),
        tuple(result['error'] for result in results if 'error' in result),
    )
