"""Scales settle by the first step's gradients before anything counts."""

from __future__ import annotations

from typing import Iterator

import pytest
import tensorflow as tf

from tests.training.mixed_runs import assign_scales, changed, make, mixed, scales_of
from tests.training.tiny import TINY, differing, make_batch, make_images, snapshot
from ugatit.nn.policy import make_policy
from ugatit.training.precision import MixedPrecision
from ugatit.training.step import TrainingStep
from ugatit.training.update import update_discriminators


@pytest.fixture
def eagerly() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def test_the_first_gradients_settle_the_scales(eagerly: None, caplog: pytest.LogCaptureFixture) -> None:
    """They are halved before the first update, which then has the bits of a run that began with these scales."""
    caplog.set_level('INFO', 'ugatit')
    precision = MixedPrecision(make_policy('mixed_float16', 'saturate'), TINY, loss_scale=2.0**7)
    training = make(precision)
    results = TrainingStep(training)(0, make_images())
    assert float(results['skipped_generators']) == float(results['skipped_discriminators']) == 0.0
    scales = scales_of(precision)
    assert scales == {'discriminators': 2.0**7, 'penalty': 2.0**7, 'generators': scales['generators']}
    assert 1.0 <= scales['generators'] < 2.0**7
    assert f'of the generators was settled at {scales["generators"]:g}' in caplog.text
    control = mixed(loss_scale=2.0**7)
    assign_scales(control, generators=scales['generators'])
    other = make(control)
    TrainingStep(other)(0, make_images())
    assert differing(snapshot(training), snapshot(other)) == []


def test_a_penaltys_scale_is_settled_too(eagerly: None) -> None:
    """In an update of the discriminators alone, as `n_critic` has them."""
    precision = MixedPrecision(make_policy('mixed_float16', 'saturate'), TINY, loss_scale=16.0)
    assign_scales(precision, penalty=2.0**9)
    training, batch = make(precision, 'wgan-gp'), make_batch(make_images())
    before = snapshot(training)
    precision.prepare(dict, lambda: update_discriminators(training, batch))
    assert changed(training, before) == set()
    assert float(update_discriminators(training, batch)['skipped_discriminators']) == 0.0
    scales = scales_of(precision)
    assert scales == {'discriminators': 16.0, 'penalty': scales['penalty'], 'generators': 16.0}
    assert scales['penalty'] < 2.0**9


def test_scales_that_fit_stay_and_change_no_bit(eagerly: None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level('INFO', 'ugatit')
    fresh = MixedPrecision(make_policy('mixed_float16', 'saturate'), TINY, loss_scale=16.0)
    running = mixed()
    snapshots = []
    for precision in (fresh, running):
        training = make(precision)
        TrainingStep(training)(0, make_images())
        snapshots.append(snapshot(training))
    assert differing(*snapshots) == [] and scales_of(fresh) == dict.fromkeys(fresh.scales, 16.0)
    assert 'settled' not in caplog.text and int(fresh.scales['generators'].good_steps.numpy()) == 1
