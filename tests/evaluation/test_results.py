"""infer.py --metrics_against: what it prints and reports, and that pictures stay whatever becomes of the metrics."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Callable, Tuple

import numpy as np
import pytest

import infer
from tests.data import odd_files as odd
from tests.evaluation.test_inception import write_graph
from tests.inference.tiny import share_models, write_tiny
from ugatit.cli.main import run
from ugatit.data.convert import save_png


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_tiny(tmp_path_factory.mktemp('tiny'))


@pytest.fixture
def command(
    checkpoint: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> Callable[..., Tuple[int, str]]:
    """Runs infer.py on three photographs; gives exit code and stderr."""
    share_models(monkeypatch)
    (tmp_path / 'in').mkdir()
    (tmp_path / 'real').mkdir()
    for number, name in enumerate(('a', 'b', 'c')):
        (tmp_path / 'in' / f'{name}.png').write_bytes(odd.encode(odd.photo(20, 24 + number)))
        save_png(tmp_path / 'real' / f'real{name}.png', np.full((16, 16, 3), 40 * number, np.uint8) + odd.photo(16, 16))

    def call(*words: object, output: str = 'out') -> Tuple[int, str]:
        usual = [f'--checkpoint={checkpoint}', '--device=cpu', f'--output={tmp_path / output}', tmp_path / 'in']
        code = run(infer.main, infer.FLAGS, [str(word) for word in [*usual, *words]])
        return code, capsys.readouterr().err

    return call


def test_what_is_printed_and_reported(command: Callable, tmp_path: pathlib.Path) -> None:
    report = tmp_path / 'report.json'
    code, stderr = command(f'--metrics_against={tmp_path / "real"}', f'--json={report}', '--kid_subset_size=2')
    assert code == 0
    assert re.search(
        r'^metrics: KID x 100: .* \(raw .*; 100 subsets of 2 of 3 and 3 pictures, seed 0\)', stderr, re.MULTILINE
    )
    assert re.search(r'^metrics: FID: .* \(3 and 3 pictures\); fewer pictures than the 256', stderr, re.MULTILINE)
    assert 'metrics: features: random convolutions 1; its numbers compare only with' in stderr
    metrics = json.loads(report.read_text())['metrics']
    assert metrics['kid']['pictures'] == [3, 3] and metrics['size'] == 16 and metrics['pairs'] is None


def test_against_results_of_another_run_pairs_are_compared(command: Callable, tmp_path: pathlib.Path) -> None:
    assert command(output='first')[0] == 0
    report = tmp_path / 'report.json'
    code, stderr = command(f'--metrics_against={tmp_path / "first"}', f'--json={report}')
    assert code == 0 and 'the 3 with equal names: PSNR inf dB, SSIM 1.0000, largest error 0' in stderr
    assert json.loads(report.read_text())['metrics']['pairs'] == {
        'pictures': 3, 'psnr': None, 'ssim': 1.0, 'max_error_8bit': 0.0,
    }  # fmt: skip


def test_pairs_by_the_inputs_name(command: Callable, tmp_path: pathlib.Path) -> None:
    for name in ('a', 'b'):
        save_png(tmp_path / 'real' / f'{name}.png', odd.photo(20, 20))
    code, stderr = command(f'--metrics_against={tmp_path / "real"}')
    assert code == 0 and 'the 2 with equal names: PSNR' in stderr


def test_features_of_a_graph(command: Callable, tmp_path: pathlib.Path) -> None:
    graph = write_graph(tmp_path / 'tiny.pb')
    code, stderr = command(f'--metrics_against={tmp_path / "real"}', f'--inception={graph}')
    assert code == 0 and 'features: Inception graph tiny.pb, sha256 ' in stderr


def test_too_few_readable_targets_cost_no_picture(command: Callable, tmp_path: pathlib.Path) -> None:
    for name in ('reala.png', 'realb.png'):
        (tmp_path / 'real' / name).write_bytes(b'')
    report = tmp_path / 'report.json'
    code, stderr = command(f'--metrics_against={tmp_path / "real"}', f'--json={report}')
    assert code == 1 and 'metrics: KID needs at least 2 pictures on each side, but 3 and 1' in stderr
    assert len(list((tmp_path / 'out').iterdir())) == 3
    assert json.loads(report.read_text())['metrics']['error'].startswith('KID needs')


def test_unreadable_targets_are_named(command: Callable, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'real' / 'broken.png').write_bytes(b'')
    code, stderr = command(f'--metrics_against={tmp_path / "real"}')
    assert code == 0 and re.search('metrics: left out: .*broken.png: expected a picture', stderr)
