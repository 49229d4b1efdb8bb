"""`python train.py` as typed: mistakes are one sentence and exit 2, before TensorFlow and before any picture."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import runpy
import subprocess
import sys
from typing import Any, Dict, List, Tuple

import pytest
import tensorflow as tf

from tests.training.tiny_run import write_pictures
from ugatit.checkpoints import CheckpointReader
from ugatit.cli.flags import HelpRequested
from ugatit.cli.main import run
from ugatit.training.settings import Settings
from ugatit.training.table import read_rows

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
CONFIGS = sorted(path.name for path in (REPOSITORY / 'configs').glob('*.py'))
SMOKE = '--config=configs/smoke.py'
_MISTYPED = """
from configs import default
def get_config():
    config = default.get_config()
    config.model.sice = 3
    return config
"""


def _script() -> Dict[str, Any]:
    """A fresh copy of the script: its flags remember what they parsed."""
    return runpy.run_path(str(REPOSITORY / 'train.py'))


def _typed(*words: str) -> Tuple[int, str]:
    """Exit code and stderr of a command line, in this process."""
    script, stderr = _script(), io.StringIO()
    with contextlib.redirect_stderr(stderr):
        code = run(script['main'], script['FLAGS'], words, needs_tensorflow=False)
    return code, stderr.getvalue()


def _parsed(*words: str) -> Settings:
    return Settings.from_sections(_script()['FLAGS'].parse(words).config.to_dict())


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ([], r'--config is needed.*choose one of .*configs/selfie2anime\.py'),
        ([SMOKE], r'--workdir is needed'),
        (['--config=configs/smok.py', '--workdir=w'], r'there is no .*smok\.py; did you mean configs/smoke\.py'),
        (['--config=', '--workdir=w'], r'--config'),
        (
            [SMOKE, '--workdir=w', '--config.training.epoch=3'],
            r'has no field epoch; did you mean --config\.training\.ep',
        ),
        (
            [SMOKE, '--workdir=w', '--config.trainin.epochs=3'],
            r'has no field trainin; did you mean --config\.training\?',
        ),
        ([SMOKE, '--workdir=w', '--config.training.x.y=3'], r'--config\.training has no field x; it has adversarial'),
        ([SMOKE, '--workdir=w', '--config.training.epochs.y=3'], r'--config\.training\.epochs has no field y'),
        ([SMOKE, '--workdir=w', '--config.training=3'], r'--config\.training is a section, not a field'),
        ([SMOKE, '--workdir=w', '--config.training.epochs=abc'], r'--config\.training\.epochs=abc'),
        ([SMOKE, '--workdir=w', '--config.training.epochs=0'], r'--config\.training\.epochs must be at least 1, but 0'),
        ([SMOKE, '--workdir=w', '--config.training.gan_type=lsgn'], r'must be one of lsgan, .*lsgn'),
        ([SMOKE, '--workdir=w', '--config.training.learning_rate=0.0'], r'learning_rate must be more than 0'),
        ([SMOKE, '--workdir=w', '--config.model.image_size=30'], r'image_size must be a multiple of 4.*30 arrived'),
        ([SMOKE, '--workdir=w', '--config.model.image_size=20'], r'image_size must be at least 24 for n_dis 4'),
        ([SMOKE, '--workdir=w', '--config.model.variants=btch'], r'no preset of variants'),
        ([SMOKE, '--workdir=w', '--config.data.on_broken=ignore'], r'on_broken must be one of fail, skip'),
        ([SMOKE, '--workdir=w', '--config.numerics.precision=fp16'], r'precision must be one of float32'),
        ([SMOKE, '--workdir=w', '--config.numerics.ranges=on'], r'numerics\.ranges must be one of auto, live, none'),
        ([SMOKE, '--workdir=w', '--config.numerics.loss_scale=1000.0'], r'loss_scale must be a power of two .*1000\.0'),
        ([SMOKE, '--workdir=w', '--config.numerics.loss_scale=0.0'], r'loss_scale must be a power of two'),
        ([SMOKE, '--workdir=w', '--config.numerics.loss_scale_steps=0'], r'loss_scale_steps must be at least 1'),
        ([SMOKE, '--workdir=w', '--config.numerics.headroom_bits=20.0'], r'headroom_bits must be between 0 and 15'),
        ([SMOKE, '--workdir=w', '--config.numerics.range_history=0'], r'range_history must be between 1 and 10000'),
        ([SMOKE, '--workdir=w', '--devices=0'], r'--devices=0: expected a whole number from 1 to 64'),
        ([SMOKE, '--workdir=w', '--device=cpu', '--devices=two'], r'--devices'),
        ([SMOKE, '--workdir=w', '--xla=perhaps'], r'--xla'),
        ([SMOKE, '--workdir=w', '--dataset=/nowhere'], r'--dataset must be a folder .*/nowhere does not exist'),
        ([SMOKE, '--workdir=w', '--datset=x'], r'no flag --datset; did you mean --dataset\?'),
        ([SMOKE, '--workdir=w', '--device=tpu'], r'auto, cpu, gpu or npu'),
        (['--config.training.epochs=3', '--workdir=w'], r'--config is needed before its fields'),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(words: List[str], sentence: str) -> None:
    code, told = _typed(*words)
    assert code == 2
    assert re.search(sentence, told), told
    assert 'Traceback' not in told
    assert len([line for line in told.splitlines() if line.startswith('error: ')]) == 1


@pytest.mark.parametrize(
    ('source', 'reason'),
    [
        ('import nothing_of_this_name', "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ('x = (', 'SyntaxError'),
        ('x = 1', 'AttributeError'),
        ('def get_config():\n    raise ValueError("no")', 'ValueError'),
        (_MISTYPED, 'sice'),
    ],
)  # fmt: skip
def test_a_config_that_does_not_work_is_one_sentence(tmp_path: pathlib.Path, source: str, reason: str) -> None:
    path = tmp_path / 'mine.py'
    path.write_text(source)
    code, told = _typed(f'--config={path}', '--workdir=w')
    assert code == 2 and 'cannot be used' in told and reason in told, told
    assert 'Traceback' not in told


def test_fields_may_be_written_in_any_order_and_with_blanks() -> None:
    for words in (
        [SMOKE, '--config.training.epochs=7', '--config.model.light=false', '--config.data.name=x'],
        ['--config.training.epochs', '7', '--config.data.name', 'x', '--noconfig.model.light', '--config', SMOKE[9:]],
    ):
        settings = _parsed(*words)
        assert (settings.training.epochs, settings.model.light, settings.data.name) == (7, False, 'x')
    assert _parsed(SMOKE, '--config.training.cycle_weight=0.5').training.cycle_weight == 0.5


@pytest.mark.parametrize('name', CONFIGS)
def test_every_config_is_valid_and_reads_as_a_document(name: str) -> None:
    settings = _parsed(f'--config=configs/{name}')
    settings.check()
    source = (REPOSITORY / 'configs' / name).read_text()
    assert f'python train.py --config=configs/{name} --dataset=' in source
    if name not in ('smoke.py', 'demo.py'):  # made for small runs; the others are the paper's
        light = name in ('selfie2anime_light.py', 'ascend910.py')
        expected = Settings.from_sections({'model': {'light': light}})
        assert settings.training == expected.training and settings.model == expected.model


def test_the_default_config_and_the_settings_have_the_same_fields_and_defaults() -> None:
    """They are written down twice, for two readers."""
    assert _parsed('--config=configs/default.py') == Settings()
    source = (REPOSITORY / 'configs' / 'default.py').read_text()
    fields = [line for line in source.splitlines() if re.match(r'    (training|model|data|numerics)\.\w+ = ', line)]
    assert len(fields) == sum(len(section) for section in Settings().to_json().values())
    assert [line for line in fields if '  # ' not in line] == []


def test_help_needs_no_tensorflow_and_names_the_fields() -> None:
    with pytest.raises(HelpRequested, match='--config.SECTION.FIELD=VALUE'):
        _script()['FLAGS'].parse(['--help'])
    code = 'import runpy, sys; runpy.run_path("train.py"); sys.exit("tensorflow" in sys.modules)'
    assert subprocess.run([sys.executable, '-c', code], cwd=REPOSITORY).returncode == 0


def test_a_small_run_and_its_continuation(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command from another folder, eager: two steps, then two more because the schedule grew."""
    monkeypatch.chdir(tmp_path)
    write_pictures(tmp_path / 'dataset' / 'mine')
    words = [f'--config={REPOSITORY / "configs" / "smoke.py"}', '--dataset=mine', '--workdir=runs/it', '--device=cpu',
             '--config.training.steps_per_epoch=1', '--config.model.image_size=24', '--config.model.ch=2']  # fmt: skip
    tf.config.run_functions_eagerly(True)
    try:
        code, told = _typed(*words, '--config.training.save_every=1')
        assert code == 0, told
        assert 'starting from scratch' in told and 'finished: 2 steps' in told and 'memory: ' in told
        code, told = _typed(*words, '--config.training.epochs=4')
        assert code == 0, told
        assert '--config.training.epochs was 2, now 4' in told
    finally:
        tf.config.run_functions_eagerly(False)
    assert CheckpointReader(tmp_path / 'runs' / 'it').location.step == 5
    assert [row['step'] for row in read_rows(tmp_path / 'runs' / 'it' / 'losses.csv')] == ['1', '2', '3', '4']


@pytest.mark.slow
def test_the_smoke_run_on_real_pictures(golden: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """configs/smoke.py as documented, compiled, on the four real pictures three times over."""
    for part, names in (('trainA', ('female_222.jpg', 'female_2321.jpg')), ('trainB', ('0006.png', '3414.png'))):
        (tmp_path / part).mkdir()
        for k in range(3):
            for name in names:
                (tmp_path / part / f'{k}_{name}').write_bytes((golden / 'images' / name).read_bytes())
    command = [sys.executable, 'train.py', SMOKE, f'--dataset={tmp_path}', f'--workdir={tmp_path}/run', '--device=cpu']
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r'step 20 of 40, [\d.]+ it/s, \d+ s left, D ', done.stderr)
    rows = read_rows(tmp_path / 'run' / 'losses.csv')
    assert len(rows) == 40
    for term in ('D_A_loss', 'D_B_loss', 'G_A_cam', 'G_B_cam'):
        first, last = (sum(float(row[term]) for row in part) / 10 for part in (rows[:10], rows[-10:]))
        assert last < first, term
    assert len(list((tmp_path / 'run' / 'samples').iterdir())) == 4
    assert len(list((tmp_path / 'run' / 'tensorboard').iterdir())) == 1
