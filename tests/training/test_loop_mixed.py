"""A run in mixed precision: stopped between any two steps it continues with the same bits, skipped updates included."""

from __future__ import annotations

import dataclasses
import logging
import os
import pathlib
import signal
from typing import Any, Iterator

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from tests.training.tiny_run import checkpoint, make_settings, run, same_run, write_pictures
from ugatit.training.settings import NumericsSettings, Settings
from ugatit.training.table import read_rows

# A scale that is too large at first, so it is settled; after each usable update it doubles, so every other is skipped.
NUMERICS = NumericsSettings('mixed_float16', 'saturate', range_history=2, loss_scale=2.0**7, loss_scale_steps=1)


def _settings(**training: Any) -> Settings:
    return dataclasses.replace(make_settings(epochs=2, **training), numerics=NUMERICS)


@pytest.fixture(autouse=True)
def _eager(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.INFO, 'ugatit')
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.slow
def test_stopped_and_continued_is_the_same_run(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    data = write_pictures(tmp_path / 'tiny')
    assert run(_settings(), data, tmp_path / 'whole') == 0
    stop = lambda done: os.kill(os.getpid(), signal.SIGTERM) if done == 1 else None  # noqa: E731
    assert run(_settings(), data, tmp_path / 'parts', stop) == 128 + signal.SIGTERM
    assert run(_settings(), data, tmp_path / 'parts') == 0
    same_run(tmp_path / 'whole', tmp_path / 'parts')
    _left(tmp_path / 'whole')
    assert 'the generators were not updated: gradients overflowed' in caplog.text
    # The whole run and the first part settled; what was continued did not.
    assert sum('loss scale of the generators was settled' in line for line in caplog.messages) == 2


def _left(workdir: pathlib.Path) -> None:
    """What is to be seen of it afterwards: table, curves, checkpoint."""
    rows = read_rows(workdir / 'losses.csv')
    scales = [float(row['loss_scale_generators']) for row in rows]
    settled = scales[1]
    assert scales == [2 * settled, settled, 2 * settled, settled] and settled < 2.0**7
    assert [float(row['skipped_generators']) for row in rows] == [0, 1, 1, 2]
    assert all(float(row['exponent_generator_B']) == 0 for row in rows)
    stored = checkpoint(workdir)
    assert float(stored.read_one('ugatit/loss_scale/generators/scale')) == settled
    assert int(stored.read_one('ugatit/skipped/generators')) == 2
    history = stored.read_one('ugatit/live_ranges/generator_B/history').numpy()
    assert history.shape[0] == 2 and (history >= 0).all() and history.any()
    assert np.array_equal(stored.read_one('beta1_power'), np.float32(0.5**3))  # as two updates were applied
    if (workdir / 'plots.png').exists():
        with Image.open(workdir / 'plots.png') as image:
            assert image.size == (1200, 1050)


def test_settings_choose_what_a_run_needs() -> None:
    assert NumericsSettings().ranges == 'auto'
    device = type('Here', (), {'native_float16': False, 'adapt': staticmethod(lambda build: build)})()
    settings = make_settings()
    architecture, variants = settings.model.architecture, settings.model.load_variants()

    def columns(**numerics: Any) -> tuple:
        return NumericsSettings(**numerics).make_precision(architecture, variants, device).columns

    assert columns() == columns(precision='mixed_bfloat16') == ()
    assert 'exponent_generator_B' in columns(precision='mixed_float16')
    assert 'exponent_generator_B' in columns(ranges='live')
    plain = columns(precision='mixed_float16', ranges='none')
    assert 'loss_scale_generators' in plain and 'exponent_generator_B' not in plain
