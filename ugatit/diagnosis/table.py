"""The range report as text for a terminal."""

from __future__ import annotations

import math
from typing import List, Sequence, Tuple

from ugatit.diagnosis.findings import Finding, describe, largest_square
from ugatit.diagnosis.report import RangeReport, Row
from ugatit.ranges.kinds import SQUARE

HEADER = ('tensor', 'shape', 'min', 'max', 'mean', 'amax', '>65504', '<2^-14', 'bits', 'group', 'e', 'planned')
"""`bits` is log2(amax / 65504): what overflows has more than 0. `planned` is amax as stored with the plan."""


def report_text(report: RangeReport, top: int = 20) -> str:
    """The whole report: firsts per policy, the `top` largest tensors, squares apart, the plan and what it achieves."""
    blocks = [
        f'{report.direction} ({report.network}), {count(report.profile.pictures, "picture")} of'
        f' {report.image_size}x{report.image_size}, measured in float32',
        firsts_text(report),
        tensor_table(report.worst_first()[:top]),
        _legend(report, top),
        plan_text(report),
    ]
    return '\n\n'.join(blocks) + '\n'


def firsts_text(report: RangeReport) -> str:
    """The firsts of `firsts`, a heading per precision, numbers below the name."""
    lines: List[str] = []
    for precision, found in firsts(report):
        lines.append(f'{precision}:')
        lines.extend(f'  {text}' for text in found)
    return '\n'.join(lines)


def firsts(report: RangeReport) -> List[Tuple[str, List[str]]]:
    """(heading, sentences): the first overflow under each precision, of any kind, and the squared differences."""
    found = [(finding.precision, _finding(finding)) for finding in report.findings]
    over, square = report.profile.first_over_limit(), largest_square(report.profile)
    anything = [f'first value over 65504, stored in float16 or not: {describe(over) if over else "none"}']
    if square is not None:
        note = 'beyond float16; only modes that square in float16 mind' if square.overflows else 'fits float16 as well'
        anything.append(f'largest squared difference: {square.name} reaches {square.amax:.4g} ({note})')
    return [*found, ('any precision', anything)]


def _finding(finding: Finding) -> List[str]:
    if not finding.overflows:
        return ['everything that it stores in float16 fits']
    lines = []
    if finding.result:
        lines.append(f'first float16 result that overflows, of {finding.results}: {describe(finding.result)}')
    if finding.operand:
        lines.append(f'first operand that overflows: {describe(finding.operand)}')
    if finding.square:
        lines.append(f'first squared difference that overflows: {describe(finding.square)}')
    return lines


def plan_text(report: RangeReport) -> str:
    """The exponents and what is left over 65504 with them."""
    if not report.exponents:
        lines = ['plan: nothing needs scaling, every exponent is 0']
    else:
        pairs = ', '.join(f'{group} {e}' for group, e in report.exponents.items())
        lines = [f'plan (stored = t * 2**-e): {pairs}']
    left = report.unfitted()
    largest = max((row for row in report.rows if row.range.kind != SQUARE), key=lambda row: row.amax_after)
    lines.append(f'with the plan the largest stored value is {largest.amax_after:.6g} ({largest.range.name}); '
                 + (f'{count(len(left), "tensor")} still over 65504' if left else 'nothing is over 65504'))  # fmt: skip
    return '\n'.join([*lines, *(f'note: {note}' for note in report.plan.notes)])


def tensor_table(rows: Sequence[Row]) -> str:
    """Aligned columns, numbers to the right; names whole, because they are what people search for."""
    cells = [HEADER, *(row_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEADER))]
    left = (0, 1, 9)
    return '\n'.join(
        '  '.join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip()
        for line in cells
    )


def row_cells(row: Row) -> List[str]:
    """The columns of HEADER."""
    t = row.range
    return [
        t.name,
        'x'.join(str(side) for side in t.shape),
        *(number(value) for value in (t.min, t.max, t.mean, t.amax)),
        share(t.overflow_share),
        share(t.subnormal_share),
        f'{row.bits_over:+.1f}' if math.isfinite(row.bits_over) else '-',
        row.group or '-',
        str(row.exponent) if row.group else '-',
        number(row.amax_after),
    ]


def number(value: float) -> str:
    """Five digits, as short as they come."""
    return f'{value:.5g}'


def share(value: float) -> str:
    """A share as a percentage that never rounds something to nothing."""
    if value == 0.0:
        return '0'
    return '<0.01%' if value < 1e-4 else f'{100.0 * value:.2f}%'


def count(number_of: int, noun: str) -> str:
    """'1 picture', '3 pictures'."""
    return f'{number_of} {noun}{"" if number_of == 1 else "s"}'


def _legend(report: RangeReport, top: int) -> str:
    squares = sum(row.range.kind == SQUARE and row.range.overflows for row in report.rows)
    text = (
        "bits: log2(amax / 65504), over 0 overflows; e: the plan's exponent of the group; planned: amax as then stored."
    )
    more = len(report.rows) - top
    if more > 0:
        text += f' {count(more, "more tensor")} with --top={len(report.rows)}.'
    return text + (f' {count(squares, "squared difference")} and variances over 65504 come last.' if squares else '')
