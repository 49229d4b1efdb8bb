"""The divergence along the network as SVG: one point per compared output, drawn here without a library."""

from __future__ import annotations

import html
import itertools
import math
import re
from typing import List, Optional, Sequence, Tuple

from ugatit.dumps.table import Row

HEIGHT, TOP, LABELS, LEFT = 300, 24, 24, 58  # px
LOWEST, HIGHEST = -8, 1  # powers of ten of the relative distance that are shown
_NARROWEST, _STEP = 760, 3.6  # px of the whole, and of one output
_STAGES = (
    (r'adaptive_resblock_?(\d+)', 'AdaLIN {}'),
    (r'(?:^|_)resblock_(\d+)', 'res {}'),
    (r'(?:up_conv|layer_ins_norm)_(\d)', 'up {}'),
    (r'(?:^|_)MLP', 'MLP'),
    (r'CAM_logit', 'CAM'),
    (r'conv_1x1', '1×1'),
    (r'G_logit|Tanh', 'out'),
    (r'generator_[AB]_(?:conv|ins_norm)(?:_[01])?(?:_|$)', 'encoder'),
)
STYLE = """
svg{display:block;flex:none;font:12px system-ui,sans-serif}svg text{fill:var(--soft)}
svg .grid{stroke:var(--line);stroke-width:.7}svg .band{fill:var(--band)}svg .line{fill:none;stroke:var(--accent);
stroke-width:1.4}svg .dot{fill:var(--accent)}svg .over{fill:var(--bad)}svg .hit{fill:transparent}
svg .hit:hover{fill:var(--ink);fill-opacity:.08}svg .limit{stroke:var(--soft);stroke-dasharray:5 4}
svg .first{stroke:var(--bad);stroke-width:1.5}svg .firsttext{fill:var(--bad);font-weight:600}
"""


def curve(rows: Sequence[Row], limit: float, first: int, width: Optional[int] = None) -> str:
    """Two SVGs side by side: the scale, which stays in place, and the curve.

    Args:
        rows: compared outputs, at least one.
        limit: the relative distance from which on an output is bad: a dashed line.
        first: place in `rows` of the first bad one; -1 for none.
        width: px of the curve; None: so that every output has some.
    """
    if width is None:
        width = max(_NARROWEST, int(len(rows) * _STEP) + 20) if len(rows) < 1500 else 5400
    step = (width - 10) / len(rows)
    parts = [_bands(rows, step), _grid(width, limit), _line(rows, step), _dots(rows, step), _first(rows, step, first)]
    parts += [_hits(rows, step)] if step >= 2 else []
    total = TOP + HEIGHT + LABELS
    return (
        f'<div class="plot"><svg class="scale" width="{LEFT}" height="{total}">{_scale()}</svg>'
        f'<svg width="{width}" height="{total}" role="img" aria-label="relative distance of every output">'
        f'{"".join(parts)}</svg></div>'
    )


def height_of(distance: float) -> float:
    """y of a relative distance, px from the top; NaN stands above all."""
    if math.isnan(distance):
        return TOP - 8.0
    power = math.log10(distance) if distance > 0 else LOWEST
    return TOP + HEIGHT * (HIGHEST - min(max(power, LOWEST), HIGHEST)) / (HIGHEST - LOWEST)


def stages(rows: Sequence[Row]) -> List[str]:
    """The part of the network that each output belongs to; conversions belong to what was before them."""
    found, last = [], ''
    for row in rows:
        name = re.sub('[^A-Za-z0-9-]', '_', row.right if row.relation == 'conversion' else row.left)
        matches = ((re.search(pattern, name), label) for pattern, label in _STAGES)
        last = next((label.format(*m.groups()) for m, label in matches if m), last)
        found.append(last)
    return found


def _bands(rows: Sequence[Row], step: float) -> str:
    parts, start = [], 0
    for i, (label, group) in enumerate(itertools.groupby(stages(rows))):
        count = sum(1 for _ in group)
        x, width = start * step, count * step
        if i % 2:
            parts.append(f'<rect class="band" x="{x:.1f}" y="{TOP}" width="{width:.1f}" height="{HEIGHT}"/>')
        if width > 7 * len(label):
            parts.append(f'<text x="{x + width / 2:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{label}</text>')
        start += count
    return ''.join(parts)


def _grid(width: int, limit: float) -> str:
    lines = [f'<line class="grid" x1="0" x2="{width}" y1="{y:.1f}" y2="{y:.1f}"/>' for y, _ in _ticks()]
    y = height_of(limit)
    return ''.join([*lines, f'<line class="limit" x1="0" x2="{width}" y1="{y:.1f}" y2="{y:.1f}"/>'])


def _scale() -> str:
    texts = (f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>' for y, label in _ticks())
    return ''.join(texts)


def _ticks() -> List[Tuple[float, str]]:
    labels = {1: '10×', 0: '100 %', -1: '10 %', -2: '1 %', -3: '0.1 %', LOWEST: 'equal'}
    return [(height_of(10.0**p) if p > LOWEST else float(TOP + HEIGHT), labels.get(p, f'1e{p}'))
            for p in range(HIGHEST, LOWEST - 1, -1)]  # fmt: skip


def _line(rows: Sequence[Row], step: float) -> str:
    points = ' '.join(f'{_x(i, step):.1f},{height_of(_distance(row)):.1f}' for i, row in enumerate(rows))
    return f'<polyline class="line" points="{points}"/>'


def _dots(rows: Sequence[Row], step: float) -> str:
    return ''.join(
        f'<circle class="{"over" if row.overflow == "YES" else "dot"}" cx="{_x(i, step):.1f}"'
        f' cy="{height_of(_distance(row)):.1f}" r="{3.2 if row.overflow == "YES" else 1.3}"/>'
        for i, row in enumerate(rows)
    )


def _first(rows: Sequence[Row], step: float, first: int) -> str:
    if first < 0:
        return ''
    x = _x(first, step)
    anchor, shift = ('end', -6) if x > len(rows) * step / 2 else ('start', 6)
    return (
        f'<line class="first" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{TOP + HEIGHT}"/>'
        f'<text class="firsttext" x="{x + shift:.1f}" y="{TOP - 8}" text-anchor="{anchor}">first bad output</text>'
    )


def _hits(rows: Sequence[Row], step: float) -> str:
    return ''.join(
        f'<rect class="hit" x="{i * step:.1f}" y="{TOP}" width="{step:.2f}" height="{HEIGHT}"><title>'
        f'{html.escape(_title(row))}</title></rect>'
        for i, row in enumerate(rows)
    )


def _title(row: Row) -> str:
    m = row.metrics
    share = f', {100 * m.left_saturated:.2g} % at 65504' if m.left_saturated else ''
    return f'{row.left} ({row.op_type or row.left_type}): distance {m.relative_euclidean:.2g}, cosine {m.cosine:.5f},' \
           f' left {m.left_amax:.5g}, right {m.right_amax:.5g}{share}'  # fmt: skip


def _distance(row: Row) -> float:
    return row.metrics.relative_euclidean


def _x(index: int, step: float) -> float:
    return (index + 0.5) * step
