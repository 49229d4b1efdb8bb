"""Scores of known differences, of equal results and of broken ones; rows as CSV."""

from __future__ import annotations

import csv
import io
import math

import numpy as np

from tests import tolerances
from ugatit.ablation.scores import UNUSABLE_DB, difference, score
from ugatit.ablation.table import best, csv_text, decibels
from ugatit.ablation.thumbnails import difference_map

REFERENCE = np.random.RandomState(0).uniform(-0.9, 0.9, (3, 16, 16, 3)).astype(np.float32)


def test_equal_results() -> None:
    found = score(REFERENCE, REFERENCE)
    assert found.same_bits and math.isinf(found.psnr_db) and found.ssim == 1.0
    assert (found.max_error_8bit, found.changed, found.broken, found.unusable) == (0.0, 0.0, 0, False)


def test_a_picture_with_one_broken_value_is_broken() -> None:
    results = REFERENCE.copy()
    results[1, 3, 4, 0] = np.inf
    found = score(results, REFERENCE)
    assert found.broken == 1 and found.unusable and math.isnan(found.ssim) and math.isnan(found.max_error_8bit)
    assert math.isinf(found.psnr_each[0]) and not found.same_bits


def test_visibly_changed() -> None:
    """One of three pictures has three of 256 pixels beyond 8 levels; another only two."""
    results = REFERENCE.copy()
    results[0, 0, :3] += 0.08
    results[1, 0, :2] += 0.08
    results[2] += 0.05
    assert score(results, REFERENCE).changed == 1 / 3


def test_differences_are_of_the_worst_colour() -> None:
    results = REFERENCE.copy()
    results[0, 2, 2, 1] += 10 / 127.5
    levels = difference(results[0], REFERENCE[0])
    assert abs(levels[2, 2] - 10.0) < tolerances.DIFFERENCE_LEVELS and levels.sum() == levels[2, 2]
    results[0, 5, 5, 0] = np.nan
    assert difference(results[0], REFERENCE[0])[5, 5] == 255.0
    shades = difference_map(results[0], REFERENCE[0])
    assert shades[0, 0].tolist() == [0, 0, 4] and shades[5, 5].tolist() == [252, 255, 164]


def _row(name: str, psnr_db: float, **more: object) -> dict:
    unusable = not psnr_db >= UNUSABLE_DB
    return {'variant': name, 'precision': 'float16', 'overflow': 'saturate', 'planned': False, 'psnr_db': psnr_db,
            'ssim': 0.5, 'max_error_8bit': 3.0, 'unusable': unusable, 'ranges': 'none', **more}  # fmt: skip


def test_csv() -> None:
    rows = [_row('a', math.inf, same_bits=True), _row('b', math.nan), {'variant': 'c', 'error': 'no, "really"'}]
    text = csv_text(rows)
    assert text.startswith('variant,precision,overflow,planned,psnr_db,ssim,max_error_8bit,')
    read = list(csv.DictReader(io.StringIO(text)))
    assert [row['psnr_db'] for row in read] == ['inf', 'nan', ''] and read[2]['error'] == 'no, "really"'
    assert read[0]['planned'] == 'no' and read[0]['kid_x100'] == ''
    assert [decibels(row) for row in rows] == ['same bits', 'not finite', '']


def test_the_best_row_is_one_that_a_device_could_run() -> None:
    rows = [_row('floor', 60.0, ranges='floor'), _row('a', 50.0), _row('b', 55.0), _row('c', math.nan),
            _row('f', 90.0, precision='float32'), {'variant': 'd', 'error': 'x'}]  # fmt: skip
    assert best(rows) == 'b'
    assert best([_row('c', math.nan), _row('d', 10.0)]) is None
