"""report.html of the training ablation: means over seeds, KID and curves side by side, pictures; nothing loaded."""

from __future__ import annotations

import html
import pathlib
from typing import Any, Dict, List, Sequence, Tuple

from ugatit.ablation import charts, thumbnails
from ugatit.ablation.frame import cell, chart, header, page, scroller
from ugatit.ablation.inference import read_saved
from ugatit.ablation.training_table import DIRECTIONS, Mean, means, summed, verdict
from ugatit.data.convert import to_uint8

_SMOOTH = 5  # logged steps that a point of a curve is the mean of
_CURVES = (
    ('Cycle loss', ('G_A_cycle', 'G_B_cycle')),
    ('Adversarial loss of the generators', ('G_A_gan', 'G_B_gan')),
    ('Loss of the discriminators', ('Discriminator_loss',)),
)
_WORDS = {'a2b': 'A to B', 'b2a': 'B to A'}
_MARKS = {
    'nearer': '<span class="mark good">&#9650; nearer</span>',
    'farther': '<span class="mark bad">&#9660; farther</span>',
    'not separated': '<span class="mark plain">&#8776; not separated</span>',
}


def report(folder: pathlib.Path, about: Dict[str, Any], results: Sequence[Dict[str, Any]]) -> str:
    """The whole file.

    Args:
        folder: of the ablation; its pictures are embedded in small.
        about: dataset, base, seeds and extractor.
        results: one per run, from `training_run`.
    """
    rows = means(results)
    parts = [_intro(about, results), _table(rows)]
    if any(row.kid for row in rows):
        parts += [
            '<h2>KID side by side</h2>',
            chart(_bars(rows), 'KID x 100 to the real test pictures of the target domain; lower is nearer. Thin lines:'
                  ' the deviation over seeds.'),
            '<h2>Curves</h2><div class="charts">',
            *(_curve(title, columns, results) for title, columns in _CURVES),
            '</div>',
            _grid(folder, results),
        ]  # fmt: skip
    return page('Normalisation and attention, trained', '\n'.join([*parts, _errors(rows)]))


def _intro(about: Dict[str, Any], results: Sequence[Dict[str, Any]]) -> str:
    done = [result for result in results if 'error' not in result]
    baseline = ', '.join(
        f'{_WORDS[d]} {done[0][d]["kid_untranslated"]["x100"]:.1f}' for d in DIRECTIONS if done
    )  # fmt: skip
    subset = ''
    if done:
        kid = done[0]['a2b']['kid']
        subset = (f' KID is the mean over {kid["subsets"]} subsets of {kid["subset_size"]} of {kid["pictures"][0]} and'
                  f' {kid["pictures"][1]} test pictures.')  # fmt: skip
    seeds = ', '.join(map(str, about['seeds']))
    return (
        f'<p>{len(done)} runs of {html.escape(about["base"])} on {html.escape(about["dataset"])}, seeds {seeds}, equal'
        f' seeds with equal pictures in equal order.{subset} No translation at all gives KID x 100 of {baseline}.</p>'
        f'<p class="soft">Features: {html.escape(about["extractor"])}; {html.escape(about["comparable"])}. A row is'
        ' <b>nearer</b> or <b>farther</b> than the reference only where none of its seeds overlaps with any of the'
        " reference's; with so few seeds that is a hint and no proof, and everything else is <b>not separated</b>.</p>"
    )


def _table(rows: Sequence[Mean]) -> str:
    heads = ['run', *(f'KID x 100, {_WORDS[d]}' for d in DIRECTIONS), *(f'against it, {_WORDS[d]}' for d in DIRECTIONS),
             'cycle loss at the end', 'seeds']  # fmt: skip
    head = ''.join(header(name, left=i in (0, 3, 4)) for i, name in enumerate(heads))
    reference = next(row for row in rows if row.reference)
    body = ''.join(_row(row, reference) for row in rows)
    table = f'<table class="sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return '<h2>Mean and deviation over seeds</h2>' + scroller('Means over seeds', table)


def _row(row: Mean, reference: Mean) -> str:
    mark = '<span class="mark plain">&#9673; reference</span>' if row.reference else ''
    first = (f'<th scope="row" data-v="{html.escape(row.name)}">{html.escape(row.name)}{mark}<small>'
             f'{html.escape(row.changes)}</small></th>')  # fmt: skip
    if not row.kid:
        cells = '<td data-v=""></td>' * 5 + cell('<span class="mark bad">&#10007; failed</span>', '')
    else:
        cells = ''.join(cell(_mean(row, row.kid[d]), row.kid[d][0]) for d in DIRECTIONS)
        for d in DIRECTIONS:
            said = verdict(row, reference, d)
            cells += cell('' if row.reference else _MARKS[said], said, left=True)
        cells += cell(_mean(row, row.cycle), row.cycle[0]) + cell(str(len(row.seeds)))
    return f'<tr{" class=pinned" if row.reference else ""}>{first}{cells}</tr>'


def _mean(row: Mean, value: Tuple[float, float]) -> str:
    return f'{value[0]:.2f} ± {value[1]:.2f}' if len(row.seeds) > 1 else f'{value[0]:.2f}'


def _bars(rows: Sequence[Mean]) -> Any:
    done = [row for row in rows if row.kid]
    groups = {_WORDS[d]: [row.kid[d] for row in done] for d in DIRECTIONS}
    return charts.means([row.name for row in done], groups, 'KID x 100')


def _curve(title: str, columns: Sequence[str], results: Sequence[Dict[str, Any]]) -> str:
    """One line per entry, the mean of its seeds."""
    series = []
    done = [result for result in results if 'error' not in result]
    for name in dict.fromkeys(result['name'] for result in done):
        runs = [result['curves'] for result in done if result['name'] == name]
        totals = [summed(run, columns) for run in runs]
        steps = [step for step in totals[0] if all(step in total for total in totals)]
        series.append((name, *_smoothed(steps, [sum(total[step] for total in totals) / len(runs) for step in steps])))
    place = 'curve-' + columns[0].lower().replace('_', '-')
    return chart(
        charts.curves(title, series, 'loss', place), f'{title}, mean over seeds and over {_SMOOTH} steps logged.'
    )


def _smoothed(steps: Sequence[float], values: Sequence[float]) -> tuple:
    starts = range(0, len(values), _SMOOTH)
    parts = [values[start : start + _SMOOTH] for start in starts]
    return [steps[start] for start in starts], [sum(part) / len(part) for part in parts]


def _grid(folder: pathlib.Path, results: Sequence[Dict[str, Any]]) -> str:
    from ugatit.ablation.training_run import SHOWN

    places = [f'{d}_{number}' for d in DIRECTIONS for number in range(SHOWN)]
    head = ''.join(f'<th scope="col" class="l">{_WORDS[place[:3]]}</th>' for place in places)
    names = [('input', 'input')] + [
        (f'{result["name"]}-seed{result["seed"]}', f'{result["name"]}, seed {result["seed"]}')
        for result in results
        if 'error' not in result
    ]
    lines: List[str] = []
    for key, label in names:
        cells = ''.join(f'<td>{_picture(folder, key, place, label)}</td>' for place in places)
        lines.append(f'<tr><th scope="row">{html.escape(label)}</th>{cells}</tr>')
    table = f'<table class="grid"><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return f'<h2>Pictures</h2>{scroller("Test pictures, translated by every run", table)}'


def _picture(folder: pathlib.Path, key: str, place: str, label: str) -> str:
    found = read_saved(folder, key, place)
    if found is None:
        return ''
    alt = f'test picture {place[4:]}, {_WORDS[place[:3]]}, {label}'
    return thumbnails.figure(to_uint8(found), alt)


def _errors(rows: Sequence[Mean]) -> str:
    failed = [f'<li><b>{html.escape(row.name)}</b>: {html.escape(error)}</li>' for row in rows for error in row.errors]
    return f'<h2>Failed</h2><ul>{"".join(failed)}</ul>' if failed else ''
