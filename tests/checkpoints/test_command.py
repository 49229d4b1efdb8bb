"""`python -m ugatit.checkpoints`: readable for people, JSON for programs, one sentence for mistakes."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any
from unittest import mock

import numpy as np

from tests.checkpoints.conftest import FOLDER, Tensors, write
from ugatit.checkpoints import CheckpointReader
from ugatit.checkpoints.__main__ import main


def test_what_people_read(light: pathlib.Path, capsys: Any) -> None:
    assert main([str(light.parent)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(light)
    for expected in ('variant light', 'step 5', 'found the only one', 'smoothing = True (folder name)', 'sidecar none'):
        assert any(expected in ' '.join(line.split()) for line in lines), expected
    (row,) = [' '.join(line.split()) for line in lines if 'optimiser slots' in line]
    assert row.startswith('optimiser slots 464 tensors')


def test_what_programs_read(light: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert main([str(light), f'--json={tmp_path / "out.json"}']) == 0
    found = json.loads((tmp_path / 'out.json').read_text())
    assert (found['variant'], found['step'], found['architecture']['ch']) == ('light', 5, 2)
    assert found['groups']['counters'] == {'tensors': 4, 'values': 4, 'bytes': 16}
    assert found['networks']['generator_B']['tensors'] == 92
    total = sum(group['bytes'] for group in found['groups'].values())
    assert total == (light.parent / f'{light.name}.data-00000-of-00001').stat().st_size


def test_slim(light: pathlib.Path, tmp_path: pathlib.Path, capsys: Any) -> None:
    assert main([str(light), f'--slim={tmp_path / "slim"}', '--direction=b2a']) == 0
    assert f'written    {tmp_path / "slim" / light.name}' in capsys.readouterr().out
    assert CheckpointReader(tmp_path / 'slim').groups()['generators'][0].startswith('generator_A/')


def test_check_finite(tmp_path: pathlib.Path, light_values: Tensors, capsys: Any) -> None:
    name = 'generator_A/conv/conv2d/bias'
    prefix = write(tmp_path / FOLDER, {**light_values, name: np.float32([np.nan, 1])})
    assert main([str(prefix), '--check_finite']) == 3
    assert f'NaN or inf {name}' in capsys.readouterr().out
    assert main([str(write(tmp_path / 'good', light_values)), '--check_finite']) == 0
    assert 'in no tensor' in capsys.readouterr().out


def test_mistakes(tmp_path: pathlib.Path, capsys: Any) -> None:
    assert main([str(tmp_path / 'missing')]) == 2
    error = capsys.readouterr().err
    assert error.startswith('error: no checkpoint') and error.count('\n') == 1
    assert main(['--direction=c', str(tmp_path)]) == 2
    assert capsys.readouterr().err == 'error: --direction=c: expected a2b, b2a or both.\n'
    assert main([]) == 2
    assert 'expected one checkpoint, but nothing arrived' in capsys.readouterr().err


def test_the_report_never_replaces_the_checkpoint(light: pathlib.Path, capsys: Any) -> None:
    index = light.parent / f'{light.name}.index'
    before = index.read_bytes()
    for name in (index, light.parent / f'{light.name}.json'):
        assert main([str(light), f'--json={name}']) == 2
        assert 'lies in the folder of a checkpoint' in capsys.readouterr().err
    assert index.read_bytes() == before


def test_an_interruption_and_a_refusing_system_are_sentences(light: pathlib.Path, capsys: Any) -> None:
    for error, code in ((KeyboardInterrupt(), 130), (PermissionError(13, 'Permission denied', 'x'), 2)):
        with mock.patch('ugatit.checkpoints.describe.describe', side_effect=error):
            assert main([str(light)]) == code
        assert capsys.readouterr().err.count('\n') == 1


def test_as_a_command(light: pathlib.Path, tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    command = [sys.executable, '-m', 'ugatit.checkpoints', str(light)]
    environment = {name: value for name, value in os.environ.items() if name != 'TF_CPP_MIN_LOG_LEVEL'}
    result = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)
    assert result.returncode == 0 and 'variant    light' in result.stdout
    assert result.stderr == ''
    (tmp_path / FOLDER / f'{light.name}.index').write_bytes(b'nonsense')
    result = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)
    assert result.returncode == 2 and 'Traceback' not in result.stderr


def test_help_is_quick(repository: pathlib.Path) -> None:
    """No TensorFlow for a help text or a misspelt flag."""
    program = 'import sys, ugatit.checkpoints, ugatit.checkpoints.__main__; sys.exit("tensorflow" in sys.modules)'
    subprocess.run([sys.executable, '-c', program], cwd=repository, check=True)
