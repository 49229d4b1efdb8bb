"""infer.py from end to end, in this process."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
from typing import Callable, List

import numpy as np
import pytest

import infer
from ugatit.checkpoints.demo import demo_pictures
from ugatit.cli.main import run
from ugatit.data.decode import decode_file

pytestmark = pytest.mark.usefixtures('shared_models')


def _infer(*words: object) -> int:
    return run(infer.main, infer.FLAGS, [str(word) for word in words])


@pytest.fixture
def command(tiny_checkpoint: pathlib.Path, tmp_path: pathlib.Path) -> List[str]:
    return [f'--checkpoint={tiny_checkpoint}', f'--output={tmp_path / "out"}', '--device=cpu']


def _names(folder: pathlib.Path) -> List[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_with_everything(command, tmp_path: pathlib.Path, photos: Callable, capsys) -> None:
    photos('a.png', 'b.jpg', "<b>&'.png")
    (tmp_path / 'in' / 'broken.png').write_bytes(b'\x89PNG\r\n\x1a\n')
    (tmp_path / 'in' / '.DS_Store').write_bytes(b'x')
    report = tmp_path / 'report.json'
    code = _infer(*command, tmp_path / 'in', '--heatmap', '--html', '--arrays', '--keep_size', f'--json={report}')
    stderr = capsys.readouterr().err
    assert code == 1
    assert re.search(r'model: generator_B \(a2b\), light, ch 2, 16x16 pixels, step 5, float32, /CPU:0', stderr)
    assert '3 of 4 pictures translated' in stderr and '1 ignored: .DS_Store (system or hidden file)' in stderr
    assert stderr.rstrip().splitlines()[-1].endswith('copy or export it again')
    stems = ("<b>&'", 'a', 'b')
    assert _names(tmp_path / 'out') == sorted(
        [f'{stem}_a2b{end}' for stem in stems for end in ('.png', '_heatmap.png', '.npy')] + ['gallery_a2b.html']
    )
    assert (
        decode_file(tmp_path / 'out' / 'a_a2b.png').pixels.shape == decode_file(tmp_path / 'in' / 'a.png').pixels.shape
    )
    found = json.loads(report.read_text())
    assert found['counts'] == {'done': 3, 'failed': 1, 'ignored': 1} and found['exit_code'] == 1
    assert [entry['outcome'] for entry in found['inputs']] == ['done', 'done', 'done', 'failed', 'ignored']
    assert found['model']['network'] == 'generator_B' and found['model']['step'] == 5
    assert found['model']['variants'] == 'default' and found['model']['variants_table'] is None


def test_a_second_run_replaces_the_first_and_is_bit_equal(command, tmp_path, photos: Callable, capsys) -> None:
    photos('a.png')
    assert _infer(*command, tmp_path / 'in') == 0
    first = (tmp_path / 'out' / 'a_a2b.png').read_bytes()
    capsys.readouterr()
    assert _infer(*command, tmp_path / 'in') == 0
    assert '1 file of an earlier run will be replaced' in capsys.readouterr().err
    assert (tmp_path / 'out' / 'a_a2b.png').read_bytes() == first and _names(tmp_path / 'out') == ['a_a2b.png']


def test_both_directions_share_a_folder(command, tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('a.png')
    assert _infer(*command, tmp_path / 'in') == _infer(*command, tmp_path / 'in', '--direction=b2a') == 0
    assert _names(tmp_path / 'out') == ['a_a2b.png', 'a_b2a.png']


def test_results_in_the_folder_of_the_inputs(tiny_checkpoint, tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('a.png')
    words = [f'--checkpoint={tiny_checkpoint}', f'--output={tmp_path / "in"}', tmp_path / 'in']
    before = (tmp_path / 'in' / 'a.png').read_bytes()
    assert _infer(*words) == _infer(*words) == 0
    assert _names(tmp_path / 'in') == ['a.png', 'a_a2b.png']
    assert (tmp_path / 'in' / 'a.png').read_bytes() == before


def test_all_failed_is_exit_2_and_no_folder(command, tmp_path: pathlib.Path, photos: Callable, capsys) -> None:
    for path in photos('a.png', 'b.png'):
        path.write_bytes(b'')
    report = tmp_path / 'report.json'
    assert _infer(*command, tmp_path / 'in', '--html', f'--json={report}') == 2
    assert '0 of 2 pictures translated\n2 failed:\n' in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()
    assert json.loads(report.read_text())['counts']['failed'] == 2


def test_weights_that_give_nan_write_no_picture(tmp_path, photos: Callable, monkeypatch, capsys) -> None:
    from ugatit.translate import Translation, Translator

    photos('a.png')
    nan = lambda self, x: Translation(x * np.nan, None, x[:, ::4, ::4, 0])  # noqa: E731
    monkeypatch.setattr(Translator, '__call__', nan)
    assert _infer(f'--output={tmp_path / "out"}', '--image_size=8', tmp_path / 'in', '--html') == 2
    assert 'a.png: the result has 192 NaN or infinite values of 192: compute with' in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()


def test_variants_are_shown_and_calibrated(command, tmp_path: pathlib.Path, photos: Callable, capsys) -> None:
    photos('a.png', 'b.png')
    report = tmp_path / 'report.json'
    words = ['--variants=batch_swap', '--ranges=auto', f'--json={report}']
    assert _infer(*command, tmp_path / 'in', *words) == 0
    stderr = capsys.readouterr().err
    assert 'variants batch_swap: ' in stderr and re.search(r'^norm:', stderr, re.MULTILINE)
    assert re.search(r'running statistics of \d+ layers measured on 2 pictures', stderr)
    assert 'come from the first call' not in stderr
    assert 'discriminator' not in stderr.split('variants batch_swap')[1].split('model:')[0]
    model = json.loads(report.read_text())['model']
    assert model['variants'] == 'batch_swap'
    table = model['variants_table']
    assert all(layer.startswith('generator_B/') for layer in table)
    assert table['generator_B/ins_norm'] == {'norm': 'batch', 'statistics': 'plain'}
    assert table['generator_B/conv'] == {'guard': 'planned'}


def test_without_anything_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert _infer('--device=cpu') == 0
    assert _names(tmp_path / 'results') == [f'{path.stem}_a2b.png' for path in sorted(demo_pictures('a2b').iterdir())]
    stderr = capsys.readouterr().err
    assert 'this is the demo model' in stderr and '64x64 pixels' in stderr
    assert _infer('--device=cpu', '--direction=b2a', '--output=back') == 0
    assert _names(tmp_path / 'back') == [f'{path.stem}_b2a.png' for path in sorted(demo_pictures('b2a').iterdir())]


def test_a_checkpoint_without_pictures_gets_the_portrait(command, tmp_path: pathlib.Path) -> None:
    assert _infer(*command) == 0
    assert _names(tmp_path / 'out') == ['portrait_a2b.png']


def test_help_opens_with_two_examples_and_shows_only_our_flags(
    repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    program = [sys.executable, str(repository / 'infer.py'), '--help']
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, '')
    lines = done.stdout.splitlines()
    assert (
        lines[0] == 'Examples:'
        and lines[1].startswith('  python infer.py')
        and lines[2].startswith('  python infer.py')
    )
    flags = set(re.findall(r'^  --(?:\[no\])?(\w+)', done.stdout, re.MULTILINE))
    assert flags == set(
        'checkpoint direction image_size device input recursive resize background max_pixels batch_size output'
        ' keep_size heatmap arrays html json precision overflow ranges variants'
        ' metrics_against inception kid_subsets kid_subset_size kid_seed'
        ' model dump detect_overflow npu_option reflect_pad face_crop paste_back side_by_side'.split()
    )


def test_the_legal_values_are_those_of_the_library() -> None:
    from ugatit.data.decode import DEFAULT_MAX_PIXELS
    from ugatit.inference.settings import RESIZES, Settings
    from ugatit.nn.policy import OVERFLOWS, PRECISIONS
    from ugatit.runners import NAMES

    legal = {name: set(infer.FLAGS.values[name].parser.legal) for name in ('precision', 'overflow', 'device', 'resize')}
    assert legal == {
        'precision': set(PRECISIONS), 'overflow': set(OVERFLOWS), 'device': set(NAMES), 'resize': set(RESIZES),
    }  # fmt: skip
    infer.FLAGS.parse([])
    defaults = Settings()
    for name in ('resize', 'keep_size', 'heatmap', 'arrays', 'batch_size', 'background', 'max_pixels'):
        assert infer.FLAGS.values[name].value == getattr(defaults, name), name
    assert defaults.max_pixels == DEFAULT_MAX_PIXELS
