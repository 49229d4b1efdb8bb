"""The traced step: fused equals separate to the last bit, and what each kind of step updates."""

from __future__ import annotations

import dataclasses
from typing import Dict, Iterator, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.training.tiny import differing, make_batch, make_images, make_training, snapshot
from ugatit.training.schedule import Schedule
from ugatit.training.state import assign_state
from ugatit.training.step import TrainingStep, exact_graphs
from ugatit.training.update import Training, update_both, update_discriminators, update_generators

STEPS = 3
State = Dict[str, np.ndarray]


@pytest.fixture(scope='module', params=['lsgan', pytest.param('wgan-gp', marks=pytest.mark.slow)])
def traced(request: pytest.FixtureRequest) -> Tuple[TrainingStep, State]:
    """A step whose functions are traced once for all tests, and the state it starts from."""
    training = make_training(gan_type=request.param)
    return TrainingStep(training), snapshot(training)


@pytest.fixture
def eagerly() -> Iterator[None]:
    """Runs traced functions eagerly: quicker for a single step."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def _fused(step: TrainingStep, start: State) -> Tuple[State, list]:
    assign_state(step.training, start)
    losses = [{name: v.numpy() for name, v in step(k, make_images(k)).items()} for k in range(STEPS)]
    return snapshot(step.training), losses


def test_fused_step_equals_separate_calls_bit_for_bit(traced: Tuple[TrainingStep, State]) -> None:
    """Weights, `u`, moments, powers and losses of three steps; and a control in the wrong order, which must differ."""
    step, start = traced
    fused, fused_losses = _fused(step, start)
    assign_state(step.training, start)
    for k in range(STEPS):
        batch = step.batch(k, make_images(k))
        with exact_graphs():
            losses = {**step.discriminators(batch), **step.generators(batch)}
        assert {name: v.numpy() for name, v in losses.items()} == fused_losses[k]
    assert differing(snapshot(step.training), fused) == []

    assign_state(step.training, start)
    for k in range(STEPS):
        batch = step.batch(k, make_images(k))
        with exact_graphs():
            step.generators(batch)  # judged by the discriminators before their update: wrong
            step.discriminators(batch)
    assert len(differing(snapshot(step.training), fused)) > len(fused) // 2


def test_traced_equals_eager_but_for_rounding(traced: Tuple[TrainingStep, State]) -> None:
    step, start = traced
    _, fused_losses = _fused(step, start)
    assign_state(step.training, start)
    losses = update_both(step.training, step.batch(0, make_images(0)))
    for name, value in losses.items():
        np.testing.assert_allclose(value, fused_losses[0][name], rtol=tolerances.TRAINING_LOSS)


@pytest.mark.parametrize('before', [True, False])
@pytest.mark.parametrize('name', ['arithmetic_optimization', 'constant_folding'])
def test_each_grappler_option_is_put_back(name: str, before: bool) -> None:
    def option() -> bool:
        return tf.config.optimizer.get_experimental_options()[name]

    tf.config.optimizer.set_experimental_options({name: before})
    with pytest.raises(RuntimeError), exact_graphs():
        assert option() is False
        raise RuntimeError
    assert option() is before
    tf.config.optimizer.set_experimental_options({name: True})


def _changed(training: Training, before: State) -> set:
    return {name.split('/')[0].rstrip('_AB') for name in differing(before, snapshot(training))}


def test_n_critic_leaves_generators_their_moments_and_powers_alone(eagerly: None) -> None:
    training = make_training()
    step = TrainingStep(training, Schedule(n_critic=2))
    d_only = {'discriminator', 'beta1_power_1', 'beta2_power_1'}
    for k, changes in enumerate([d_only | {'generator', 'beta1_power', 'beta2_power'}, d_only] * 2):
        before = snapshot(training)
        losses = step(k, make_images(k))
        assert _changed(training, before) == changes
        assert ('Generator_loss' in losses) == ('generator' in changes) and 'Discriminator_loss' in losses


def test_two_batches_are_the_official_order(eagerly: None) -> None:
    first, second = make_images(1), make_images(2)
    training, separate = make_training(), make_training()
    losses = TrainingStep(training)(0, first, second)
    expected = update_discriminators(separate, make_batch(first))
    expected.update(update_generators(separate, make_batch(second)))
    assert {k: v.numpy() for k, v in losses.items()} == {k: v.numpy() for k, v in expected.items()}
    assert differing(snapshot(training), snapshot(separate)) == []


def test_the_rate_is_the_schedules(eagerly: None) -> None:
    """Beyond the end it is 0: moments move, weights stay."""
    training = make_training()
    before = snapshot(training)
    TrainingStep(training, Schedule(epochs=2, steps_per_epoch=5, decay_epoch=1))(10, make_images())
    changed = differing(before, snapshot(training))
    assert {name for name in changed if training.networks.named_variables.get(name) is not None} == {
        name for name in before if name.endswith('/u') and name in changed
    }
    assert any(name.endswith('/Adam') for name in changed)


def test_recomputed_fakes_change_no_bit(eagerly: None) -> None:
    trainings = [make_training() for _ in range(2)]
    recomputing = dataclasses.replace(trainings[1], recompute=True)
    losses = [update_both(training, make_batch(make_images())) for training in (trainings[0], recomputing)]
    assert differing(*(snapshot(training) for training in trainings)) == []
    assert {k: v.numpy() for k, v in losses[0].items()} == {k: v.numpy() for k, v in losses[1].items()}
