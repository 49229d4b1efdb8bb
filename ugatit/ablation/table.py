"""Rows as table.csv, and as text for a terminal and the report: one way to write each number."""

from __future__ import annotations

import csv
import io
import math
from typing import Any, Dict, Optional, Sequence

COLUMNS = (
    'variant',
    'precision',
    'overflow',
    'planned',
    'psnr_db',
    'ssim',
    'max_error_8bit',
    'changed',
    'kid_x100',
    'kid_x100_deviation',
    'fid',
    'overflow_share',
    'first_overflow',
    'amax',
    'ms_per_picture',
    'weight_bytes',
    'keeps_function',
    'unusable',
    'variants',
    'ranges',
    'error',
)


def csv_text(rows: Sequence[Dict[str, Any]]) -> str:
    """One line per row; 'inf' where results are the same bits, 'nan' where they are not finite, empty: not measured."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator='\n')
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_plain(_value(row, column)) for column in COLUMNS])
    return buffer.getvalue()


def decibels(row: Dict[str, Any]) -> str:
    """'same bits', '58.3' or 'not finite'."""
    if row.get('same_bits'):
        return 'same bits'
    value = row.get('psnr_db')
    return '' if value is None else f'{value:.1f}' if math.isfinite(value) else 'not finite'


def line(row: Dict[str, Any]) -> str:
    """One line for a terminal."""
    if 'error' in row:
        return f'{row["variant"]}: failed: {row["error"]}'
    where = f', first over 65504: {row["first_overflow"]}' if row.get('first_overflow') else ''
    unusable = ' UNUSABLE' if row['unusable'] else ''
    unit = '' if row.get('same_bits') or not math.isfinite(row['psnr_db']) else ' dB'
    return f'{row["variant"]}: {decibels(row)}{unit}{unusable}{where}'


def best(rows: Sequence[Dict[str, Any]]) -> Optional[str]:
    """The row nearest to the reference that a device could run; None where all are unusable."""
    runs = [
        row
        for row in rows
        if not row.get('reference') and row.get('ranges') != 'floor' and not row.get('unusable', True)
        and row['precision'] != 'float32'
    ]  # fmt: skip
    return max(runs, key=lambda row: row['psnr_db'])['variant'] if runs else None


def _value(row: Dict[str, Any], column: str) -> Any:
    kid: Dict[str, Any] = row.get('kid') or {}
    special: Dict[str, Any] = {
        'kid_x100': kid.get('x100'),
        'kid_x100_deviation': kid.get('x100_deviation'),
        'fid': (row.get('fid') or {}).get('value'),
    }
    return special[column] if column in special else row.get(column)


def _plain(value: Any) -> Any:
    if value is None:
        return ''
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    return f'{value:.6g}' if isinstance(value, float) else value
