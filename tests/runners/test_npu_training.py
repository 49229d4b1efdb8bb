"""Training on an NPU, through the stand-in of the adapter: whom an overflow is charged to, reports, and resuming."""

from __future__ import annotations

import dataclasses
import logging
import os
import pathlib
import signal
from typing import Any, Callable, Iterator

import numpy as np
import pytest
import tensorflow as tf

from tests.npu_stub.scope import ATTRIBUTE
from tests.runners.npu_support import adapter_fixture  # noqa: F401
from tests.training.tiny import TINY, differing, make_images, snapshot
from tests.training.tiny_run import make_settings, same_run, write_pictures
from ugatit.nn.build import Build
from ugatit.nn.policy import make_policy
from ugatit.nn.variables import seeded
from ugatit.runners import NpuSettings, open_runner
from ugatit.training.mixed import RANGES
from ugatit.training.networks import build_networks
from ugatit.training.objective import Objective
from ugatit.training.optimiser import make_optimisers
from ugatit.training.precision import MixedPrecision
from ugatit.training.run import train
from ugatit.training.settings import NumericsSettings, Settings
from ugatit.training.step import TrainingStep
from ugatit.training.table import read_rows
from ugatit.training.update import Training

POLICY = make_policy('mixed_float16', 'saturate')


@pytest.fixture(name='eagerly')
def eager_fixture() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def _training(runner: Any, loss_scale: float = 16.0, following: bool = True) -> Training:
    with runner.scope():
        settings = {} if following else {'following': None}
        precision = MixedPrecision(runner.adapt(Build(POLICY)).policy, TINY, loss_scale=loss_scale, **settings)
        precision.restore({'ugatit/loss_scale/generators/scale': np.float32(loss_scale)})  # as in the middle of a run
        networks = build_networks(
            TINY, lambda scope: runner.adapt(Build(precision.policy, precision.scaling(scope), factory=seeded(5)))
        )
        return Training(networks, make_optimisers(networks), Objective(), precision=precision, device=runner)


def _owners(training: Training, before: Any) -> set:
    """Whose weights or slots changed; `u` advances with every update."""
    names = [name for name in differing(before, snapshot(training)) if not name.endswith('/u')]
    return {name.partition('_')[0] for name in names if not name.startswith('beta')}


def _charged(training: Training) -> None:
    """Gradients of one pair overflow: the register, cleared and read between the updates, blames no other."""
    step, scales = TrainingStep(training), training.precision.scales
    for k, owner in enumerate(('generators', 'discriminators')):
        other = {'generators': 'discriminators', 'discriminators': 'generators'}[owner]
        scales[owner].scale.assign(2.0**24)
        scales[other].scale.assign(16.0)
        before = snapshot(training)
        results = step(k, make_images(k))
        assert (float(results[f'skipped_{owner}']), float(results[f'skipped_{other}'])) == (1.0, float(k)), owner
        assert _owners(training, before) == {other[: -len('s')]}
        assert (float(scales[owner].scale), float(scales[other].scale)) == (2.0**23, 16.0)


def test_an_overflow_is_charged_to_its_own_optimiser(
    adapter: Any, eagerly: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger='ugatit'):
        _charged(_training(open_runner('npu', POLICY)))
    for owner in ('generators', 'discriminators'):
        assert f'the {owner} were not updated: gradients overflowed, the loss scale was halved' in caplog.text


@pytest.mark.slow
def test_a_compiled_update(adapter: Any) -> None:
    """The discriminators' alone: compiling both takes a minute and a half. It was done, with the same outcome."""
    training = _training(open_runner('npu', POLICY), following=False)
    step, scale = TrainingStep(training), training.precision.scales['discriminators'].scale
    batch = step.batch(0, make_images())
    for value, skipped in ((2.0**24, 1.0), (16.0, 0.0)):
        scale.assign(value)
        before = snapshot(training)
        assert float(step.discriminators(batch)['skipped_discriminators']) == skipped
        assert _owners(training, before) == ({'discriminator'} if not skipped else set())
    nodes = step.discriminators.get_concrete_function(batch).graph.as_graph_def().node  # the one that has just run
    assert 'MirrorPad' not in {node.op for node in nodes}
    assert {'Square', 'Sqrt', 'RealDiv'} <= {node.op for node in nodes if ATTRIBUTE in node.attr}


def test_a_value_that_overflows_is_no_gradients_fault(adapter: Any, eagerly: None) -> None:
    """A kernel a thousand times larger: saturated values look like any other, and only the register tells."""
    training = _training(open_runner('npu', POLICY), following=False)
    kernel = training.networks.named_variables['generator_B/conv/conv2d/kernel']
    kernel.assign(kernel * 1e8)
    before, scales = snapshot(training), training.precision.scales
    step = TrainingStep(training)
    results = step.both(step.batch(0, make_images()))
    assert [float(results[f'skipped_{owner}']) for owner in ('generators', 'discriminators')] == [RANGES, RANGES]
    assert not _owners(training, before)
    assert float(scales['generators'].scale) == float(scales['discriminators'].scale) == 16.0


def _settings(loss_scale: float) -> Settings:
    numerics = NumericsSettings('mixed_float16', 'saturate', loss_scale=loss_scale, loss_scale_steps=3)
    return dataclasses.replace(make_settings(epochs=5), numerics=numerics)


def _run(data: pathlib.Path, workdir: pathlib.Path, after: Callable[[int], Any] = lambda step: None) -> int:
    settings = _settings(2.0**8)  # too large for the generators' gradients: settled, and too large again after it grew
    runner = open_runner('npu', settings.numerics.policy, settings.model.load_variants(), NpuSettings())
    return train(settings, str(data), str(workdir), runner, make_pace=lambda done, total: lambda step, _: after(step))


@pytest.mark.slow
def test_ten_steps_with_skipped_ones_stopped_and_continued(
    adapter: Any, eagerly: None, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = write_pictures(tmp_path / 'tiny')
    with caplog.at_level(logging.INFO, logger='ugatit'):
        assert _run(data, tmp_path / 'whole') == 0
    rows = read_rows(tmp_path / 'whole' / 'losses.csv')
    assert len(rows) == 10
    skipped = [float(row['skipped_generators']) for row in rows]
    assert skipped[0] == 0 and 1 <= skipped[-1] < 10
    assert 'the loss scale of the generators was settled at' in caplog.text
    assert 'the generators were not updated: gradients overflowed' in caplog.text
    stop = lambda done: os.kill(os.getpid(), signal.SIGTERM) if done == 4 else None  # noqa: E731
    assert _run(data, tmp_path / 'parts', stop) == 128 + signal.SIGTERM
    assert _run(data, tmp_path / 'parts') == 0
    same_run(tmp_path / 'whole', tmp_path / 'parts')
    assert adapter.options.changed() == {'precision_mode': 'allow_fp32_to_fp16', 'deterministic': 1}
    assert adapter.calls[:2] == ['open 0', 'as_default'] and 'clear' in adapter.calls
