"""Puts what `benchmarks.bench_export` measured into the tables of docs/export.md.

    python -m benchmarks.bench_export --only=light --json=light.json
    python -m benchmarks.bench_export --only=full --json=full.json
    python -m benchmarks.export_tables light.json full.json [--page=docs/export.md]

Only what lies between the marks of a table is replaced.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import sys
from typing import Any, Dict, Iterable, List, Optional, Sequence

FORMATS = ('model', 'values', 'precision', 'format', 'MB', 'largest difference', 'PSNR, dB', 'floor, dB', 's')
HALVES = ('ONNX', 'planned', 'unplanned', 'floor')


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Rewrites the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('reports', nargs='+', type=pathlib.Path, help='JSON files of bench_export')
    parser.add_argument('--page', type=pathlib.Path, default=pathlib.Path('docs/export.md'))
    options = parser.parse_args(arguments)
    reports = [json.loads(path.read_text('utf-8')) for path in options.reports]
    files = [row for report in reports for row in report['table']]
    halves = [row for report in reports for row in report['true_half']]
    page = replaced(options.page.read_text('utf-8'), 'formats', markdown(FORMATS, map(file_row, files)))
    options.page.write_text(replaced(page, 'halves', markdown(HALVES, half_rows(halves))), 'utf-8')
    return 0


def replaced(page: str, mark: str, table: str) -> str:
    """The page with another table between `<!-- MARK -->` and `<!-- /MARK -->`."""
    pattern = f'(<!-- {mark} -->\n).*?(<!-- /{mark} -->)'
    if not re.search(pattern, page, re.DOTALL):
        raise SystemExit(f'the page should have the marks <!-- {mark} --> and <!-- /{mark} -->; put them back')
    return re.sub(pattern, lambda found: f'{found.group(1)}{table}{found.group(2)}', page, flags=re.DOTALL)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, a line each."""
    lines = [f'| {" | ".join(cells)} |\n' for cells in (head, *rows)]
    return ''.join([lines[0], f'|{"---|" * len(head)}\n', *lines[1:]])


def file_row(row: Dict[str, Any]) -> List[str]:
    """One exported file."""
    psnr = 'the same bits' if row['largest_difference'] == 0 else _decibels(row['psnr'])
    floor = '' if row['floor_psnr'] is None else _decibels(row['floor_psnr'])
    return [row['model'], row['values'], row['precision'], f'`{row["format"]}`', f'{row["bytes"] / 1e6:.2f}',
            f'{row["largest_difference"]:.2g}', psnr, floor, f'{row["seconds"]:.2f}']  # fmt: skip


def half_rows(rows: List[Dict[str, Any]]) -> Iterable[List[str]]:
    """Planned and unplanned side by side; empty where one was not measured."""
    for file in dict.fromkeys(row['file'] for row in rows):
        cells = {row['planned']: _decibels(row['psnr']) for row in rows if row['file'] == file}
        floor = next((row.get('floor_psnr') for row in rows if row['file'] == file), None)
        yield [file, cells.get(True, ''), cells.get(False, ''), '' if floor is None else _decibels(floor)]


def _decibels(value: Optional[float]) -> str:
    """JSON has no NaN: null stands for it."""
    return 'NaN' if value is None else f'{value:.1f}'


if __name__ == '__main__':
    sys.exit(main())
