"""`diagnose.py dump`, `compare` and `overflow` as typed."""

from __future__ import annotations

import csv
import errno
import json
import os
import pathlib
import subprocess
import sys
from typing import List

import numpy as np
import pytest

from tests.conftest import REPOSITORY
from tests.diagnosis import tiny
from ugatit.cli.commands import compare, dump, overflow
from ugatit.cli.main import run
from ugatit.dumps.whole import whole_folder
from ugatit.errors import UserError
from ugatit.ranges import RangePlan


def _compare(*words: object) -> int:
    return run(compare.main, compare.FLAGS, [str(word) for word in words], needs_tensorflow=False)


@pytest.fixture(scope='module')
def pictures(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tiny.write_pictures(tmp_path_factory.mktemp('pictures'))


def _dump(checkpoint: pathlib.Path, pictures: pathlib.Path, output: pathlib.Path, *words: str) -> int:
    flags = [f'--checkpoint={checkpoint}', f'--input={pictures}', f'--output={output}', *words]
    return run(dump.main, dump.FLAGS, flags)


def test_from_two_dumps_to_the_cause(
    overflowing: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    left, right, policy = tmp_path / 'npu', tmp_path / 'f32', ('--precision=mixed_float16', '--overflow=saturate')
    assert _dump(overflowing, pictures, right, f'--json={tmp_path / "dump.json"}') == 0
    assert _dump(overflowing, pictures, left, *policy, '--as_npu') == 0
    assert json.loads((tmp_path / 'dump.json').read_text())['at_65504'] == []
    capsys.readouterr()
    files = [f'--{kind}={tmp_path / f"result.{kind}"}' for kind in ('csv', 'json', 'html')]
    assert _compare(f'--left={left}', f'--right={right}', *files) == 0
    assert capsys.readouterr().out.startswith('first bad operator: ')
    result = json.loads((tmp_path / 'result.json').read_text())
    assert result['verdict']['cause'] in ('cast', 'overflow') and result['passed_thresholds'] == []
    with open(tmp_path / 'result.csv', newline='') as file:
        assert len(list(csv.reader(file))) == len(result['rows']) + 1
    page = (tmp_path / 'result.html').read_text()
    assert 'First bad operator' in page and '<script' not in page and 'http' not in page.replace('http-equiv', '')
    assert list(tmp_path.glob('*.partial')) == []
    assert _compare(f'--left={left}', f'--right={right}', '--cosine_below=0.999') == 3
    assert 'threshold passed: cosine similarity below 0.999' in capsys.readouterr().err
    assert run(overflow.main, overflow.FLAGS, [str(left), '--fail'], needs_tensorflow=False) == 3
    assert 'to float16 overflowed (0x100)' in capsys.readouterr().out
    assert _compare(f'--left={left}', '--list') == 0
    assert 'validation: generator_B alone' in capsys.readouterr().out


def test_chosen_layers_only(overflowing: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert _dump(overflowing, pictures, tmp_path / 'some', '--layers=generator_B/(up_conv_0|MLP)/') == 0
    names = [path.name for path in (tmp_path / 'some').iterdir()]
    assert names and all(name.startswith(('generator_B_up_conv_0', 'generator_B_MLP')) for name in names)


@pytest.mark.parametrize(('precision', 'direction'), [('float16', 'b2a'), ('mixed_bfloat16', 'a2b')])
def test_every_precision_can_be_dumped_as_an_npu(
    overflowing: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path, precision: str, direction: str
) -> None:
    words = (f'--precision={precision}', f'--direction={direction}')
    assert _dump(overflowing, pictures, tmp_path / 'npu', *words, '--as_npu') == 0
    assert _dump(overflowing, pictures, tmp_path / 'npy', *words) == 0
    result = tmp_path / 'r.json'
    assert _compare(f'--left={tmp_path / "npu"}', f'--right={tmp_path / "npy"}', f'--json={result}') == 0
    rows = json.loads(result.read_text())['rows']
    assert all(row['metrics'] for row in rows if '*' not in (row['left'], row['right']))


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ((), '--left is needed'),
        (('--left=nowhere', '--right=nowhere'), 'nowhere: expected a folder with dumps'),
        (('--left=.', '--right=.', '--resume'), 'expected dumps'),
    ],
)
def test_mistakes(
    words: tuple, sentence: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _compare(*words) == 2
    assert sentence in capsys.readouterr().err


def test_a_dump_never_mixes_with_another(
    overflowing: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / 'old.npy').write_bytes(b'')
    assert _dump(overflowing, pictures, tmp_path) == 2
    assert 'new or empty folder' in capsys.readouterr().err
    assert _dump(overflowing, pictures, tmp_path / 'new', '--layers=discriminator') == 2
    assert 'No tensor' in capsys.readouterr().err


def test_broken_files_give_exit_code_1(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    np.save(tmp_path / 'a_Conv2D.0.1629880658.npy', np.ones(3))
    (tmp_path / 'Conv2D.b.1.2.1629880658').write_bytes(b'xxxxxxxxxxxx')
    assert _compare(f'--left={tmp_path}', f'--right={tmp_path}') == 1
    assert 'not a complete Ascend dump' in capsys.readouterr().err


def _npy(folder: pathlib.Path, **values: np.ndarray) -> pathlib.Path:
    folder.mkdir()
    for name, value in values.items():
        np.save(folder / f'{name}.0.1629880658.npy', value)
    return folder


def test_damaged_tensors_are_no_success(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    """A file that ends too early, compared with itself: exit code 1, and 2 where nothing else is there."""
    both = _npy(tmp_path / 'both', a_Conv2D=np.ones(3), b_Conv2D=np.ones(50))
    one = _npy(tmp_path / 'one', b_Conv2D=np.ones(50))
    for folder in (both, one):
        file = folder / 'b_Conv2D.0.1629880658.npy'
        file.write_bytes(file.read_bytes()[:200])
    assert _compare(f'--left={both}', f'--right={both}') == 1
    assert 'b_Conv2D' in capsys.readouterr().err
    assert _compare(f'--left={one}', f'--right={one}') == 2
    assert 'nothing was compared' in capsys.readouterr().err


def test_thresholds_that_judge_nothing_are_no_success(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    folder = _npy(tmp_path / 'x', a_Mean=np.float32(3.0))
    assert _compare(f'--left={folder}', f'--right={folder}') == 0
    for words in ('--cosine_below=0.9', '--distance_above=0', '--max_error_above=0', '--fail_on_overflow'):
        assert _compare(f'--left={folder}', f'--right={folder}', words) == 2
        assert 'none was judged' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('word', 'said'),
    [
        ('--graph=zz', "no dumped graph is called 'zz'"),
        ('--ge_graphs=nowhere', 'nowhere: expected compiled graphs'),
        ('--ge_graphs=x', 'x: expected compiled graphs'),
    ],
)
def test_graphs_that_are_not_there(
    word: str, said: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    _npy(tmp_path / 'x', a_Conv2D=np.ones(3))
    assert _compare('--left=x', '--right=x', word) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize('networks', [{}, {'generator_A': {'nosuch': 3}}, {'discriminator_B': {}}])
def test_a_plan_for_another_network_is_refused(
    networks: dict, overflowing: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    RangePlan(networks).save(tmp_path / 'plan.json')
    assert _dump(overflowing, pictures, tmp_path / 'out', f'--ranges={tmp_path / "plan.json"}') == 2
    assert 'A range plan for generator_B is expected' in capsys.readouterr().err
    assert _dump(overflowing, pictures, tmp_path / 'out', '--ranges=auto') == 2
    assert 'dump takes no auto' in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('there', [False, True])
def test_a_dump_is_whole_or_not_there(tmp_path: pathlib.Path, there: bool) -> None:
    """As when the disk is full after the first file."""
    output = tmp_path / 'dump'
    if there:
        output.mkdir()
    with pytest.raises(UserError, match='No space left on device'), whole_folder(output) as place:
        (place / 'one').write_bytes(b'1')
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert [path.name for path in tmp_path.rglob('*')] == (['dump'] if there else [])
    with whole_folder(output) as place:
        (place / 'graph').mkdir()
        (place / 'graph' / 'one').write_bytes(b'1')
    assert sorted(path.name for path in tmp_path.rglob('*')) == ['dump', 'graph', 'one']


def test_comparing_needs_no_tensorflow() -> None:
    code: List[str] = [
        'import sys',
        'import ugatit.dumps.compare, ugatit.dumps.page, ugatit.dumps.summary, ugatit.dumps.overflow',
        'import ugatit.cli.commands.compare, ugatit.cli.commands.overflow',
        'sys.exit("tensorflow" in sys.modules)',
    ]
    assert subprocess.run([sys.executable, '-c', '; '.join(code)], cwd=REPOSITORY).returncode == 0
