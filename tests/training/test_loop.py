"""The loop: stopped, continued or failed at any point, a run ends with the bits of one that never stopped."""

from __future__ import annotations

import logging
import os
import pathlib
import shutil
import signal
from typing import Any, Callable, Dict, Iterator

import numpy as np
import pytest
import tensorflow as tf

from tests.training.tiny_run import checkpoint, make_settings, run, same_run, stored, write_pictures
from ugatit.checkpoints import official_names
from ugatit.errors import UserError
from ugatit.training.step import TrainingStep
from ugatit.training.stop import stop_on_signals
from ugatit.training.table import read_rows


@pytest.fixture(autouse=True)
def _eager(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Compiling takes longer than all steps here; tests/training/test_loop_slow.py compiles."""
    caplog.set_level(logging.INFO, 'ugatit')
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.fixture(scope='module')
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_pictures(tmp_path_factory.mktemp('pictures') / 'tiny')


@pytest.fixture(scope='module')
def whole(data: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The work directory of eight steps without a stop."""
    workdir = tmp_path_factory.mktemp('whole')
    tf.config.run_functions_eagerly(True)
    assert run(make_settings(), data, workdir) == 0
    return workdir


def _signal_at(step: int, number: int = signal.SIGTERM) -> Callable[[int], Any]:
    return lambda done: os.kill(os.getpid(), number) if done == step else None


def test_four_steps_a_sigterm_and_four_more_equal_eight(
    data: pathlib.Path, whole: pathlib.Path, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    """At an odd step, where no checkpoint was due; losses, learning rates, weights, slots and powers, all bits."""
    assert run(make_settings(), data, tmp_path, _signal_at(3)) == 128 + signal.SIGTERM
    assert 'stopped at step 3 of 8, saved; the same command continues' in caplog.text
    assert [row['step'] for row in read_rows(tmp_path / 'losses.csv')] == ['1', '2', '3']
    assert run(make_settings(), data, tmp_path) == 0
    same_run(whole, tmp_path)
    rates = [float(row['learning_rate']) for row in read_rows(tmp_path / 'losses.csv')]
    np.testing.assert_allclose(rates, np.repeat([1e-4, 1e-4, 2e-4 / 3, 1e-4 / 3], 2))


def test_the_full_model_with_batches_of_two_and_everything_unusual(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Flattening MLP, wgan-gp's random numbers, two critic steps, a batch of its own for the generators."""
    settings = make_settings(
        {'light': False}, epochs=3, steps_per_epoch=1, batch_size=2, n_critic=2, two_batches=True, gan_type='wgan-gp'
    )
    assert run(settings, data, tmp_path / 'whole') == 0
    assert run(settings, data, tmp_path / 'parts', _signal_at(1, signal.SIGINT)) == 128 + signal.SIGINT
    assert run(settings, data, tmp_path / 'parts') == 0
    same_run(tmp_path / 'whole', tmp_path / 'parts')


def test_another_seed_is_another_run(data: pathlib.Path, whole: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The control of the comparisons above: they can fail."""
    assert run(make_settings(seed=4), data, tmp_path, _signal_at(1)) == 128 + signal.SIGTERM
    first = [read_rows(each / 'losses.csv')[0]['G_A_cycle'] for each in (whole, tmp_path)]
    assert first[0] != first[1]


def test_what_a_run_leaves(whole: pathlib.Path) -> None:
    names = {path.name for path in whole.iterdir()}
    assert {'config.json', 'variants.txt', 'losses.csv', 'samples', 'tensorboard', 'checkpoints'} <= names
    assert sorted(path.name for path in (whole / 'samples').iterdir()) == ['a2b_00000008.png', 'b2a_00000008.png']
    reader = checkpoint(whole)
    assert reader.location.name == 'UGATIT_light.model-9'
    assert reader.location.folder.name == 'UGATIT_light_tiny_lsgan_1resblock_4dis_1_1_10_10_1000_sn_smoothing'
    assert len(list(reader.location.folder.glob('*.index'))) == 3
    assert set(official_names(make_settings().model.architecture)) < set(reader.variables())
    sidecar = reader.sidecar()
    assert sidecar['steps_done'] == 8 and sidecar['settings'] == make_settings().to_json()
    assert sidecar['variants_table'] and sidecar['variants']['name'] == 'default'
    assert int(reader.read_one('ugatit/training/seed')) == 3


def test_a_finished_run_says_so_and_touches_nothing(
    data: pathlib.Path, whole: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.rglob('*')}
    assert run(make_settings(), data, whole) == 0
    assert 'already at step 8 of 8: nothing to do; raise --config.training.epochs' in caplog.text
    assert {path: path.stat().st_mtime_ns for path in whole.rglob('*')} == before


def test_a_finished_run_gets_the_plots_that_it_lacks(data: pathlib.Path, whole: pathlib.Path, tmp_path) -> None:
    pytest.importorskip('matplotlib')
    shutil.copytree(whole, tmp_path / 'run')
    drawn = (tmp_path / 'run' / 'plots.png').read_bytes()
    (tmp_path / 'run' / 'plots.png').unlink()
    assert run(make_settings(), data, tmp_path / 'run') == 0
    assert (tmp_path / 'run' / 'plots.png').read_bytes() == drawn


def test_a_changed_schedule_is_reported_and_ends_nothing_silently(
    data: pathlib.Path, whole: pathlib.Path, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(whole, tmp_path / 'run')
    run(make_settings(steps_per_epoch=1, cycle_weight=5.0), data, tmp_path / 'run')
    assert '--config.training.steps_per_epoch was 2, now 1' in caplog.text
    assert '--config.training.cycle_weight was 10.0, now 5.0' in caplog.text
    assert '8 steps were planned, now 4; 8 are done' in caplog.text
    assert 'already at step 8 of 4' in caplog.text


def test_another_network_in_the_same_folder_is_refused(data: pathlib.Path, whole: pathlib.Path) -> None:
    for model, told in (({'ch': 4}, 'has ch 2, but the config says ch 4'), ({'light': False}, 'light True')):
        with pytest.raises(UserError, match=told):
            run(make_settings(model), data, whole)


def test_init_from_takes_weights_alone(data: pathlib.Path, whole: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """With a learning rate that moves nothing, one step keeps the weights; Adam has only that step behind it."""
    settings = make_settings(learning_rate=1e-30)
    run(settings, data, tmp_path, _signal_at(1), init_from=str(whole / 'checkpoints'))
    before, after = stored(whole), stored(tmp_path)
    kernel = 'generator_B/conv/conv2d/kernel'
    assert after[kernel] == before[kernel]
    assert after[f'{kernel}/Adam'] != before[f'{kernel}/Adam']
    assert np.frombuffer(after['beta1_power'], np.float32) == 0.25
    assert checkpoint(tmp_path).location.name == 'UGATIT_light.model-2'


def test_init_from_with_another_network_is_refused(
    data: pathlib.Path, whole: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(UserError, match='has ch 2, but the config says ch 4; set --config.model'):
        run(make_settings({'ch': 4}), data, tmp_path, init_from=str(whole / 'checkpoints'))


def test_a_loss_that_is_not_finite_stops_the_run_and_is_never_saved(
    data: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute = TrainingStep.__call__

    def broken(self: TrainingStep, step: int, *batch: Any) -> Dict[str, tf.Tensor]:
        """From the second step on: NaN in one loss and in the weights behind it."""
        losses = compute(self, step, *batch)
        if step < 1:
            return losses
        variables = self.training.networks.named_variables
        variables['generator_B/conv/conv2d/bias'].assign([float('nan')] * 2)
        return {**losses, 'G_B_cycle': tf.constant(float('nan'))}

    monkeypatch.setattr(TrainingStep, '__call__', broken)
    with pytest.raises(UserError, match=r'step 2: G_B_cycle = nan; the run stops, and no checkpoint was made of it'):
        run(make_settings(save_every=1), data, tmp_path)
    reader = checkpoint(tmp_path)
    assert reader.location.name == 'UGATIT_light.model-2'
    values = reader.read(name for name, stored in reader.variables().items() if stored.dtype == tf.float32)
    assert all(np.isfinite(value).all() for value in values.values())


def test_an_absurd_learning_rate_ends_at_once(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match='step 1: G_A_gan = nan'):
        run(make_settings(learning_rate=1e30), data, tmp_path)
    assert not (tmp_path / 'checkpoints').exists()


def test_a_folder_that_vanishes_stops_the_run_saved(
    data: pathlib.Path, whole: pathlib.Path, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Pictures that fit into memory are not missed; here they do not. Some steps are made ahead, nothing is lost."""
    shutil.copytree(data, tmp_path / 'tiny')
    settings = make_settings(save_every=100)
    object.__setattr__(settings.data, 'cache_share', 0.0)

    def remove(done: int) -> None:
        if done == 1:
            (tmp_path / 'tiny' / 'trainB').rename(tmp_path / 'away')

    with pytest.raises(UserError, match=r'trainB.*No such file or directory'):
        run(settings, tmp_path / 'tiny', tmp_path / 'run', remove)
    assert 'the run is saved at step' in caplog.text
    with pytest.raises(UserError, match='trainB is missing; found there: trainA/'):
        run(settings, tmp_path / 'tiny', tmp_path / 'run')
    (tmp_path / 'away').rename(tmp_path / 'tiny' / 'trainB')
    assert run(settings, tmp_path / 'tiny', tmp_path / 'run') == 0
    same_run(whole, tmp_path / 'run')


def test_two_processes_in_one_folder_are_refused(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def second(done: int) -> None:
        with pytest.raises(UserError, match='another process trains in'):
            run(make_settings(), data, tmp_path)
        os.kill(os.getpid(), signal.SIGTERM)

    assert run(make_settings(), data, tmp_path, second) == 128 + signal.SIGTERM


def test_a_second_signal_leaves_at_once() -> None:
    before = signal.getsignal(signal.SIGINT)  # a test run in the background may ignore it
    with pytest.raises(KeyboardInterrupt):
        with stop_on_signals() as request:
            os.kill(os.getpid(), signal.SIGINT)
            assert request and request.exit_code == 130
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_official_run_continues(
    golden: pathlib.Path, data: pathlib.Path, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The official code's checkpoint after three steps, without our JSON: steps four and five follow."""
    shutil.copytree(golden / 'checkpoints' / 'train_light_i32_c3_d4', tmp_path / 'checkpoints')
    settings = make_settings({'image_size': 32, 'ch': 3, 'n_res': 4})
    assert run(settings, data, tmp_path, _signal_at(5)) == 128 + signal.SIGTERM
    assert 'the settings of the earlier part are not known' in caplog.text
    reader = checkpoint(tmp_path)
    assert reader.location.name == 'UGATIT_light.model-6'
    powers = float(reader.read_one('beta1_power')), float(reader.read_one('beta1_power_1'))
    assert powers == (0.5**6, 0.5**6)
    assert [row['step'] for row in read_rows(tmp_path / 'losses.csv')] == ['4', '5']
