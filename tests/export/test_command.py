"""`export.py --format=...`, `--verify` and `infer.py --model`, as typed."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import List

import pytest

import export
import infer
from tests import tolerances
from tests.data.tiny_clips import write_video
from tests.diagnosis import tiny
from tests.export.models import Model
from ugatit.cli.main import run
from ugatit.data.clips import open_clip
from ugatit.export.sidecar import stored_direction
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
    assert report['check']['psnr'] > tolerances.CONVERTED_DB
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


def test_infer_runs_it_on_a_video(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip('av')
    source = write_video(tmp_path / 'in.mp4', count=3)
    assert _infer(f'--model={graph}', f'--input={source}', f'--output={tmp_path / "out.mp4"}') == 0
    with open_clip(tmp_path / 'out.mp4') as reader:
        assert reader.info.frames == 3 and reader.info.audio


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--precision=float16'], '--precision does not go with --model'),
        (['--checkpoint=x'], '--checkpoint does not go with --model'),
        (['--direction=b2a'], 'translates a2b'),
        (['--image_size=32'], 'takes pictures of 16x16 only'),
        (['--heatmap'], 'gives no heat map'),
        (['--model=nowhere.onnx'], 'nothing is there'),
        (['--model=.'], 'without saved_model.pb'),
        (['--model=/'], 'without saved_model.pb'),
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
        (['--format=onnx', '--opset=12', '--output=OUT/a.onnx'], 'expected a whole number from 13 to 18'),
        (['--output=OUT/a.onnx', '--precision=float16'], 'write --format=onnx, or name a folder'),
        (['--format=saved_model', '--output=OUT/a.tflite'], 'write --format=tflite, or name a folder'),
        (['--precision=float16'], '--precision belongs to --format=saved_model or frozen_graph or onnx or tflite,'),
        (['--direction=a2b'], '--direction belongs to'),
        (['--max_difference=1'], '--max_difference belongs to'),
        (
            ['--format=onnx', '--output=OUT/a.onnx', '--soc_version=x'],
            '--soc_version belongs to --format=frozen_graph,',
        ),
        (['--format=frozen_graph', '--output=OUT/a.pb', '--opset=14'], '--opset belongs to --format=onnx, but'),
        (['--format=tflite', '--output=OUT/a.tflite', '--precision_mode=force_fp16'], '--precision_mode belongs to'),
        (['--format=frozen_graph', '--output=.'], '--output must end in .pb'),
        (['--format=onnx', '--output=..'], '--output must end in .onnx'),
        (['--format=saved_model', '--output=.'], 'exists already'),
        (['--format=saved_model', '--output=/'], 'must have a name'),
        (['--format=frozen_graph', '--ranges=none', '--output=PICTURES/0.png/a.pb'], 'because'),
        (['--ranges=none', '--output=PICTURES/0.png/cured'], 'because'),
        (['--format=frozen_graph', '--ranges=none', '--output=TAKEN/a.pb'], 'a.pb.atc.sh exists already'),
        (['--format=frozen_graph', '--ranges=none', '--output=TAKEN/b.pb'], 'b.pb.mixlist.json exists already'),
        (['--format=onnx', '--ranges=none', '--output=TAKEN/a.onnx'], 'a.onnx.commands.txt exists already'),
        (['--format=onnx', '--output=OUT/a.pb'], '--output must end in .onnx'),
        (['--format=frozen_graph', '--output=OUT/a.pb'], '--calibration_a is missing'),
        (['--format=frozen_graph', '--output=OUT/a.pb', '--direction=b2a'], '--calibration_b is missing'),
        (['--format=frozen_graph', '--output=OUT/a.pb', '--ranges=none', '--variants=batch'], 'running statistics'),
        (['--format=frozen_graph', '--output=OUT/a.pb', '--ranges=nowhere.json'], 'nowhere.json'),
        (['--format=frozen_graph', '--output=PICTURES/0.png'], 'must end in .pb'),
        (['--format=saved_model', '--output=PICTURES'], 'exists already'),
    ],
)
def test_mistakes_are_one_sentence(
    words: List[str], said: str, tiny_checkpoint: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    (tmp_path / 'taken').mkdir()
    for name in ('a.pb.atc.sh', 'b.pb.mixlist.json', 'a.onnx.commands.txt'):
        (tmp_path / 'taken' / name).write_text('somebody wrote this')
    for word, place in (('PICTURES', pictures), ('OUT', tmp_path / 'out'), ('TAKEN', tmp_path / 'taken')):
        words = [given.replace(word, str(place)) for given in words]
    if not any(word.startswith('--output') for word in words):
        words.append(f'--output={tmp_path / "out" / "a"}')
    assert _export(f'--checkpoint={tiny_checkpoint}', *words) == 2
    error = capsys.readouterr().err
    assert said in error and 'Traceback' not in error and not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--verify=nowhere.pb'], 'nothing is there'),
        (['--verify=PICTURES/0.png'], 'should end in .pb'),
        (['--verify=.'], 'without saved_model.pb'),
        (['--verify=nowhere.pb', '--max_difference=1'], '--max_difference does not go with --verify'),
    ],
)
def test_what_cannot_be_verified(
    words: List[str], said: str, pictures: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    assert _export(*(word.replace('PICTURES', str(pictures)) for word in words)) == 2
    error = capsys.readouterr().err
    assert said in error and 'Traceback' not in error


def test_a_saved_model_in_the_working_folder(
    healthy: Model, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy.export(tmp_path / 'a2b', 'saved_model')
    monkeypatch.chdir(tmp_path / 'a2b')
    assert _export('--verify=.') == 0
    assert stored_direction('.', None) == 'a2b'


def test_a_full_model_has_one_size(
    pictures: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    full = Architecture(image_size=tiny.SIZE, ch=2, n_res=1, n_dis=4, light=False)
    checkpoint = tiny.write_checkpoint(tmp_path / 'full', full)
    assert _export(f'--checkpoint={checkpoint}', '--format=frozen_graph', f'--output={tmp_path / "a.pb"}',
                   '--ranges=none', '--dynamic_size') == 2  # fmt: skip
    assert '--dynamic_size needs a light model' in capsys.readouterr().err and not (tmp_path / 'a.pb').exists()
    assert _export(f'--checkpoint={checkpoint}', '--format=onnx', f'--output={tmp_path / "a.onnx"}',
                   '--ranges=none', '--image_size=32') == 2  # fmt: skip
    error = capsys.readouterr().err
    assert 'image_size' in error and 'Traceback' not in error and not (tmp_path / 'a.onnx').exists()


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
