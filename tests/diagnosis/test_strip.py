"""`diagnose.py strip`: float32, float16 as it is and float16 with a plan, side by side."""

from __future__ import annotations

import json
import math
import pathlib
from typing import List

import numpy as np
import pytest

import diagnose
from tests import tolerances
from ugatit.cli.main import run_command
from ugatit.cli.output_files import check_output_file
from ugatit.data.decode import decode_file
from ugatit.diagnosis.strip import Column, draw_strip, strip_columns
from ugatit.errors import UserError


def _run(*words: object) -> int:
    return run_command('diagnose.py', 'Test.', diagnose.COMMANDS, [str(word) for word in words])


def test_a_plan_cures_what_overflows(broken: pathlib.Path, images: np.ndarray) -> None:
    exact, plain, planned = strip_columns(broken, 'a2b', images)
    assert exact.psnr == math.inf and exact.label() == 'the same bits'
    assert plain.psnr < tolerances.WRONG_PICTURE_DECIBELS < tolerances.RIGHT_PICTURE_DECIBELS < planned.psnr
    assert [column.title for column in (plain, planned)] == ['mixed_float16, as it is', 'mixed_float16, planned']


def test_float32_is_what_others_are_compared_with(checkpoint: pathlib.Path, images: np.ndarray) -> None:
    with pytest.raises(UserError, match='another than float32'):
        strip_columns(checkpoint, 'a2b', images, 'float32')


def test_every_picture_is_shown_even_one_that_is_none() -> None:
    inputs = np.full([2, 8, 8, 3], -1.0, np.float32)
    columns = [Column('float32', inputs + 2.0, math.inf), Column('x, as it is', inputs * np.nan, math.nan)]
    sheet = draw_strip(inputs, columns)
    assert columns[1].label() == 'NaN or infinity'
    assert sheet.shape[1] == 3 * 128 + 2 * 4 and sheet.shape[0] > 2 * 128
    below = sheet[-128:]
    assert below[:, :128].max() == 0 and below[:, 132:260].min() == 255 and below[:, 264:].max() == 0
    assert sheet[:40].min() < 50  # the text


def test_the_command(broken: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path, capsys) -> None:
    output, report = tmp_path / 'strip.png', tmp_path / 'strip.json'
    words = [f'--checkpoint={broken}', f'--input={pictures}', f'--output={output}', f'--json={report}', '--pictures=1']
    assert _run('strip', *words) == 0
    assert 'mixed_float16, planned: ' in capsys.readouterr().out
    figures = json.loads(report.read_text())
    assert figures['psnr']['mixed_float16, planned'] > tolerances.RIGHT_PICTURE_DECIBELS
    assert len(figures['pictures']) == 1 and decode_file(output).pixels.shape[1] == 4 * 128 + 3 * 4
    check_output_file('output', str(output), 'png')  # its own picture may be replaced


@pytest.mark.slow
def test_without_a_checkpoint_the_demo_model_is_made_to_overflow(tmp_path: pathlib.Path) -> None:
    report = tmp_path / 'strip.json'
    assert _run('strip', f'--output={tmp_path / "strip.png"}', f'--json={report}', '--pictures=2') == 0
    psnr = json.loads(report.read_text())['psnr']
    assert psnr['mixed_float16, as it is'] < tolerances.WRONG_PICTURE_DECIBELS
    assert psnr['mixed_float16, planned'] > tolerances.RIGHT_PICTURE_DECIBELS


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ([], '--output is needed'),
        (['--output=OUT', '--checkpoint=CHECKPOINT'], '--input is needed'),
        (['--output=MINE'], 'exists already and is not a picture of ours'),
        (['--output=OUT', '--precision=float32'], 'mixed_float16, float16'),
        (['--output=OUT', '--input=nowhere'], 'nowhere'),
        (['--output=OUT', '--checkpoint=nowhere', '--input=PICTURES'], 'nowhere'),
        (['--output=OUT', '--pictures=0'], 'from 1 to 64'),
    ],
)
def test_mistakes(words: List[str], said: str, checkpoint, pictures, tmp_path: pathlib.Path, capsys) -> None:
    mine, out = tmp_path / 'mine.png', tmp_path / 'out.png'
    mine.write_bytes(b'\x89PNG mine')
    places = {'OUT': out, 'MINE': mine, 'CHECKPOINT': checkpoint, 'PICTURES': pictures}
    for name, place in places.items():
        words = [word.replace(name, str(place)) for word in words]
    assert _run('strip', *words) == 2
    assert said in capsys.readouterr().err
    assert not out.exists() and mine.read_bytes() == b'\x89PNG mine'
