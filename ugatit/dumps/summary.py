"""A comparison in the terminal: the verdict first, then which graphs, the worst outputs, what stood alone."""

from __future__ import annotations

import collections
import math
from typing import Callable, List, Optional, Sequence

from ugatit.dumps.compare import Comparison
from ugatit.dumps.matching import Alone
from ugatit.dumps.metrics import Metrics
from ugatit.dumps.table import Row


def summary(comparison: Comparison, top: int = 10) -> str:
    """The whole text; its first line is the verdict."""
    matching, rows = comparison.matching, comparison.compared
    lines = [comparison.verdict.sentence]
    lines += [f'  {state.title}: {_state(state.metrics)}' for state in comparison.verdict.inputs]
    for side, graph in (('left', matching.left), ('right', matching.right)):
        lines.append(f'{side}: {graph.model} ({graph.label}), {graph.kind()}')
    lines.append(f'{len(rows)} outputs compared in order of the {_order(comparison)}')
    lines += _alone('left', matching.left_alone) + _alone('right', matching.right_alone)
    failed = [row for row in comparison.rows if row.metrics is None and row.right != '*' and row.left != '*']
    lines += [f'not comparable: {row.left}: {row.reason}' for row in failed[:5]]
    if len(failed) > 5:
        lines.append(f'... and {len(failed) - 5} more that are not comparable')
    if top and rows:
        lines += ['', *_worst(rows, top)]
    return '\n'.join(lines)


def judged(comparison: Comparison) -> List[Row]:
    """The compared outputs that thresholds look at: all but single numbers, whose measures say little."""
    return [row for row in comparison.compared if row.metrics.count > 1 or row.shape]


def passed(
    comparison: Comparison,
    cosine_below: Optional[float] = None,
    distance_above: Optional[float] = None,
    max_error_above: Optional[float] = None,
    overflow: bool = False,
) -> List[str]:
    """One sentence per threshold that some output passes; a NaN passes every one of its kind."""
    found: List[str] = []
    rows = judged(comparison)
    if cosine_below is not None:
        bad = [r for r in rows if not r.metrics.cosine >= cosine_below]
        found += _sentence(bad, 'cosine similarity', f'below {cosine_below:g}', lambda r: r.metrics.cosine)
    if distance_above is not None:
        bad = [r for r in rows if not r.metrics.relative_euclidean <= distance_above]
        found += _sentence(bad, 'relative distance', f'over {distance_above:g}', lambda r: r.metrics.relative_euclidean)
    if max_error_above is not None:
        bad = [r for r in rows if not r.metrics.max_absolute <= max_error_above]
        found += _sentence(bad, 'largest error', f'over {max_error_above:g}', lambda r: r.metrics.max_absolute)
    if overflow:
        bad = [r for r in rows if r.overflow == 'YES']
        found += _sentence(bad, 'share at 65504', 'not 0', lambda r: r.metrics.left_saturated)
    return found


def _sentence(bad: Sequence[Row], what: str, limit: str, value: Callable[[Row], float]) -> List[str]:
    if not bad:
        return []
    return [f'threshold passed: {what} {limit} in {len(bad)} outputs, first {bad[0].left} ({value(bad[0]):.6g})']


def _state(m: Metrics) -> str:
    saturated = f', {100 * m.left_saturated:.2g} % at 65504' if m.left_saturated else ''
    return f'distance {m.relative_euclidean:.2g}, cosine {m.cosine:.6f}{saturated}; the right side reaches' \
           f' {m.right_amax:.6g}'  # fmt: skip


def _order(comparison: Comparison) -> str:
    return 'compiled graph' if comparison.matching.left.compiled is not None else 'dump times'


def _alone(side: str, alone: Sequence[Alone]) -> List[str]:
    counts = collections.Counter(a.reason if not a.reason.startswith('inside') else 'inside a fused operator'
                                 for a in alone)  # fmt: skip
    return [f'{count} operators only on the {side}: {reason}' for reason, count in counts.most_common()]


def _worst(rows: Sequence[Row], top: int) -> List[str]:
    def badness(row: Row) -> float:
        value = row.metrics.relative_euclidean
        return math.inf if math.isnan(value) else value

    worst = sorted(rows, key=badness, reverse=True)[:top]
    lines = [f'{"place":>5} {"cosine":>9} {"distance":>9} {"max error":>10} {"at 65504":>9}  output']
    for row in worst:
        m = row.metrics
        share = f'{100 * m.left_saturated:.2g} %' if row.left_type == 'float16' else '-'
        lines.append(f'{row.sequence:>5} {m.cosine:>9.6f} {m.relative_euclidean:>9.2g} {m.max_absolute:>10.4g}'
                     f' {share:>9}  {row.tensor}')  # fmt: skip
    return lines
