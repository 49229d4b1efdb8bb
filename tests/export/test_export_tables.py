"""Tables of docs/export.md out of what the benchmark wrote."""

from __future__ import annotations

import json
import pathlib

import pytest

from benchmarks import export_tables

ROW = {'model': 'light', 'values': 'overflow', 'precision': 'float16', 'format': 'onnx', 'bytes': 1_756_000,
       'largest_difference': 0.0123, 'psnr': 60.24, 'seconds': 0.251, 'floor_psnr': 56.31}  # fmt: skip
HALF = {'file': 'float16, prescaled', 'planned': True, 'psnr': 55.06, 'floor_psnr': 55.1}


def test_only_what_is_between_the_marks(tmp_path: pathlib.Path) -> None:
    page = tmp_path / 'page.md'
    page.write_text(
        'before\n<!-- halves -->\nold\n<!-- /halves -->\nbetween\n<!-- formats -->\n<!-- /formats -->\nafter'
    )
    same = {**ROW, 'largest_difference': 0.0, 'psnr': None, 'floor_psnr': None}
    first, second = tmp_path / 'light.json', tmp_path / 'full.json'
    first.write_text(json.dumps({'table': [ROW], 'true_half': [HALF, {**HALF, 'planned': False, 'psnr': None}]}))
    second.write_text(json.dumps({'table': [same], 'true_half': []}))
    assert export_tables.main([str(first), str(second), f'--page={page}']) == 0
    assert page.read_text() == (
        'before\n<!-- halves -->\n'
        '| ONNX | planned | unplanned | floor |\n'
        '|---|---|---|---|\n'
        '| float16, prescaled | 55.1 | NaN | 55.1 |\n'
        '<!-- /halves -->\nbetween\n<!-- formats -->\n'
        '| model | values | precision | format | MB | largest difference | PSNR, dB | floor, dB | s |\n'
        '|---|---|---|---|---|---|---|---|---|\n'
        '| light | overflow | float16 | `onnx` | 1.76 | 0.012 | 60.2 | 56.3 | 0.25 |\n'
        '| light | overflow | float16 | `onnx` | 1.76 | 0 | the same bits |  | 0.25 |\n'
        '<!-- /formats -->\nafter'
    )


def test_a_page_without_marks() -> None:
    with pytest.raises(SystemExit, match='<!-- formats -->'):
        export_tables.replaced('nothing', 'formats', '')


def test_the_page_has_them(repository: pathlib.Path) -> None:
    page = (repository / 'docs' / 'export.md').read_text('utf-8')
    for mark in ('formats', 'halves'):
        assert export_tables.replaced(page, mark, 'x\n') != page
