"""`export.py --format=...`, `--verify` and `infer.py --model`, as typed."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import List

import pytest

import export
import infer
from tests.diagnosis import tiny
from ugatit.cli.main import run
from ugatit.nn.architecture import Architecture


@pytest.fixture(scope='module')
def pictures(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with three pictures."""
    return tiny.write_pictures(tmp_path_factory.mktemp('pictures'))


def _export(*words: object) -> int:
    return run(export.main, export.FLAGS, [str(word) for word in words])


def _infer(*words: object) -> int:
    return run(infer.main, infer.FLAGS, [str(word) for word in words])


@pytest.fixture(scope='module')
def graph(
    broken_checkpoint: pathlib.Path, pictures: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """A frozen float16 graph of the overflowing checkpoint, cured, with a report in the same folder."""
    output = tmp_path_factory.mktemp('graph') / 'a2b.pb'
    assert _export(f'--checkpoint={broken_checkpoint}', '--format=frozen_graph', '--precision=float16',
                   f'--output={output}', f'--calibration_a={pictures}', '--soc_version=Ascend310P3',
                   f'--json={output.parent / "report.json"}') == 0  # fmt: skip
    return output


def test_a_cured_half_graph(graph: pathlib.Path) -> None:
    report = json.loads((graph.parent / 'report.json').read_text('utf-8'))
    assert report['exponents']['decoder'] > 0 and report['statistics'] == 'prescaled'
    assert report['check']['psnr'] > report['bound']['smallest_psnr']
    assert '--soc_version=Ascend310P3' in (graph.parent / 'a2b.pb.atc.sh').read_text('utf-8')


def test_verify_anywhere(graph: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    for path in graph.parent.glob('a2b.pb*'):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert _export(f'--verify={tmp_path / "a2b.pb"}') == 0
    assert capsys.readouterr().out.rstrip().endswith('right')
    with (tmp_path / 'a2b.pb').open('ab') as file:
        file.write(b'\x1a\x00')
    assert _export(f'--verify={tmp_path / "a2b.pb"}') == 3


def test_infer_runs_it(graph: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path) -> None:
    report = tmp_path / 'report.json'
    assert _infer(f'--model={graph}', f'--input={pictures}', f'--output={tmp_path / "out"}', '--arrays', '--html',
                  f'--json={report}') == 0  # fmt: skip
    names = {path.name for path in (tmp_path / 'out').iterdir()}
    assert {'0_a2b.png', '1_a2b.png', '2_a2b.png', '0_a2b.npy'} <= names
    told = json.loads(report.read_text('utf-8'))
    assert told['model']['format'] == 'frozen_graph' and told['counts']['done'] == 3


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--precision=float16'], '--precision does not go with --model'),
        (['--checkpoint=x'], '--checkpoint does not go with --model'),
        (['--direction=b2a'], 'translates a2b'),
        (['--image_size=32'], 'takes pictures of 16x16 only'),
        (['--heatmap'], 'gives no heat map'),
        (['--model=nowhere.onnx'], 'nothing is there'),
        (['--model=PICTURES'], 'without saved_model.pb'),
    ],
)
def test_what_does_not_go_with_a_file(
    words: List[str], said: str, graph: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    words = [word.replace('PICTURES', str(pictures)) for word in words]
    given = [] if any(word.startswith('--model') for word in words) else [f'--model={graph}']
    assert _infer(*given, *words, f'--input={pictures}', f'--output={tmp_path / "out"}') == 2
    error = capsys.readouterr().err
    assert said in error and 'Traceback' not in error and not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--format=onxx'], '--format must be one of checkpoint, saved_model'),
        (['--format=onnx', '--opset=12', '--output=OUT/a.onnx'], '--opset must be from 13 to 18'),
        (['--format=onnx', '--output=OUT/a.pb'], '--output must end in .onnx'),
        (['--format=frozen_graph', '--output=OUT/a.pb'], '--calibration_a is missing'),
        (['--format=frozen_graph', '--output=OUT/a.pb', '--direction=b2a'], '--calibration_b is missing'),
        (['--format=frozen_graph', '--output=OUT/a.pb', '--ranges=none', '--variants=batch'], 'running statistics'),
        (['--format=frozen_graph', '--output=OUT/a.pb', '--ranges=nowhere.json'], 'nowhere.json'),
        (['--format=frozen_graph', '--output=PICTURES/0.png'], 'must end in .pb'),
        (['--format=saved_model', '--output=PICTURES'], 'exists already'),
        (['--verify=nowhere.pb'], 'nothing is there'),
        (['--verify=PICTURES/0.png'], 'should end in .pb'),
    ],
)
def test_mistakes_are_one_sentence(
    words: List[str], said: str, tiny_checkpoint: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    words = [word.replace('PICTURES', str(pictures)).replace('OUT', str(tmp_path / 'out')) for word in words]
    if not any(word.startswith('--output') for word in words):
        words.append(f'--output={tmp_path / "out" / "a"}')
    assert _export(f'--checkpoint={tiny_checkpoint}', *words) == 2
    error = capsys.readouterr().err
    assert said in error and 'Traceback' not in error and not (tmp_path / 'out').exists()


def test_a_full_model_has_one_size(
    pictures: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    full = Architecture(image_size=tiny.SIZE, ch=2, n_res=1, n_dis=4, light=False)
    checkpoint = tiny.write_checkpoint(tmp_path / 'full', full)
    assert _export(f'--checkpoint={checkpoint}', '--format=frozen_graph', f'--output={tmp_path / "a.pb"}',
                   '--ranges=none', '--dynamic_size') == 2  # fmt: skip
    assert '--dynamic_size needs a light model' in capsys.readouterr().err and not (tmp_path / 'a.pb').exists()


def test_a_missing_package_is_named_with_its_line(
    tiny_checkpoint: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setitem(sys.modules, 'onnxruntime', None)
    assert _export(f'--checkpoint={tiny_checkpoint}', '--format=onnx', f'--output={tmp_path / "a.onnx"}') == 2
    error = capsys.readouterr().err
    assert 'onnxruntime' in error and "pip install -e '.[export]'" in error


def test_a_float16_file_that_will_be_wrong_is_announced(
    broken_checkpoint: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    """The unplanned graph overflows: said before the check, and on this CPU's native halves the check finds it, too."""
    output = tmp_path / 'a.pb'
    assert _export(f'--checkpoint={broken_checkpoint}', '--format=frozen_graph', '--precision=float16',
                   f'--output={output}', '--ranges=none') == 2  # fmt: skip
    error = capsys.readouterr().err
    assert 'which float16 cannot hold' in error and 'was removed again' in error
    assert list(tmp_path.iterdir()) == []
