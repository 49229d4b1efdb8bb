"""A comparison as one HTML file: the verdict, the divergence along the network, the sheet. Nothing is loaded."""

from __future__ import annotations

import html
from typing import Collection, List, Optional, Sequence

from ugatit.data.reports import HTML_MARK
from ugatit.dumps.compare import Comparison
from ugatit.dumps.curve import STYLE, curve
from ugatit.dumps.table import HEADER, Row, cells
from ugatit.dumps.verdict import DEFAULT_LIMITS

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1c2430;--soft:#5b6675;--line:#d5dbe3;--band:#f1f4f8;--good:#0b7a66;
--bad:#c81e2d;--badback:#fdeced;--goodback:#e6f5f1;--accent:#1d5fd1}
@media (prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e7ebf1;--soft:#a3aebd;--line:#343c48;--band:#1d232c;
--good:#35c2a4;--bad:#ff7a84;--badback:#3a1c20;--goodback:#10302a;--accent:#7db1ff}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1460px;margin:0 auto;padding:1rem}h1{font-size:1.5rem;margin:.5rem 0}
h2{font-size:1.15rem;margin:1.8rem 0 .5rem;border-top:1px solid var(--line);padding-top:1rem}p{max-width:95ch}
.verdict{border-left:4px solid var(--bad);background:var(--badback);padding:.7rem .9rem;border-radius:4px;
overflow-wrap:anywhere;font-weight:600;max-width:none}
.verdict.fine{border-color:var(--good);background:var(--goodback)}
.soft{color:var(--soft)}.bad{color:var(--bad);font-weight:600}li,dd{overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:0}dt{color:var(--soft)}dd{margin:0}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:6px;width:fit-content;max-width:100%}
.plot{display:flex;width:fit-content}.scale{position:sticky;left:0;background:var(--paper)}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.5rem 0;list-style:none;font-size:.875rem}
.key i{display:inline-block;width:.7em;height:.7em;border-radius:50%;margin-right:.4em}
table{border-collapse:collapse;font-size:.78rem;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .42rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}td.l,th.l{text-align:left}tr.yes td{color:var(--bad)}
summary{cursor:pointer;padding:.4rem 0}
.narrow,.phone{display:none}@media (max-width:1280px){.narrow{display:list-item}}
@media (max-width:700px){.phone{display:block}.desktop,.narrow{display:none}
body{font-size:15px}main{padding:.7rem}dl{grid-template-columns:1fr;gap:0}
dd{margin-bottom:.5rem}
.short td.l:nth-child(2){white-space:normal;overflow-wrap:anywhere;min-width:10.5rem}}
@media print{.wide{overflow:visible;border:0}table{font-size:6pt}details,.narrow,.phone{display:none}}
"""
_PHONE = 288  # px of the curve where the whole must fit a phone
_SHORT = ('place', 'operator', 'type', 'stored', 'cosine', 'distance', 'max error', 'left max', 'right max', 'at 65504')
_NEAR = 6  # rows shown before and after the first bad one
_LEFT_COLUMNS = {2, 3, 4, 6, 7, 8, 9, 10, 21}


def page(comparison: Comparison, bad_distance: float = DEFAULT_LIMITS.relative_above) -> str:
    """The whole file."""
    rows = comparison.compared
    body = [_verdict(comparison), _facts(comparison)]
    if rows:
        body += [_curve(comparison, rows, bad_distance), _near(comparison, rows), _worst(rows)]
    body += [_alone(comparison), _sheet(comparison)]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'{HTML_MARK}'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Two dumps compared</title>'
        f'<style>{_STYLE}{STYLE}</style></head><body><main><h1>Two dumps compared</h1>{"".join(body)}</main></body>'
        '</html>\n'
    )


def first_bad(comparison: Comparison, rows: Sequence[Row]) -> int:
    """Place of the verdict's operator among the compared rows; -1 where nothing is bad."""
    name = comparison.verdict.operator
    return next((i for i, row in enumerate(rows) if row.left == name), -1)


def _verdict(comparison: Comparison) -> str:
    verdict = comparison.verdict
    fine = ' fine' if verdict.cause == 'none' else ''
    states = ''.join(
        f'<li>{html.escape(state.title)}: distance {state.metrics.relative_euclidean:.2g},'
        f' cosine {state.metrics.cosine:.6f}; the right side reaches {state.metrics.right_amax:.6g}</li>'
        for state in verdict.inputs
    )
    sentence = verdict.sentence[:1].upper() + verdict.sentence[1:]
    return f'<p class="verdict{fine}">{html.escape(sentence)}</p>{f"<ul>{states}</ul>" if states else ""}'


def _facts(comparison: Comparison) -> str:
    matching, rows = comparison.matching, comparison.compared
    over = sum(row.overflow == 'YES' for row in rows)
    facts = [(side, f'{graph.model}, {graph.kind()}') for side, graph in
             (('left', matching.left), ('right', matching.right))]  # fmt: skip
    facts.append(('compared', f'{len(rows)} outputs, {over} of them with float16 values at 65504'))
    facts.append(('alone', f'{len(matching.left_alone)} operators on the left, {len(matching.right_alone)} right'))
    return '<dl>' + ''.join(f'<dt>{k}</dt><dd>{html.escape(v)}</dd>' for k, v in facts) + '</dl>'


def _curve(comparison: Comparison, rows: Sequence[Row], limit: float) -> str:
    key = (('var(--accent)', 'relative Euclidean distance of an output'), ('var(--bad)', 'float16 values at 65504'))
    items = ''.join(f'<li><i style="background:{colour}"></i>{text}</li>' for colour, text in key)
    return (
        f'<h2>Along the network</h2><ul class="key">{items}<li class="narrow soft">scroll sideways</li></ul>'
        f'<div class="wide desktop">{curve(rows, limit, first_bad(comparison, rows))}</div>'
        f'<div class="wide phone">{curve(rows, limit, first_bad(comparison, rows), _PHONE)}</div>'
        '<p class="soft">Outputs in topological order; the dashed line is where an output counts as bad. Point at the'
        ' curve for a name and its numbers.</p>'
    )


def _near(comparison: Comparison, rows: Sequence[Row]) -> str:
    first = first_bad(comparison, rows)
    if first < 0:
        return ''
    near = rows[max(0, first - _NEAR) : first + _NEAR + 1]
    return f'<h2>Around the first bad output</h2>{_short(near, rows[first])}'


def _worst(rows: Sequence[Row]) -> str:
    def badness(row: Row) -> float:
        value = row.metrics.relative_euclidean
        return float('inf') if value != value else value

    return f'<h2>The worst outputs</h2>{_short(sorted(rows, key=badness, reverse=True)[:20])}'


def _short(rows: Sequence[Row], marked: Optional[Row] = None) -> str:
    head = ''.join(f'<th{_left(i in (1, 2, 3))}>{name}</th>' for i, name in enumerate(_SHORT))
    lines: List[str] = []
    for row in rows:
        m = row.metrics
        share = f'{100 * m.left_saturated:.2g} %' if row.left_type == 'float16' else ''
        texts = (row.sequence, row.left, row.op_type, row.left_type, f'{m.cosine:.6f}', f'{m.relative_euclidean:.2g}',
                 f'{m.max_absolute:.4g}', f'{m.left_amax:.6g}', f'{m.right_amax:.6g}', share)  # fmt: skip
        tag = ' class="yes"' if row is marked or (marked is None and row.overflow == 'YES') else ''
        lines.append(f'<tr{tag}>{_cells(texts, (1, 2, 3))}</tr>')
    return f'<div class="wide short"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _alone(comparison: Comparison) -> str:
    parts = []
    for side, alone in (('left', comparison.matching.left_alone), ('right', comparison.matching.right_alone)):
        if alone:
            items = ''.join(f'<li>{html.escape(f"{a.name} {a.type}".strip())}: {html.escape(a.reason)}</li>'
                            for a in alone)  # fmt: skip
            parts.append(f'<details><summary>{len(alone)} operators only on the {side}</summary><ul>{items}</ul>'
                         '</details>')  # fmt: skip
    failures = ''.join(f'<li>{html.escape(text)}</li>' for text in comparison.failures)
    if failures:
        parts.append(f'<p class="bad">Files that could not be read:</p><ul>{failures}</ul>')
    return f'<h2>Without a counterpart</h2>{"".join(parts)}' if parts else ''


def _sheet(comparison: Comparison) -> str:
    head = ''.join(f'<th{_left(i in _LEFT_COLUMNS)}>{name}</th>' for i, name in enumerate(HEADER))
    lines = [
        f'<tr{" class=yes" if row.overflow == "YES" else ""}>{_cells(cells(i, row), _LEFT_COLUMNS)}</tr>'
        for i, row in enumerate(comparison.rows)
    ]
    return (
        f"<h2>The sheet</h2><details><summary>All {len(lines)} rows, with the analyser's columns</summary>"
        f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div></details>'
    )


def _cells(texts: Sequence[object], left: Collection[int]) -> str:
    return ''.join(f'<td{_left(i in left)}>{html.escape(str(text))}</td>' for i, text in enumerate(texts))


def _left(yes: bool) -> str:
    return ' class="l"' if yes else ''
