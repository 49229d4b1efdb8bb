"""Warnings that come once, with a remedy, and memory that is told before it runs out."""

from __future__ import annotations

import logging
from typing import List

import numpy as np
import pytest

from tests import tolerances
from ugatit.checkpoints import network_names
from ugatit.errors import UserError
from ugatit.nn.architecture import Architecture
from ugatit.training.memory import check_memory, estimate_memory, free_memory
from ugatit.training.settings import Settings, TrainingSettings
from ugatit.training.watch import CHANCE, Watch, require_finite

SETTINGS = TrainingSettings(warn_after=20)


@pytest.fixture(autouse=True)
def _log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, 'ugatit')


def _warnings(caplog: pytest.LogCaptureFixture) -> List[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_a_cam_term_at_chance(caplog: pytest.LogCaptureFixture) -> None:
    """1386.3 with the official weight: the reported 'stuck around 1200 to 1500'."""
    assert round(CHANCE * 1000.0, 1) == 1386.3
    watch = Watch(SETTINGS)
    for step in range(1, 60):
        watch.losses(step, {'G_A_cam': 1386.0, 'G_B_cam': 1386.0 if step % 19 else 1200.0})
    assert len(_warnings(caplog)) == 1
    assert 'step 20: G_A_cam has been at 1386.0, which is chance' in _warnings(caplog)[0]
    assert 'Check that trainA and trainB really differ' in _warnings(caplog)[0]


def test_a_discriminator_at_zero_loss(caplog: pytest.LogCaptureFixture) -> None:
    watch = Watch(SETTINGS)
    for step in range(1, 60):
        watch.losses(step, {'D_A_gan': 0.5, 'D_B_gan': 1e-6})
    assert len(_warnings(caplog)) == 1 and 'D_B_gan has been at 1e-06 for 20 steps' in _warnings(caplog)[0]


def test_no_false_alarm(caplog: pytest.LogCaptureFixture) -> None:
    """Wasserstein losses may be 0, a switched-off CAM term is 0, terms may be missing, and losses move."""
    for settings in (
        TrainingSettings(warn_after=20, gan_type='wgan-gp', cam_weight=0.0),
        TrainingSettings(warn_after=20, adversarial_weight=0.0, cam_weight=0.0),
    ):
        watch = Watch(settings)
        for step in range(1, 60):
            watch.losses(step, {'D_A_gan': 0.0, 'G_A_cam': 0.0})
            watch.losses(step, {'D_A_gan': 0.0})
    assert _warnings(caplog) == []


def test_a_generator_that_copies(caplog: pytest.LogCaptureFixture) -> None:
    watch = Watch(SETTINGS)
    pictures = np.random.RandomState(0).uniform(-1, 1, [2, 8, 8, 3])
    for step in (10, 20, 30):
        watch.sample(step, 'generator_B', pictures, pictures + 0.01)
        watch.sample(step, 'generator_A', pictures, pictures + 0.1)
    assert len(_warnings(caplog)) == 1
    assert 'step 20: generator_B only copies its input (mean difference 0.010' in _warnings(caplog)[0]
    assert '--config.training.cycle_weight' in _warnings(caplog)[0]


def test_a_loss_that_is_not_finite_is_named_with_its_step() -> None:
    require_finite({'a': 1.0, 'b': -3e38}, 1)
    with pytest.raises(UserError, match='^step 7: b = inf, c = nan; the run stops'):
        require_finite({'a': 1.0, 'b': float('inf'), 'c': float('nan')}, 7)


def test_the_estimate_of_the_full_model_is_the_known_one() -> None:
    """8.05 GB with Adam's slots; the light model and fewer channels need what the remedies promise."""
    full = estimate_memory(Architecture(), 1)
    assert abs(full.state / 8.05e9 - 1) < tolerances.MEMORY_STATE
    count = sum(int(np.prod(shape)) for shape in network_names(Architecture()).values())
    assert full.state == 3 * 4 * count
    for smaller in (Architecture(light=True), Architecture(ch=32), Architecture(image_size=128)):
        assert estimate_memory(smaller, 1).total < full.total / 1.9, smaller
    assert estimate_memory(Architecture(), 3).step > 1.4 * full.step


@pytest.mark.parametrize(
    ('light', 'size', 'ch', 'batch', 'measured'),
    [(True, 64, 64, 1, 3.1), (True, 128, 32, 1, 3.1), (True, 128, 64, 1, 6.6), (True, 128, 64, 2, 7.6),
     (True, 256, 32, 1, 4.6), (True, 256, 64, 1, 7.9), (False, 64, 64, 1, 3.8), (False, 128, 64, 1, 8.7)],
)  # fmt: skip
def test_the_estimate_is_near_what_was_measured(light: bool, size: int, ch: int, batch: int, measured: float) -> None:
    """GB of whole processes, plain steps on a CPU: docs/memory.md."""
    architecture = Architecture(size, ch, n_dis=6 if size >= 96 else 5, light=light)
    assert abs(estimate_memory(architecture, batch).total / (measured * 1e9) - 1) < tolerances.MEMORY_ESTIMATE


def test_too_little_memory_names_the_three_remedies(caplog: pytest.LogCaptureFixture) -> None:
    estimate = estimate_memory(Architecture(), 1)
    with pytest.raises(UserError, match=r'8.0 GB .* but 4.0 GB are free on the cpu; use .*light=True.*ch.*image_size'):
        check_memory(estimate, 4 * 10**9, 'cpu')
    check_memory(estimate, 10 * 10**9, 'cpu')
    assert (
        'it may run out of memory; if it does, use --config.training.recompute=True, or --config.model.light=True'
        in _warnings(caplog)[0]
    )
    for plenty in (64 * 10**9, None):
        check_memory(estimate, plenty, 'gpu')
    assert len(_warnings(caplog)) == 1


def test_free_memory_is_known_here() -> None:
    assert free_memory('cpu') is None or 10**8 < free_memory('cpu') < 10**14


@pytest.mark.parametrize(
    ('section', 'field', 'value', 'told'),
    [
        ('training', 'epochs', 0, 'training.epochs must be at least 1, but 0 arrived'),
        ('training', 'batch_size', 0, 'training.batch_size must be at least 1'),
        ('training', 'cycle_weight', -1.0, 'training.cycle_weight must be 0 or more'),
        ('training', 'seed', -1, 'training.seed must be 0 or more'),
        ('data', 'cache_share', 2.0, 'data.cache_share must be between 0 and 1'),
        ('data', 'samples', 0, 'data.samples must be at least 1'),
        ('data', 'colour', 0, 'data has no colour; it has name, train_a'),
    ],
)
def test_bad_settings_name_their_field(section: str, field: str, value: object, told: str) -> None:
    with pytest.raises(UserError, match=told):
        Settings.from_sections({section: {field: value}})
    with pytest.raises(UserError, match='config has no trainin'):
        Settings.from_sections({'trainin': {}})
