"""The report's charts, by matplotlib, as SVG inside the page; lines and text take the page's own colours.

Without matplotlib (an optional package) each is None, and the page says so.
"""

from __future__ import annotations

import html
import io
import math
import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ugatit.numerics import FLOAT16

_INK, _PAPER = '#010203', '#fdfcfb'  # stand in for the page's colours, which change with the reader's theme
SERIES = ('#2f6fdb', '#c2571a', '#12836d', '#8a56c2', '#b3386b', '#6b7280', '#a3850c', '#0f8aa3', '#7a4a2b')
_DASHES = ('-', '--', ':', '-.')


def bars(rows: Sequence[Dict[str, Any]], floors: Dict[str, float]) -> Optional[str]:
    """PSNR of every row with a finite one, best first; floors as lines."""
    finite = [row for row in rows if 'error' not in row and math.isfinite(row['psnr_db'])]
    finite.sort(key=lambda row: row['psnr_db'])
    if not finite:
        return None
    names = [row['variant'] for row in finite]
    values = [row['psnr_db'] for row in finite]
    text = '; '.join(f'{name} {value:.1f}' for name, value in zip(reversed(names), reversed(values)))

    def draw(axes: Any) -> None:
        shown = axes.barh(names, values, color=[_colour(row) for row in finite], height=0.7)
        for row, bar in zip(finite, shown):
            if row['unusable']:
                bar.set_hatch('///')
                bar.set_edgecolor(_PAPER)
        for value, name in zip(values, names):
            axes.text(value + 0.6, name, f'{value:.1f}', va='center', fontsize=9, color=_INK)
        for (precision, value), dash in zip(floors.items(), _DASHES[1:]):
            axes.axvline(value, color=_INK, linewidth=1, linestyle=dash, zorder=0, label=f'floor of {precision}')
        axes.set_xlim(0, max(values) * 1.14)
        axes.set_xlabel('PSNR against float32, dB (more is better)')
        if floors:
            axes.legend(fontsize=8, loc='lower right', labelcolor=_INK)

    return figure(draw, (8.2, 0.9 + 0.28 * len(finite)), f'PSNR in dB, best first: {text}', 'bars')


def ranges(rows: Sequence[Dict[str, Any]]) -> Optional[str]:
    """Largest |value| of every tensor along the network, one line per row, with float16's end.

    The first row's tensors give the places; what another row computes besides is left out.
    """
    rows = [row for row in rows if row.get('along')]
    if not rows:
        return None
    places = {name: place for place, (name, _) in enumerate(rows[0]['along'])}
    lines = []
    for row in rows:
        kept = [(places[name], amax) for name, amax in row['along'] if name in places]
        lines.append((row['variant'], *zip(*kept)))
    text = '; '.join(f'{name} reaches {max(values):.3g}' for name, _, values in lines)

    def draw(axes: Any) -> None:
        for index, (name, x, values) in enumerate(lines):
            axes.plot(
                x,
                [max(value, 1e-6) for value in values],
                label=name,
                color=SERIES[index % len(SERIES)],
                linestyle=_DASHES[index % len(_DASHES)],
                linewidth=1.3,
            )
        axes.axhline(FLOAT16.max_finite, color=_INK, linewidth=1.2)
        axes.text(0, FLOAT16.max_finite * 1.3, f"float16's end, {FLOAT16.max_finite:.0f}", fontsize=9, color=_INK)
        axes.set_yscale('log')
        axes.set_xlabel('tensors in the order of execution')
        axes.set_ylabel('largest |value|, as stored')
        axes.legend(fontsize=8, labelcolor=_INK, ncols=1, loc='upper left', bbox_to_anchor=(1.01, 1.0))

    return figure(
        draw, (9.5, 3.8), f'Largest absolute values along the network; float16 ends at 65504: {text}', 'ranges'
    )


def curves(
    title: str, series: Sequence[Tuple[str, Sequence[float], Sequence[float]]], label: str, place: str
) -> Optional[str]:
    """(name, x, y) as lines over steps."""
    text = '; '.join(f'{name} ends at {y[-1]:.3g}' for name, _, y in series if len(y))

    def draw(axes: Any) -> None:
        for index, (name, x, y) in enumerate(series):
            axes.plot(x, y, label=name, color=SERIES[index % len(SERIES)], linestyle=_DASHES[index % len(_DASHES)],
                      linewidth=1.3)  # fmt: skip
        axes.set_title(title, fontsize=10, color=_INK)
        axes.set_xlabel('step')
        axes.set_ylabel(label)
        axes.legend(fontsize=8, labelcolor=_INK, loc='upper left', bbox_to_anchor=(1.01, 1.0))

    return figure(draw, (6.8, 3.2), f'{title}: {text}', place)


def means(names: Sequence[str], groups: Dict[str, List[Tuple[float, float]]], label: str) -> Optional[str]:
    """Mean and deviation per name, one bar per group side by side."""
    text = '; '.join(
        f'{name}: ' + ', '.join(f'{group} {values[i][0]:.3g} ± {values[i][1]:.2g}' for group, values in groups.items())
        for i, name in enumerate(names)
    )

    def draw(axes: Any) -> None:
        width = 0.8 / len(groups)
        for index, (group, values) in enumerate(groups.items()):
            places = [i + (index - (len(groups) - 1) / 2) * width for i in range(len(names))]
            axes.bar(places, [mean for mean, _ in values], width * 0.92, yerr=[deviation for _, deviation in values],
                     color=SERIES[index], ecolor=_INK, capsize=3, label=group, hatch=('', '//')[index % 2],
                     edgecolor=_PAPER)  # fmt: skip
        axes.set_xticks(range(len(names)), names, rotation=20, ha='right')
        axes.set_ylabel(label)
        axes.legend(fontsize=8, labelcolor=_INK)

    return figure(draw, (8.2, 3.6), f'{label}: {text}', 'means')


def figure(draw: Any, size: Tuple[float, float], alt: str, name: str) -> Optional[str]:
    """An SVG element with its text alternative; None without matplotlib."""
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        return None
    buffer = io.StringIO()
    look = {
        'svg.fonttype': 'none', 'svg.hashsalt': name, 'font.size': 9.5, 'hatch.linewidth': 1.5,
        'font.family': 'sans-serif',
    }  # fmt: skip
    with matplotlib.rc_context(look):
        canvas = Figure(figsize=size)
        FigureCanvasSVG(canvas)
        axes = canvas.subplots()
        draw(axes)
        _style(axes)
        canvas.savefig(buffer, format='svg', transparent=True, bbox_inches='tight', metadata={'Date': None})
    return _inline(buffer.getvalue(), alt, name)


def _style(axes: Any) -> None:
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    for side in ('left', 'bottom'):
        axes.spines[side].set_color(_INK)
    axes.tick_params(colors=_INK)
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    legend = axes.get_legend()
    if legend is not None:
        legend.get_frame().set_alpha(0.0)


def _inline(svg: str, alt: str, name: str) -> str:
    svg = svg[svg.index('<svg') :]
    svg = re.sub(r'<metadata>.*?</metadata>', '', svg, flags=re.DOTALL)
    svg = re.sub(r'font: ([\d.]+)px [^;"]*', r'font: \1px system-ui, sans-serif', svg)
    # Identifiers are global in a page: several charts must not share them.
    svg = re.sub(r'(id="|url\(#|href="#)', rf'\g<1>{name}-', svg)
    svg = svg.replace(_INK, 'currentColor').replace(_PAPER, 'var(--paper)')
    title = f'<title>{html.escape(alt)}</title>'
    return re.sub(r'<svg ([^>]*)>', rf'<svg \1 role="img" class="chart">{title}', svg, count=1)


def _colour(row: Dict[str, Any]) -> str:
    if row['ranges'] == 'floor':
        return SERIES[5]
    return SERIES[1] if row['unusable'] else SERIES[2] if row['planned'] else SERIES[0]
