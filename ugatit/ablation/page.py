"""report.html of the inference ablation: one file, nothing loaded; table, bars, ranges, pictures with differences."""

from __future__ import annotations

import html
import math
import pathlib
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ugatit.ablation import charts, thumbnails
from ugatit.ablation.frame import cell, chart, header, page, scroller
from ugatit.ablation.inference import marked, read_saved
from ugatit.ablation.scores import UNUSABLE_DB, VISIBLE_RULE
from ugatit.ablation.table import best, decibels
from ugatit.data.convert import to_uint8

_MOST_PICTURES = 4  # of the grid
_LINES = 5  # of the range plot
_HEADERS = (
    ('variant', 'what it changes stands below its name'),
    ('PSNR, dB', 'against float32, peak 2, all pictures together'),
    ('SSIM', '1: equal'),
    ('max error', 'largest difference, in levels of 255'),
    ('changed', VISIBLE_RULE),
    ('KID x 100', 'distance to the real target pictures, with its deviation'),
    ('FID', 'distance to the real target pictures'),
    ('over 65504', 'share of the values stored in float16 that do not fit'),
    ('largest', 'largest |value| as stored, squares left out'),
    ('first over 65504', 'first operator in the order of execution whose value does not fit'),
    ('ms', 'per picture on the device that ran this; float16 is emulated on a CPU, so this says nothing of others'),
    ('weights, MB', "the generator's, in the formats of this precision"),
    ('function', 'whether the network computes the same function, rounding apart'),
    ('precision', ''),
    ('overflow', ''),
    ('plan', ''),
)


def report(folder: pathlib.Path, about: Dict[str, Any], rows: Sequence[Dict[str, Any]]) -> str:
    """The whole file from what is on disk.

    Args:
        folder: of the ablation; its images are embedded in small.
        about: from `run.describe`: model, pictures, target, date.
        rows: from `ablate`.
    """
    names = about['pictures'][:_MOST_PICTURES]
    return page(
        'What each workaround costs',
        '\n'.join([
            _intro(about, rows),
            _table(rows, bool(about.get('target'))),
            '<h2>How near to float32</h2>',
            chart(charts.bars(rows, _floors(rows)), 'Hatched: unusable. Lines: the floors, what 11 significant bits'
                  ' cost when range is no problem. Equal bits and results that are not finite have no bar.'),
            '<h2>What values reach along the network</h2>',
            chart(charts.ranges(_range_rows(rows)), 'One line per row: the largest |value| of each tensor, as stored.'
                  ' What passes the line is lost in float16.'),
            _grid(folder, names, rows),
            _errors(rows),
        ]),
    )  # fmt: skip


def _intro(about: Dict[str, Any], rows: Sequence[Dict[str, Any]]) -> str:
    count = len(about['pictures'])
    target = f' KID and FID compare with {html.escape(about["target"])}.' if about.get('target') else ''
    failed = sum('error' in row for row in rows)
    lines = [
        f'<p>{html.escape(about["model"])}. {count} picture{"s" if count != 1 else ""}.{target}</p>',
        '<p class="soft">Every row is compared with the first, the network in float32. A row is <b>unusable</b> below'
        f' {UNUSABLE_DB:g} dB or where values are not finite; <b>best</b> is the nearest to float32 of those that run'
        f' in less; <b>floor</b> rows show what is possible at all. {html.escape(VISIBLE_RULE).capitalize()}.'
        ' Float16 is emulated with rounding at the borders of operations where the device does not compute in it;'
        ' nothing here was measured on an NPU.</p>',
    ]
    if failed:
        lines.append(f'<p class="mark bad">{failed} row{"s" if failed > 1 else ""} failed, see below</p>')
    return ''.join(lines)


def _table(rows: Sequence[Dict[str, Any]], target: bool) -> str:
    shown = [i for i, (name, _) in enumerate(_HEADERS) if target or name not in ('KID x 100', 'FID')]
    head = ''.join(header(_HEADERS[i][0], i == 0 or i in (9, 12, 13, 14, 15), _HEADERS[i][1]) for i in shown)
    winner = best(rows)
    body = ''.join(_row(row, winner, shown) for row in rows)
    table = f'<table class="sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return '<h2>Summary</h2><p class="soft screen">Click a head to sort; the reference stays on top.</p>' + scroller(
        'Summary of all variants', table
    )


def _row(row: Dict[str, Any], winner: Optional[str], shown: Sequence[int]) -> str:
    failed, name = 'error' in row, row['variant']
    marks, kind = _marks(row, winner)
    first = (
        f'<th scope="row" data-v="{html.escape(name)}">{html.escape(name)}{marks}'
        f'<small>{html.escape(row["changes"])}</small></th>'
    )
    cells = [first, *(['<td data-v=""></td>'] * 12 if failed else _numbers(row)), *_settings(row)]
    return f'<tr{f" class={kind}" if kind else ""}>{"".join(cells[i] for i in shown)}</tr>'


def _marks(row: Dict[str, Any], winner: Optional[str]) -> tuple:
    """(badges with a sign and a word, the row's class): colour is never all that tells."""
    if row['reference']:
        return '<span class="mark plain">&#9673; reference</span>', 'pinned'
    if 'error' in row:
        return '<span class="mark bad">&#10007; failed</span>', 'unusable'
    if row['unusable']:
        return '<span class="mark bad">&#10007; unusable</span>', 'unusable'
    if row['variant'] == winner:
        return '<span class="mark good">&#9733; best</span>', 'best'
    return ('<span class="mark plain">floor</span>', '') if row['ranges'] == 'floor' else ('', '')


def _numbers(row: Dict[str, Any]) -> List[str]:
    kid, fid = row.get('kid') or {}, row.get('fid') or {}
    finite = math.isfinite(row['psnr_db'])
    sort = 1e9 if row['same_bits'] else row['psnr_db'] if finite else -1e9
    place = row['first_overflow'] or ''
    inner = place.partition('/')[2]
    return [
        cell(decibels(row), sort),
        cell(_number(row['ssim'], '.4f'), _sortable(row['ssim'])),
        cell(_number(row['max_error_8bit'], '.0f'), _sortable(row['max_error_8bit'])),
        cell(f'{row["changed"]:.0%}', row['changed']),
        cell(f'{kid["x100"]:.3g} ± {kid["x100_deviation"]:.2g}' if kid else '', kid.get('x100', '')),
        cell(f'{fid["value"]:.4g}' if fid else '', fid.get('value', '')),
        cell(f'{row["overflow_share"]:.2%}', row['overflow_share']),
        cell(f'{row["amax"]:,.4g}', row['amax']),
        cell(f'<span title="{html.escape(place)}">{html.escape(inner) or "none"}</span>', inner, left=True),
        cell(f'{row["ms_per_picture"]:.0f}', row['ms_per_picture']),
        cell('' if row['ranges'] == 'floor' else f'{row["weight_bytes"] / 1e6:.2f}', row['weight_bytes']),
        cell('kept' if row['keeps_function'] else 'another', row['keeps_function'], left=True),
    ]


def _settings(row: Dict[str, Any]) -> List[str]:
    return [cell(html.escape(row[key]), row[key], left=True) for key in ('precision', 'overflow', 'ranges')]


def _number(value: float, form: str) -> str:
    return format(value, form) if value is not None and math.isfinite(value) else '–'


def _sortable(value: float) -> object:
    return value if value is not None and math.isfinite(value) else ''


def _floors(rows: Sequence[Dict[str, Any]]) -> Dict[str, float]:
    return {row['precision']: row['psnr_db'] for row in rows if row['ranges'] == 'floor' and 'error' not in row}


def _range_rows(rows: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """The reference and the rows that store or compute other values; several rows with one profile show it once."""
    chosen: List[Dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (not row['reference'], not row['planned'])):
        new = row.get('along') and all(_profile(row) != _profile(other) for other in chosen)
        if new and row['ranges'] not in ('floor', 'drop_in') and len(chosen) < _LINES:
            chosen.append(row)
    return chosen


def _profile(row: Dict[str, Any]) -> Dict[str, str]:
    """Coarse: epsilon's part in the last digits draws no other line."""
    return {name: f'{amax:.1e}' for name, amax in row['along'] if not name.endswith('/input')}


def _grid(folder: pathlib.Path, names: Sequence[str], rows: Sequence[Dict[str, Any]]) -> str:
    reference = next(row['variant'] for row in rows if row['reference'])
    wanted = {name: read_saved(folder, reference, name) for name in names}
    head = ''.join(f'<th scope="col" class="l">{html.escape(name)}</th>' for name in names)
    lines = []
    for row in rows:
        if 'error' not in row:
            cells = ''.join(f'<td>{_pair(folder, row, name, wanted[name])}</td>' for name in names)
            lines.append(f'<tr><th scope="row">{html.escape(row["variant"])}<br><span class="soft">{decibels(row)}'
                         f'</span></th>{cells}</tr>')  # fmt: skip
    table = f'<table class="grid"><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    legend = (
        '<p class="soft">Beside each result is where it differs from float32: black is equal, and'
        f' <span class="scale" role="img" aria-label="black to yellow"></span> is 0 to {thumbnails.FULL_SCALE} of 255'
        ' levels and more. Magenta in a result: no finite value.</p>'
    )
    return f'<h2>Pictures</h2>{legend}{scroller("Results and differences", table)}'


def _pair(folder: pathlib.Path, row: Dict[str, Any], name: str, wanted: Optional[np.ndarray]) -> str:
    found = read_saved(folder, row['variant'], name)
    if found is None or wanted is None:
        return ''
    label = f'{name} by {row["variant"]}'
    parts = [thumbnails.figure(to_uint8(found), label)]
    if not row['reference']:
        words = f'difference of {label} from float32, {decibels(row)} over all pictures'
        shades = thumbnails.difference_map(marked(found) if row['broken'] else found, wanted)
        parts.append(thumbnails.figure(shades, words))
    return f'<div class="pair">{"".join(parts)}</div>'


def _errors(rows: Sequence[Dict[str, Any]]) -> str:
    failed = [row for row in rows if 'error' in row]
    if not failed:
        return ''
    items = ''.join(f'<li><b>{html.escape(row["variant"])}</b>: {html.escape(row["error"])}</li>' for row in failed)
    return f'<h2>Failed</h2><ul>{items}</ul>'
