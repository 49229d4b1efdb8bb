"""State in and out: an official run continues, our own run continues, and half a state is refused."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.training.golden_runs import Case
from tests.training.tiny import TINY, differing, make_batch, make_images, make_training, snapshot
from ugatit.checkpoints import CheckpointReader, checkpoint_factory, model_name, save_checkpoint
from ugatit.errors import UserError
from ugatit.nn.build import Build
from ugatit.training.networks import build_networks
from ugatit.training.objective import Objective
from ugatit.training.optimiser import make_optimisers
from ugatit.training.schedule import counter_after, steps_done_at
from ugatit.training.state import assign_state, official_state
from ugatit.training.step import TrainingStep
from ugatit.training.update import Training, update_both


def test_an_official_run_continues_with_the_official_next_step(golden: pathlib.Path) -> None:
    """Everything that the official Saver wrote is restored, bit for bit, and the next losses are the official ones."""
    case = Case(golden, 'natural_lsgan_light_b1')
    reader = CheckpointReader(golden / 'checkpoints' / case.json['base_checkpoint'])
    training = case.training()
    state = official_state(training)
    assert set(state) == set(reader.variables())
    for name, stored in reader.read(state).items():
        assert np.array_equal(state[name], stored), name
    for adam in training.optimisers:
        assert all(np.any(value.numpy()) for value in list(adam.named_variables.values())[:4])
    steps_done = steps_done_at(reader.location.step)
    assert counter_after(steps_done) == reader.location.step
    batches = [tuple(tf.constant(case.arrays[f'in/run{run}/{domain}']) for domain in 'AB') for run in (0, 1)]
    tf.config.run_functions_eagerly(True)
    try:
        losses = TrainingStep(training)(steps_done, *batches)
    finally:
        tf.config.run_functions_eagerly(False)
    recorded = case.json['records'][0]
    for name, value in {**recorded['D_run'], **recorded['G_run']}.items():
        np.testing.assert_allclose(losses[name], value, rtol=tolerances.TRAINING_LOSS)


def _restored(path: pathlib.Path) -> Training:
    factory = checkpoint_factory(CheckpointReader(path))
    networks = build_networks(TINY, lambda scope: Build(factory=factory))
    return Training(networks, make_optimisers(networks, factory), Objective('wgan-gp'))


def test_our_own_run_continues_bit_for_bit(tmp_path: pathlib.Path) -> None:
    training = make_training(gan_type='wgan-gp')
    for k in range(2):
        update_both(training, make_batch(make_images(k), k))
    save_checkpoint(tmp_path, model_name(light=True), counter_after(2), official_state(training))
    restored = _restored(tmp_path)
    assert differing(snapshot(training), snapshot(restored)) == []
    losses = [update_both(each, make_batch(make_images(2), 2)) for each in (training, restored)]
    assert {k: v.numpy() for k, v in losses[0].items()} == {k: v.numpy() for k, v in losses[1].items()}
    assert differing(snapshot(training), snapshot(restored)) == []


def test_half_a_state_is_refused_before_anything_changes() -> None:
    training = make_training()
    before = snapshot(training)
    weights = {name: value + 1 for name, value in before.items() if not name.endswith(('Adam', 'Adam_1'))}
    with pytest.raises(UserError, match='did not arrive, first generator_B/conv/conv2d/kernel/Adam'):
        assign_state(training, weights)
    assert differing(before, snapshot(training)) == []
