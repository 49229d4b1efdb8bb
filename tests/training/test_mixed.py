"""Updates in mixed precision: what is skipped, and who is charged for it."""

from __future__ import annotations

from typing import Dict, Iterator, List

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.training.mixed_runs import assign_scales, changed, make, mixed, scales_of
from tests.training.tiny import TINY, differing, make_batch, make_images, snapshot
from ugatit.errors import UserError
from ugatit.nn.policy import make_policy
from ugatit.nn.presets import preset_names
from ugatit.training.mixed import GRADIENTS, PENALTY, RANGES
from ugatit.training.networks import make_fakes
from ugatit.training.objective import discriminator_losses, home_losses
from ugatit.training.precision import FullPrecision, MixedPrecision
from ugatit.training.skips import MOST_IN_A_ROW
from ugatit.training.step import TrainingStep
from ugatit.training.update import Training, update_both, update_discriminators


@pytest.fixture
def eagerly() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.parametrize('overflow', ['saturate', 'ieee'])
def test_an_overflow_of_one_pair_is_charged_to_it_alone(eagerly: None, overflow: str) -> None:
    """Weights, slots, powers and rho of the skipped pair keep their bits; the other pair trains."""
    for owner, other in (('generators', 'discriminators'), ('discriminators', 'generators')):
        precision = mixed(overflow=overflow)
        training = make(precision)
        rho = training.networks.named_variables['generator_B/layer_ins_norm_0/rho']
        rho.assign([1.5] * rho.shape[0])  # an update would clip it
        assign_scales(precision, **{owner: 2.0**24})
        before = snapshot(training)
        results = TrainingStep(training)(0, make_images())
        assert float(results[f'skipped_{owner}']) == 1.0 and float(results[f'skipped_{other}']) == 0.0
        assert changed(training, before) == {other[: -len('s')], 'powers'}
        changed_powers = {name for name in differing(before, snapshot(training)) if name.startswith('beta')}
        assert changed_powers == ({'beta1_power_1', 'beta2_power_1'} if owner == 'generators' else
                                  {'beta1_power', 'beta2_power'})  # fmt: skip
        assert float(rho.numpy().max()) == (1.5 if owner == 'generators' else 1.0)
        assert scales_of(precision) == {'penalty': 16.0, other: 16.0, owner: 2.0**23}
        assert precision.skipped_now


def test_an_inner_gradient_has_its_own_scale(eagerly: None) -> None:
    precision = mixed()
    training = make(precision, 'wgan-gp')
    assign_scales(precision, penalty=2.0**24)
    before = snapshot(training)
    reports: List[float] = []
    losses = update_discriminators(training, make_batch(make_images()))
    reports.append(float(losses['skipped_discriminators']))
    assert reports == [PENALTY]
    assert changed(training, before) == set()
    assert scales_of(precision) == {'penalty': 2.0**23, 'generators': 16.0, 'discriminators': 16.0}


def test_an_outer_overflow_is_not_the_inner_gradients(eagerly: None) -> None:
    precision = mixed()
    training = make(precision, 'wgan-gp')
    assign_scales(precision, discriminators=2.0**24)
    losses = update_discriminators(training, make_batch(make_images()))
    assert float(losses['skipped_discriminators']) == GRADIENTS
    assert scales_of(precision) == {'penalty': 16.0, 'generators': 16.0, 'discriminators': 2.0**23}


def test_values_that_overflow_skip_both_and_lower_no_scale(eagerly: None) -> None:
    """A generator whose values jump between two steps: its fakes are wrong, so nobody may learn from them."""
    precision = mixed()
    training = make(precision)
    step = TrainingStep(training)
    step(0, make_images(0))
    kernel = training.networks.named_variables['generator_B/resblock_0/res1/conv_0/conv2d/kernel']
    kernel.assign(kernel * 2.0**20)
    before = snapshot(training)
    results = step(1, make_images(1))
    assert float(results['skipped_generators']) == float(results['skipped_discriminators']) == 1.0
    assert changed(training, before) == set()
    assert scales_of(precision) == dict.fromkeys(precision.scales, 16.0)
    assert max(precision.followers['generator_B'].by_group.values()) > 0
    assert max(precision.followers['generator_A'].by_group.values()) == 0
    results = [step(k, make_images(k)) for k in (2, 3)][-1]
    assert float(results['skipped_generators']) <= 2.0 and not precision.skipped_now


def test_the_first_step_is_prepared_for(eagerly: None) -> None:
    """Weights that would overflow at once: a profile before the first step finds exponents, and nothing is skipped."""
    precision = mixed()
    training = make(precision)
    kernel = training.networks.named_variables['generator_B/resblock_0/res1/conv_0/conv2d/kernel']
    kernel.assign(kernel * 2.0**24)
    before = {name: value for name, value in snapshot(training).items()}
    step = TrainingStep(training)
    precision.prepare(lambda: step._measure(step.batch(0, make_images())), dict)
    assert differing(before, snapshot(training)) == []
    assert precision.followers['generator_B'].by_group['resblock_0/res1/conv_0'] > 4
    results = step(0, make_images())
    assert float(results['skipped_generators']) == float(results['skipped_discriminators']) == 0.0


def test_plain_float16_without_ranges_learns_something_else(eagerly: None) -> None:
    """Saturated values, finite gradients, nothing skipped, and gradients that are not those of float32; planned ones
    are."""
    moments = {}
    for name, precision in (('float32', FullPrecision()), ('planned', mixed()), ('plain', mixed(following=None))):
        training = make(precision)
        kernel = training.networks.named_variables['generator_B/resblock_0/res1/conv_0/conv2d/kernel']
        kernel.assign(kernel * 2.0**24)
        results = TrainingStep(training)(0, make_images())
        assert float(results.get('skipped_generators', 0.0)) == 0.0
        state = snapshot(training).items()
        moments[name] = np.concatenate(
            [value.ravel() for name, value in state if name.startswith('generator_B') and name.endswith('/Adam')]
        )
    size = np.linalg.norm(moments['float32'])
    off = {name: float(np.linalg.norm(moments[name] - moments['float32']) / size) for name in ('planned', 'plain')}
    assert off['planned'] < tolerances.FLOAT16_GRADIENT and off['plain'] > tolerances.WRONG_GRADIENT, off


def test_a_run_that_only_skips_ends_with_a_sentence(eagerly: None) -> None:
    live, plain, float32 = mixed(), mixed(following=None), MixedPrecision(make_policy('float32'), TINY)
    for precision, told in (
        (live, 'overflowed float16; .* whose guard is planned'),
        (plain, 'overflowed float16; .* Use --config.numerics.ranges=live'),
        (float32, 'is not finite; .* Use a lower --config.training.learning_rate'),
    ):
        skipped = {'skipped_generators': tf.constant(float(RANGES))}
        for step in range(MOST_IN_A_ROW - 1):
            precision.observe(step, skipped)
        with pytest.raises(
            UserError, match=f'{MOST_IN_A_ROW} steps in a row, up to step 100, had an update that {told}'
        ):
            precision.observe(MOST_IN_A_ROW - 1, skipped)


def test_losses_are_looked_at_where_nothing_is_float16(caplog: pytest.LogCaptureFixture) -> None:
    """A NaN would stay: 100 dead steps would follow before the run ends."""
    caplog.set_level('INFO', 'ugatit')
    skipped = {'skipped_generators': tf.constant(float(GRADIENTS))}
    half, float32 = mixed(), MixedPrecision(make_policy('float32'), TINY)
    for precision in (half, float32):
        precision.observe(0, skipped)
    assert half.skipped_now and not float32.skipped_now
    told = [line for line in caplog.messages if line.startswith('step 1')]
    assert 'the loss scale was halved' in told[0] and 'gradients are not finite (1 skipped' in told[1]


def test_what_replicas_average_is_still_a_reason() -> None:
    precision = mixed()
    reported = precision.observe(0, {'skipped_generators': tf.constant(np.float32(2.9999998))})
    assert float(reported['skipped_generators']) == 1.0


def test_running_statistics_of_a_skipped_update_stay(eagerly: None) -> None:
    precision = mixed(variants='batch')
    training = make(precision, variants='batch')
    assign_scales(precision, generators=2.0**24)
    before = snapshot(training)
    assert any('moving_' in name for name in before)
    results = TrainingStep(training)(0, make_images())
    assert float(results['skipped_generators']) == 1.0
    assert [name for name in differing(before, snapshot(training)) if name.startswith('generator')] == []


def _losses(training: Training) -> Dict[str, float]:
    """Of one step, those that no update comes before; forward passes alone."""
    networks, call, batch = training.networks, training.call(), make_batch(make_images())
    fakes = make_fakes(networks, batch.images_a, batch.images_b, call)
    reals, judged = {'A': batch.images_a, 'B': batch.images_b}, {'A': fakes.a.image, 'B': fakes.b.image}
    found = discriminator_losses(training.objective, networks, reals, judged, dict.fromkeys('AB'), call)
    for domain, generator, away in (('A', networks.generator_a, judged['B']), ('B', networks.generator_b, judged['A'])):
        found.update(home_losses(training.objective, domain, generator, reals[domain], away, call))
    return {name: float(value) for name, value in found.items() if float(value)}


@pytest.mark.parametrize('variants', preset_names())
def test_every_variant_trains(eagerly: None, variants: str) -> None:
    precision = mixed(variants=variants, loss_scale=1.0)
    training = make(precision, variants=variants)
    before = snapshot(training)
    losses = update_both(training, make_batch(make_images()))
    assert float(losses['skipped_generators']) == float(losses['skipped_discriminators']) == 0.0
    expected = _losses(make(FullPrecision(), variants=variants))
    off = {name: abs(float(losses[name]) / value - 1.0) for name, value in expected.items()}
    assert len(off) >= 8 and max(off.values()) < tolerances.FLOAT16_LOSS, off
    assert len(differing(before, snapshot(training))) > len(before) // 2
