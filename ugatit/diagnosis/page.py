"""The range report as one HTML file: nothing is loaded, no script; light, dark and print."""

from __future__ import annotations

import html
from typing import Iterable, List, Sequence

from ugatit.data.reports import HTML_MARK
from ugatit.diagnosis.plot import COLOURS, DARK_COLOURS, LEFT, STYLE, plot
from ugatit.diagnosis.report import RangeReport, Row
from ugatit.diagnosis.table import HEADER, count, firsts, number, plan_text, row_cells
from ugatit.ranges.kinds import SQUARE

_STYLE = f"""
:root{{color-scheme:light dark;--paper:#fff;--ink:#1c2430;--soft:#5b6675;--line:#d5dbe3;--band:#f1f4f8;--good:#0b7a66;
{COLOURS}}}
@media (prefers-color-scheme:dark){{:root{{--paper:#12161c;--ink:#e7ebf1;--soft:#a3aebd;--line:#343c48;--band:#1d232c;
--good:#35c2a4;{DARK_COLOURS}}}}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}}
main{{max-width:1460px;margin:0 auto;padding:1rem}}
h1{{font-size:1.5rem;margin:.5rem 0}}
h2{{font-size:1.2rem;margin:2rem 0 .5rem;border-top:1px solid var(--line);padding-top:1rem}}
h3{{font-size:1rem;margin:1.4rem 0 .3rem}}
p{{max-width:90ch}}dl{{margin:0}}dt{{font-weight:600;margin-top:.4rem}}dd{{margin:0}}
ul{{margin:.1rem 0;padding-left:1.2rem}}li{{overflow-wrap:anywhere}}
.soft{{color:var(--soft)}}.bad{{color:var(--bad);font-weight:600}}.good{{color:var(--good);font-weight:600}}
.wide{{overflow-x:auto;border:1px solid var(--line);border-radius:6px;width:fit-content;max-width:100%}}
.plot{{display:flex;width:fit-content}}.plot svg{{flex:none;display:block}}
.plot .scale{{position:sticky;left:0;background:var(--paper)}}.scale text{{transform:translateX({LEFT}px)}}
.key{{display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.5rem 0;list-style:none;font-size:.875rem}}
.key i{{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em;print-color-adjust:exact}}
table{{border-collapse:collapse;font-size:.8125rem;font-variant-numeric:tabular-nums}}
th,td{{padding:.2rem .55rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}}
th{{color:var(--soft);font-weight:600}}td.l,th.l{{text-align:left}}
summary{{cursor:pointer;padding:.4rem 0}}
@media (max-width:700px){{body{{font-size:15px}}main{{padding:.7rem}}}}
.narrow{{display:none}}@media (max-width:1200px){{.narrow{{display:list-item}}}}
@media print{{main{{max-width:none;padding:0}}.wide{{overflow:visible;border:0}}.plot{{zoom:.55}}
table{{font-size:6pt}}th,td{{padding:.05rem .2rem}}.screen,.narrow{{display:none}}tr,svg{{break-inside:avoid}}}}
"""
_KEY = (
    ('var(--r)', 'convolution or dense result'),
    ('var(--v)', 'norm, activation, sum'),
    ('var(--w)', 'weight'),
    ('var(--q)', 'squared difference'),
    ('var(--bad)', 'over 65504'),
)
_LEFT_COLUMNS = (0, 1, 9)


def page(reports: Sequence[RangeReport], top: int = 40) -> str:
    """The whole file; `top` rows of each table stand open, all of them one click away."""
    body = ''.join(_section(report, top) for report in reports)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'{HTML_MARK}'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Ranges against float16</title>'
        f'<style>{_STYLE}{STYLE}</style></head><body><main><h1>Ranges against float16</h1>'
        '<p class="soft">float16 ends at 65504, has 11 significant bits down to 2<sup>-14</sup>, loses them one by one'
        ' from there to 2<sup>-24</sup>, and knows nothing smaller. A plan stores each group of tensors times a power'
        f' of two, so that all of them fit; the network computes the same.</p>{body}</main></body></html>\n'
    )


def key() -> str:
    """The legend of the plot."""
    items = ''.join(f'<li><i style="background:{colour}"></i>{text}</li>' for colour, text in _KEY)
    return f'<ul class="key">{items}<li class="narrow soft">scroll sideways</li></ul>'


def _section(report: RangeReport, top: int) -> str:
    rows = report.worst_first()
    return ''.join([
        f'<h2>{report.direction}: {report.network}</h2>',
        _verdict(report),
        f'{key()}<div class="wide">{plot(report)}</div>',
        '<p class="soft">One bar per tensor in order of execution, from its root mean square to its largest absolute'
        ' value, on a scale of powers of two. Point at a bar for its name and numbers.</p>',
        _firsts(report),
        _plan(report),
        f'<h3>The largest tensors</h3>{_table(rows[:top])}',
        f'<details class="screen"><summary>All {len(rows)} tensors</summary>{_table(rows)}</details>',
    ])  # fmt: skip


def _verdict(report: RangeReport) -> str:
    over = sum(row.range.overflows and row.range.kind != SQUARE for row in report.rows)
    left = len(report.unfitted())
    before = f'<span class="bad">{count(over, "tensor")} over 65504</span>' if over else 'Nothing over 65504'
    after = f'<span class="bad">{left} still over it</span>' if left else '<span class="good">none</span>'
    size = f'{report.image_size}×{report.image_size}'
    where = f'Squared differences left out; {count(report.profile.pictures, "picture")} of {size}, measured in float32.'
    return f'<p>{before} as the checkpoint is, {after} with the plan. <span class="soft">{where}</span></p>'


def _firsts(report: RangeReport) -> str:
    found = ''.join(f'<dt>{heading}</dt><dd><ul>{_items(lines)}</ul></dd>' for heading, lines in firsts(report))
    return f'<h3>Where it first overflows</h3><dl>{found}</dl>'


def _plan(report: RangeReport) -> str:
    lines = plan_text(report).splitlines()
    if not report.exponents:
        return f'<h3>Plan</h3><ul>{_items(lines)}</ul>'
    rows = ''.join(
        f'<tr><td class="l">{html.escape(group)}</td><td>{e}</td><td>{number(before)}</td><td>{number(after)}</td></tr>'
        for group, e, before, after in _groups(report)
    )
    head = '<tr><th class="l">group</th><th>exponent</th><th>amax before</th><th>amax after</th></tr>'
    return f'<h3>Plan</h3><ul>{_items(lines[1:])}</ul><div class="wide"><table>{head}{rows}</table></div>'


def _groups(report: RangeReport) -> Iterable[tuple]:
    for group, exponent in report.exponents.items():
        rows = [row for row in report.rows if row.group == group and row.range.kind != SQUARE]
        rows = [row for row in rows if row.shift == -exponent]
        largest = max(rows, key=lambda row: row.range.amax)
        yield group, exponent, largest.range.amax, largest.amax_after


def _table(rows: Sequence[Row]) -> str:
    head = ''.join(f'<th{_left(i)}>{html.escape(name)}</th>' for i, name in enumerate(HEADER))
    lines: List[str] = []
    for row in rows:
        cells = ''.join(f'<td{_left(i)}>{html.escape(text)}</td>' for i, text in enumerate(row_cells(row)))
        lines.append(f'<tr>{cells}</tr>')
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _left(column: int) -> str:
    return ' class="l"' if column in _LEFT_COLUMNS else ''


def _items(lines: Iterable[str]) -> str:
    return ''.join(f'<li>{html.escape(line)}</li>' for line in lines)
