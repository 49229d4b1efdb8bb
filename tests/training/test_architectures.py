"""Every shape of network trains: depths, widths, without CAM, without spectral norm, full and light."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Sequence

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.training.golden_runs import all_losses, has_true_gradient_zero
from tests.training.tiny import TINY, differing, make_batch, make_images, make_training, snapshot
from ugatit.checkpoints import official_names
from ugatit.nn.network import Network
from ugatit.training.state import official_state
from ugatit.training.update import Batch, Training, update_both, update_discriminators, update_generators

SHAPES: Dict[str, Dict[str, Any]] = {
    'n_res_2': {'n_res': 2},
    'n_res_4_ch_4': {'n_res': 4, 'ch': 4},
    'n_res_6': {'n_res': 6},
    'ch_8': {'ch': 8},
    'full': {'light': False},
    'n_dis_5': {'n_dis': 5, 'image_size': 48},
    'no_smoothing': {'smoothing': False},
    'no_spectral_norm': {'sn': False},
    'no_cam_in_generators': {'cam_generator': False},
    'no_cam_in_discriminators': {'cam_discriminator': False},
    'no_cam': {'cam_generator': False, 'cam_discriminator': False},
}


# The penalty is the discriminators' affair: generators' shapes need not be tried with it again.
PENALISED = ('full', 'n_res_4_ch_4', 'n_dis_5', 'no_spectral_norm', 'no_cam_in_discriminators', 'no_cam')
CASES = [pytest.param(SHAPES[name], 'lsgan', id=f'lsgan-{name}') for name in SHAPES] + [
    pytest.param(SHAPES[name], 'wgan-gp', id=f'wgan-gp-{name}', marks=pytest.mark.slow) for name in PENALISED
]


@pytest.mark.parametrize(('changes', 'gan_type'), CASES)
def test_one_step(changes: Dict[str, Any], gan_type: str) -> None:
    """The fused step equals its two halves bit for bit, and Adam got the autodiff of the whole sum of losses."""
    architecture = dataclasses.replace(TINY, **changes)
    training, twin = (make_training(architecture, gan_type) for _ in range(2))
    before, batch = snapshot(training), make_batch(make_images(size=architecture.image_size))
    losses = update_both(training, batch)
    assert float(losses['D_A_penalty']) == 0.0 or gan_type == 'wgan-gp'
    for term in ('G_A_cam', 'G_B_cam'):
        assert (float(losses[term]) == 0.0) == (not architecture.cam_generator)
    moments = _whole_sum(twin, batch, 'Discriminator_loss', twin.networks.discriminators)
    update_discriminators(twin, batch)
    moments.update(_whole_sum(twin, batch, 'Generator_loss', twin.networks.generators))
    update_generators(twin, batch)
    after = snapshot(training)
    assert differing(after, snapshot(twin)) == []
    for name, moment in moments.items():
        if has_true_gradient_zero(name):
            continue  # both sides hold rounding noise alone
        distance = np.linalg.norm(after[f'{name}/Adam'] - moment)
        assert distance <= tolerances.TRAINING_GRADIENT * np.linalg.norm(moment) + ROUNDING, name
    assert _unmoved(training, before) == []


ROUNDING = tolerances.TRAINING_LOSS_ABSOLUTE  # of gradients that are zero in truth


def _whole_sum(training: Training, batch: Batch, total: str, networks: Sequence[Network]) -> Dict[str, np.ndarray]:
    """Adam's first moment after a first update, (1 - beta1) * gradient, by autodiff of one loss over everything."""
    variables = {name: v for network in networks for name, v in network.named_variables.items() if v.trainable}
    with tf.GradientTape() as tape:
        loss = all_losses(training, batch)[total]
    slopes = tape.gradient(loss, list(variables.values()), unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return {name: 0.5 * slope.numpy() for name, slope in zip(variables, slopes)}


def _unmoved(training: Any, before: Dict[str, np.ndarray]) -> list:
    """Trainable variables whose first moment is still zero: a gradient that never arrived."""
    moved = differing(before, snapshot(training))
    return [
        name
        for name, variable in training.networks.named_variables.items()
        if variable.trainable and f'{name}/Adam' not in moved and not _may_be_zero(name)
    ]


def _may_be_zero(name: str) -> bool:
    """Wasserstein's derivative is the same on real and fake, so a bias that only shifts a logit has gradient 0; rho at
    its limit under smoothing has none; and encoder biases in front of a normalisation have rounding noise at most."""
    return name.endswith(('D_logit/bias', 'CAM_logit/bias', 'rho', 'conv2d/bias'))


@pytest.mark.parametrize('changes', [{}, {'light': False}, {'sn': False}, {'n_res': 2}])
def test_the_state_has_the_official_names_in_the_official_order(changes: Dict[str, Any]) -> None:
    architecture = dataclasses.replace(TINY, **changes)
    state = official_state(make_training(architecture))
    want = official_names(architecture)
    assert list(state) == list(want)
    assert [tuple(variable.shape) for variable in state.values()] == list(want.values())
    assert all(variable.name == f'{name}:0' for name, variable in state.items())
