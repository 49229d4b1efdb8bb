"""`diagnose.py ranges` and `stress` as they are typed: exit codes, files, sentences."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import List

import numpy as np
import pytest
import tensorflow as tf

import diagnose
from tests.diagnosis import tiny
from ugatit.cli.commands.model_flags import write_json
from ugatit.cli.main import run_command
from ugatit.ranges import RangePlan
from ugatit.translate import load


def _run(*words: object) -> int:
    return run_command('diagnose.py', 'Test.', diagnose.COMMANDS, [str(word) for word in words])


def test_ranges_writes_everything(
    broken: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path, images: np.ndarray,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    outputs = {name: tmp_path / 'new' / f'out.{name}' for name in ('json', 'html', 'svg')}
    plan = tmp_path / 'plan.json'
    flags = [f'--{name}={path}' for name, path in outputs.items()]
    code = _run('ranges', f'--checkpoint={broken}', f'--input={pictures}', '--direction=both', '--top=3',
                f'--save_plan={plan}', *flags)  # fmt: skip
    printed = capsys.readouterr().out
    assert code == 0
    assert 'a2b (generator_B), 3 pictures of 16x16' in printed and 'b2a (generator_A)' in printed
    assert [entry['direction'] for entry in json.loads(outputs['json'].read_text())['directions']] == ['a2b', 'b2a']
    assert outputs['html'].read_text('utf-8').count('<h2>') == 2
    assert outputs['svg'].read_text('utf-8').startswith('<svg')
    saved = RangePlan.load(plan)
    assert set(saved) == {'generator_A', 'generator_B'}
    assert np.array_equal(load(broken, ranges=saved)(images).image, load(broken)(images).image)


def test_ranges_reports_only_the_asked_precision(
    broken: pathlib.Path, pictures: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    assert _run('ranges', f'--checkpoint={broken}', pictures / '0.png', '--precision=Mixed_Float16') == 0
    printed = capsys.readouterr().out
    assert 'mixed_float16:' in printed and '\nfloat16:' not in printed
    assert 'only 1 calibration picture' in printed


def test_an_unreadable_picture_is_named_at_the_end(
    broken: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / 'bad.png').write_bytes(b'no picture')
    code = _run('ranges', f'--checkpoint={broken}', f'--input={pictures}', f'--input={tmp_path}')
    assert code == 1
    assert 'bad.png' in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ([], 'the first word must be a command, ranges, stress'),
        (['range'], 'did you mean ranges?'),
        (['ranges'], '--checkpoint is needed'),
        (['ranges', '--checkpoint=CHECKPOINT'], '--input is needed'),
        (['ranges', '--checkpoint=nowhere', '--input=PICTURES'], 'nowhere'),
        (['ranges', '--checkpoint=CHECKPOINT', '--input=nowhere'], 'nowhere'),
        (['ranges', '--checkpoint=CHECKPOINT', '--input=PICTURES', '--precision=float32'], 'cannot overflow'),
        (['ranges', '--checkpoint=CHECKPOINT', '--input=PICTURES', '--headroom_bits=-1'], 'from 0.0 to 8.0'),
        (['ranges', '--checkpoint=CHECKPOINT', '--input=PICTURES', '--direction=a2a'], 'a2b, b2a or both'),
        (['ranges', '--checkpoint=CHECKPOINT', '--input=PICTURES', '--batch_size=1025'], 'from 1 to 1024'),
        (['ranges', '--checkpoint=CHECKPOINT', '--input=PICTURES', '--image_size=8196'], 'to 8192'),
        (['ranges', '--checkpoint=DAMAGED', '--input=PICTURES'], 'the checkpoint is damaged: NaN or infinity in'),
        (['stress', '--checkpoint=DAMAGED', '--output=OUT'], 'the checkpoint is damaged: NaN or infinity in'),
        (['stress', '--checkpoint=CHECKPOINT', '--output=OUT', f'--pictures={10**20}'], 'from 1 to 4096'),
        (['stress', '--checkpoint=CHECKPOINT'], '--output is needed'),
        (['stress', '--checkpoint=CHECKPOINT', '--output=OUT', '--groups=nosuch'], "No range group matches 'nosuch'"),
        (['stress', '--checkpoint=CHECKPOINT', '--output=CHECKPOINT'], 'exists already'),
    ],
)
def test_mistakes_are_one_sentence(
    words: List[str], said: str, checkpoint: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    places = {'CHECKPOINT': checkpoint, 'PICTURES': pictures, 'OUT': tmp_path / 'out'}
    if any('DAMAGED' in word for word in words):
        places['DAMAGED'] = _damaged(tmp_path / 'damaged')
    for name, place in places.items():
        words = [word.replace(name, str(place)) for word in words]
    assert _run(*words) == 2
    error = capsys.readouterr().err
    assert said in error and 'Traceback' not in error
    assert not (tmp_path / 'out').exists()


def _damaged(folder: pathlib.Path) -> pathlib.Path:
    """A checkpoint with a NaN, written by TensorFlow itself: ours refuses to."""
    weights = tiny.weights()
    weights['generator_B/up_conv_0/conv2d/kernel'].flat[0] = np.nan
    folder.mkdir()
    tf.raw_ops.SaveV2(prefix=str(folder / 'UGATIT_light.model-5'), tensor_names=list(weights),
                      shape_and_slices=[''] * len(weights), tensors=list(weights.values()))  # fmt: skip
    return folder


def test_json_has_null_for_what_is_no_number(tmp_path: pathlib.Path) -> None:
    write_json(str(tmp_path / 'x.json'), {'a': [float('nan'), 1.5], 'b': (float('inf'),)})
    found = json.loads((tmp_path / 'x.json').read_text(), parse_constant=pytest.fail)
    assert (found['a'], found['b']) == ([None, 1.5], [None])


def test_stress_command(checkpoint: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    code = _run('stress', f'--checkpoint={checkpoint}', f'--output={tmp_path / "out"}', '--direction=b2a',
                '--groups=encoder,cam', '--bits=14', f'--json={tmp_path / "out.json"}', '--pictures=2')  # fmt: skip
    printed = capsys.readouterr().out
    assert code == 0 and 'b2a: larger now: encoder 2**14, cam 2**14' in printed
    found = json.loads((tmp_path / 'out.json').read_text())['generators']['b2a']
    assert found['our_runtime']['picture_bits'] and found['over_65504']
    assert found['unaware_code']['logit_difference'] > 0.0


def test_help_is_quick_and_lists_commands(repository: pathlib.Path) -> None:
    """Without TensorFlow, which takes seconds."""
    code = "import sys, diagnose; assert 'tensorflow' not in sys.modules; print(*diagnose.COMMANDS)"
    done = subprocess.run([sys.executable, '-c', code], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split()[:2] == ['ranges', 'stress'], done.stderr
