"""What a run writes beside its checkpoints: the table, TensorBoard's files, strips and plots."""

from __future__ import annotations

import logging
import pathlib
import sys
from typing import Any, Dict, List

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from tests.training.tiny import make_training
from ugatit.training import plots
from ugatit.training.events import EventFile
from ugatit.training.records import TERMS, Records, write_settings
from ugatit.training.samples import COLUMNS, make_strips, rho_values, translators
from ugatit.training.table import LossTable, read_rows


def test_a_table_continues_where_the_checkpoint_was(tmp_path: pathlib.Path) -> None:
    """Steps 3 and 4 were lost with a killed process, which tore the last line: they come once, in order."""
    path = tmp_path / 'losses.csv'
    table = LossTable(path, ['x', 'y'], 0)
    for step in range(1, 5):
        table.write(step, 1e-4, {'x': step / 3} if step % 2 else {'x': step / 3, 'y': 2.0})
    table.close()
    path.write_text(path.read_text() + '5,0.0001,1.6')
    assert [row['step'] for row in read_rows(path)] == ['1', '2', '3', '4']
    table = LossTable(path, ['x', 'y'], 2)
    table.write(3, 5e-5, {'x': 1.0, 'y': 3.0})
    table.close()
    rows = read_rows(path)
    assert [row['step'] for row in rows] == ['1', '2', '3']
    assert rows[0] == {'step': '1', 'learning_rate': '0.0001', 'x': repr(1 / 3), 'y': ''}
    assert float(rows[2]['learning_rate']) == 5e-5


@pytest.mark.parametrize('step', ['²', '٣', '', '-1', '9' * 5000])
def test_a_row_without_a_step_is_no_row(tmp_path: pathlib.Path, step: str) -> None:
    path = tmp_path / 'losses.csv'
    path.write_text(f'step,learning_rate,x\n1,0.1,2\n{step},0.1,2\n', encoding='utf-8')
    assert [row['step'] for row in read_rows(path)] == ['1']


def _events(folder: pathlib.Path) -> List[Any]:
    found = []
    for path in sorted(folder.iterdir()):
        for record in tf.data.TFRecordDataset(str(path)):
            found.append(tf.compat.v1.Event.FromString(record.numpy()))
    return found


def test_tensorboards_files(tmp_path: pathlib.Path) -> None:
    events = EventFile(tmp_path / 'tensorboard', 10)
    events.scalars(11, {'losses/G_A_cam': 1386.5})
    events.image(11, 'samples/a2b', np.full([4, 6, 3], 9, np.uint8))
    events.histograms(11, {'rho/x': np.array([0.0, 0.5, 1.0, 1.0])})
    events.close()
    version, start, scalar, image, histogram = _events(tmp_path / 'tensorboard')
    assert version.file_version == 'brain.Event:2'
    assert start.step == 11 and start.session_log.status == tf.compat.v1.SessionLog.START
    assert scalar.step == 11 and scalar.summary.value[0].tag == 'losses/G_A_cam'
    assert scalar.summary.value[0].simple_value == 1386.5
    decoded = tf.io.decode_png(image.summary.value[0].image.encoded_image_string).numpy()
    assert decoded.shape == (4, 6, 3) and (decoded == 9).all()
    histo = histogram.summary.value[0].histo
    assert (histo.num, histo.sum, histo.min, histo.max) == (4, 2.5, 0.0, 1.0)
    assert sum(histo.bucket) == 4 and len(histo.bucket) == len(histo.bucket_limit)


@pytest.fixture
def records(tmp_path: pathlib.Path) -> Records:
    made = Records(tmp_path, 0)
    for step in range(1, 30):
        made.losses(step, 1e-4, {name: float(step) for name in TERMS})
    made.flush()
    return made


def test_plots(records: Records, tmp_path: pathlib.Path) -> None:
    pytest.importorskip('matplotlib')
    records.plots()
    with Image.open(tmp_path / 'plots.png') as image:
        assert image.size == (1200, 700)
    steps, values = plots._thinned(np.stack([np.arange(100_000.0)] * 2))
    assert len(steps) == 500 and np.allclose(steps, values) and steps[0] > 0


def test_without_matplotlib_a_line_and_no_crash(
    records: Records, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, 'ugatit')
    monkeypatch.setattr(plots, '_told', False)
    for name in ('matplotlib', 'matplotlib.figure', 'matplotlib.backends', 'matplotlib.backends.backend_agg'):
        monkeypatch.setitem(sys.modules, name, None)
    records.plots()
    records.plots()
    assert not (tmp_path / 'plots.png').exists()
    assert len([r for r in caplog.records if "pip install -e '.[plots]'" in r.getMessage()]) == 1


def test_strips_show_six_pictures_a_row_and_change_nothing(records: Records, tmp_path: pathlib.Path) -> None:
    training = make_training()
    before: Dict[str, bytes] = {n: v.numpy().tobytes() for n, v in training.networks.named_variables.items()}
    pictures = [np.random.RandomState(k).randint(0, 256, [24, 24, 3]).astype(np.uint8) for k in range(3)]
    strips = make_strips(translators(training.networks, training.device), pictures[:2], pictures[2:])
    assert [strip.direction for strip in strips] == ['a2b', 'b2a']
    assert [strip.network for strip in strips] == ['generator_B', 'generator_A']
    width = 24 * len(COLUMNS) + 2 * (len(COLUMNS) - 1)
    assert [strip.pixels.shape for strip in strips] == [(50, width, 3), (24, width, 3)]
    assert np.array_equal(strips[0].pixels[26:, :24], pictures[1])  # the input comes first
    fake = training.networks.generator_b(tf.constant(strips[0].inputs[:1])).image.numpy()
    assert np.allclose(fake[0], strips[0].fakes[0])
    after = {n: v.numpy().tobytes() for n, v in training.networks.named_variables.items()}
    assert before == after
    rho = rho_values(training.networks)
    assert len(rho) == 2 * (2 * 1 + 2) and all(0 <= values.min() and values.max() <= 1 for values in rho.values())
    records.strips(7, strips, rho)
    assert {path.name for path in (tmp_path / 'samples').iterdir()} == {'a2b_00000007.png', 'b2a_00000007.png'}


def test_settings_and_table_are_written(tmp_path: pathlib.Path) -> None:
    write_settings(tmp_path / 'run', {'training': {'seed': 1}}, ['norm: default'])
    assert '"seed": 1' in (tmp_path / 'run' / 'config.json').read_text()
    assert (tmp_path / 'run' / 'variants.txt').read_text() == 'norm: default\n'
