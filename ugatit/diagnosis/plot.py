"""The plot of every tensor's range along the network, before and after a plan, as SVG drawn here: no library."""

from __future__ import annotations

import html
import itertools
import math
import re
from typing import List, NamedTuple, Sequence, Tuple

from ugatit.data.reports import SVG_MARK
from ugatit.diagnosis.report import RangeReport, Row
from ugatit.diagnosis.table import number
from ugatit.numerics import FLOAT16
from ugatit.ranges.kinds import OPERAND, RESULT, SQUARE, VECTOR, WIDE

STEP = 3.4  # width of one tensor, px
BAR = 2.5
LEFT, RIGHT, TOP, LABELS, GAP = 58, 14, 26, 38, 6  # px around and between the panels
PER_BIT = 5.2  # height of one power of two, px
LIMITS = (
    (math.log2(FLOAT16.max_finite), '65504', 'over'),
    (-14.0, '2⁻¹⁴', ''),
    (-24.0, '2⁻²⁴', ''),
)
BOTH = (False, True)
_PANELS = {False: 'as the checkpoint is', True: 'stored with the plan'}
_CLASSES = {RESULT: 'r', OPERAND: 'w', SQUARE: 'q', WIDE: 'v'}
_STAGES = (
    (r'(conv|conv_[01]|ins_norm(_[01])?|Relu(_[12])?)(/.*)?', 'encoder'),
    (r'resblock_(\d+)/.*', 'res {}'),
    (r'(CAM_logit(_1)?/.*|Mean|Max|Mul(_1)?|concat(_1)?)', 'CAM'),
    (r'(conv_1x1/.*|Relu_3|Sum|Squeeze)', '1×1'),
    (r'(MLP/.*|Mean_1)', 'MLP'),
    (r'adaptive_resblock(\d+)/.*', 'AdaLIN {}'),
    (r'(ResizeNearestNeighbor|up_conv_0/.*|layer_ins_norm_0/.*|Relu_4)', 'up 0'),
    (r'(ResizeNearestNeighbor_1|up_conv_1/.*|layer_ins_norm_1/.*|Relu_5)', 'up 1'),
    (r'(G_logit/.*|Tanh)', 'out'),
)
COLOURS = """--r:#1d5fd1;--v:#79a3ea;--w:#0b7a66;--q:#a893d6;--bad:#d01f2e"""
DARK_COLOURS = """--r:#7db1ff;--v:#4274c4;--w:#35c2a4;--q:#8d7cc0;--bad:#ff6470"""
STYLE = """
svg.ranges text{fill:var(--soft)}svg.ranges .mark{text-anchor:end}
svg.ranges .title{fill:var(--ink);font-weight:600;font-size:13px}
svg.ranges{font:12px system-ui,sans-serif}svg.ranges .band{fill:var(--band)}
svg.ranges .tick{stroke:var(--line);stroke-width:.6}svg.ranges .limit{stroke:var(--soft);stroke-dasharray:5 4}
svg.ranges line.over{stroke:var(--bad);stroke-dasharray:none;stroke-width:1.5}svg.ranges text.over{fill:var(--bad)}
svg.ranges .r{fill:var(--r)}svg.ranges .v{fill:var(--v)}svg.ranges .w{fill:var(--w)}svg.ranges .q{fill:var(--q)}
svg.ranges .x{fill:var(--bad)}
"""
_ALONE = f"""
svg{{--ink:#1c2430;--soft:#5b6675;--line:#d5dbe3;--band:#f1f4f8;--paper:#fff;{COLOURS}}}
@media (prefers-color-scheme:dark){{svg{{--ink:#e7ebf1;--soft:#a3aebd;--line:#343c48;--band:#1d232c;--paper:#12161c;
{DARK_COLOURS}}}}}
svg .paper{{fill:var(--paper)}}
"""


class Axis(NamedTuple):
    """log2 |value| between two whole numbers; y grows downwards from the panel's top."""

    low: int
    high: int

    @property
    def height(self) -> float:
        return PER_BIT * (self.high - self.low)

    def y(self, bits: float) -> float:
        return PER_BIT * (self.high - min(max(bits, self.low), self.high))


def figure(report: RangeReport) -> str:
    """A file of its own, light and dark; without squared differences and hover titles, so that it stays small."""
    rows = [row for row in report.rows if row.range.kind in (RESULT, OPERAND, VECTOR) and row.range.amax > 0.0]
    drawing = Drawing(rows)
    style = f'<style>{_ALONE}{STYLE}</style><rect class="paper" width="100%" height="100%"/>'
    return drawing.svg(LEFT, SVG_MARK + style + drawing.scale() + drawing.panels(titles=False), report.network)


def plot(report: RangeReport, panels: Sequence[bool] = BOTH) -> str:
    """For a page: the scale, and beside it the panels as an SVG of its own, so that it stays when they scroll.

    Args:
        panels: which to draw, from top to bottom: False as the checkpoint is, True stored with the plan. Both have the
            same axis, so that one alone can take the other's place.
    """
    drawing = Drawing(report.rows, panels)
    scale = f'<svg class="ranges scale" width="{LEFT}" height="{drawing.height:.0f}">{drawing.scale()}</svg>'
    return f'<div class="plot">{scale}{drawing.svg(0, drawing.panels(titles=True), report.network)}</div>'


class Drawing:
    """Panels above each other, before and after the plan; one bar per tensor from its rms to its amax."""

    def __init__(self, rows: Sequence[Row], panels: Sequence[bool] = BOTH) -> None:
        self.planned = tuple(panels)
        self.rows, self.axis, self.stages = rows, _axis(rows), _stages(rows)
        self.width = STEP * len(rows) + RIGHT
        self.tops = tuple(TOP + i * (self.axis.height + GAP + TOP) for i in range(len(self.planned)))
        self.height = self.tops[-1] + self.axis.height + LABELS

    def svg(self, left: float, inner: str, network: str) -> str:
        """An SVG element around what is drawn from x = left on."""
        size = f'width="{left + self.width:.0f}" height="{self.height:.0f}"'
        box = f'viewBox="{-left} 0 {left + self.width:.0f} {self.height:.0f}"'
        shown = 'before and after the plan' if self.planned == BOTH else _PANELS[self.planned[0]]
        title = f'<title>Ranges along {network}, {shown}</title>'
        if left:
            inner = inner.replace('width="100%"', f'x="{-left}" width="100%"', 1)
        return f'<svg xmlns="http://www.w3.org/2000/svg" class="ranges" role="img" {size} {box}>{title}{inner}</svg>'

    def panels(self, titles: bool) -> str:
        """The panels and the stages' names."""
        drawn = ''.join(
            f'<g transform="translate(0 {top:.0f})"><text class="title" y="-9">{_PANELS[planned]}</text>{self._grid()}'
            f'{"".join(_bar(i, row, self.axis, planned, titles) for i, row in enumerate(self.rows))}</g>'
            for top, planned in zip(self.tops, self.planned)
        )
        return drawn + _stage_labels(self.stages, self.tops[-1] + self.axis.height)

    def scale(self) -> str:
        """The numbers beside the panels, right-aligned at x = -6 of the first, for an SVG that begins at x = -LEFT."""
        marks = [(bits, text, kind) for bits, text, kind in LIMITS if self.axis.low <= bits <= self.axis.high]
        marks += [(bits, f'2{_superscript(bits)}', '') for bits in self._ticks()]
        return ''.join(
            f'<text class="{kind} mark" x="-6" y="{top + self.axis.y(bits) + 4:.1f}">{text}</text>'
            for top in self.tops
            for bits, text, kind in marks
        )

    def _ticks(self) -> List[int]:
        whole = range(self.axis.low, self.axis.high + 1)
        return [bits for bits in whole if bits % 8 == 0 and all(abs(bits - limit) > 2.5 for limit, *_ in LIMITS)]

    def _grid(self) -> str:
        width, height = STEP * len(self.rows), self.axis.height
        bands = ''.join(
            f'<rect class="band" x="{STEP * start:.1f}" width="{STEP * (end - start):.1f}" height="{height:.1f}"/>'
            for _, start, end in self.stages[::2]
        )
        lines = [(bits, 'tick') for bits in self._ticks()]
        lines += [(bits, f'limit {kind}'.strip()) for bits, _, kind in LIMITS]
        return bands + ''.join(
            f'<line class="{kind}" x2="{width:.1f}" y1="{self.axis.y(bits):.1f}" y2="{self.axis.y(bits):.1f}"/>'
            for bits, kind in lines
        )


def _bar(index: int, row: Row, axis: Axis, after: bool, titles: bool) -> str:
    shift = row.shift if after else 0
    high, low = _bits(row.range.amax) + shift, _bits(row.range.rms) + shift
    if high == -math.inf:
        return ''
    top, bottom = axis.y(high), max(axis.y(low), axis.y(high) + 1.5)
    kind = 'x' if high > LIMITS[0][0] and row.range.kind != SQUARE else _CLASSES.get(row.range.kind, 'v')
    shape = f'<rect class="{kind}" x="{STEP * index:.1f}" y="{top:.1f}" width="{BAR}" height="{bottom - top:.1f}"'
    return f'{shape}><title>{html.escape(_hover(row))}</title></rect>' if titles else f'{shape}/>'


def _hover(row: Row) -> str:
    t = row.range
    text = f'{t.name}\nmin {number(t.min)}, max {number(t.max)}, amax {number(t.amax)}, rms {number(t.rms)}'
    group = f'group {row.group}, exponent {row.exponent}; ' if row.group else ''
    return f'{text}\n{group}planned amax {number(row.amax_after)}'


def _stages(rows: Sequence[Row]) -> List[Tuple[str, int, int]]:
    """(label, first, end) of each run of tensors that belong to one part of the network."""
    labels = [stage_of(row.range.name) for row in rows]
    stages, start = [], 0
    for label, run in itertools.groupby(labels):
        end = start + len(list(run))
        stages.append((label, start, end))
        start = end
    return stages


def stage_of(name: str) -> str:
    """The part of the network that a tensor belongs to, as the plot labels it."""
    inner = name.partition('/')[2]
    for pattern, label in _STAGES:
        match = re.fullmatch(pattern, inner)
        if match:
            return label.format(match.group(1))
    return ''


def _stage_labels(stages: Sequence[Tuple[str, int, int]], top: float) -> str:
    """Under the lower panel, on two lines where neighbours would touch."""
    parts, taken = [], [0.0, 0.0]
    for label, start, end in stages:
        centre, half = STEP * (start + end) / 2, 3.4 * len(label) + 3
        line = 0 if centre - half >= taken[0] else 1
        if centre - half >= taken[line]:
            taken[line] = centre + half
            parts.append(f'<text x="{centre:.1f}" y="{top + 16 + 16 * line:.1f}" text-anchor="middle">{label}</text>')
    return ''.join(parts)


def _axis(rows: Sequence[Row]) -> Axis:
    tops = [_bits(row.range.amax) + shift for row in rows for shift in (0, row.shift) if row.range.amax > 0.0]
    bottoms = [_bits(row.range.rms) + shift for row in rows for shift in (0, row.shift) if row.range.rms > 0.0]
    return Axis(
        max(-40, min(-26, math.floor(min(bottoms, default=0.0)))),
        min(80, max(20, math.ceil(max(tops, default=0.0)) + 1)),
    )


def _bits(value: float) -> float:
    return math.log2(value) if 0.0 < value < math.inf else (-math.inf if value == 0.0 else 127.0)


def _superscript(value: int) -> str:
    return ''.join('⁻' if digit == '-' else '⁰¹²³⁴⁵⁶⁷⁸⁹'[int(digit)] for digit in str(value))
