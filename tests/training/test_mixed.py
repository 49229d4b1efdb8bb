"""Updates in mixed precision: what is skipped, who is charged for it, and that exponents change no bit of float32."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

import numpy as np
import pytest
import tensorflow as tf

from tests.training.tiny import TINY, differing, make_batch, make_images, snapshot
from ugatit.errors import UserError
from ugatit.nn.build import Build
from ugatit.nn.policy import make_policy
from ugatit.nn.presets import load_variants, preset_names
from ugatit.nn.variables import seeded
from ugatit.ranges.follow import Following
from ugatit.training.mixed import GRADIENTS, PENALTY, RANGES
from ugatit.training.networks import build_networks
from ugatit.training.objective import Objective
from ugatit.training.optimiser import make_optimisers
from ugatit.training.precision import MOST_SKIPPED, FullPrecision, MixedPrecision
from ugatit.training.step import TrainingStep
from ugatit.training.update import Training, update_both, update_discriminators


@pytest.fixture
def eagerly() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def make(precision: FullPrecision, gan_type: str = 'lsgan', variants: str = 'default', seed: int = 5) -> Training:
    chosen = load_variants(variants)

    def build(scope: str) -> Build:
        return Build(precision.policy, precision.scaling(scope), chosen, seeded(seed))

    networks = build_networks(TINY, build)
    return Training(networks, make_optimisers(networks), Objective(gan_type), precision=precision)


def mixed(
    name: str = 'mixed_float16', overflow: str = 'saturate', variants: str = 'default', **settings: Any
) -> MixedPrecision:
    settings = {'loss_scale': 16.0, **settings}
    return MixedPrecision(make_policy(name, overflow), TINY, load_variants(variants), **settings)


def _assign_scales(precision: MixedPrecision, **scales: float) -> None:
    for owner, value in scales.items():
        precision.scales[owner].scale.assign(value)


def _scales(precision: MixedPrecision) -> Dict[str, float]:
    return {owner: float(scale.scale.numpy()) for owner, scale in precision.scales.items()}


def _changed(training: Training, before: Dict[str, np.ndarray]) -> set:
    """The kinds of networks whose weights, slots or powers changed; `u` advances with every update, usable or not."""
    names = [name for name in differing(before, snapshot(training)) if not name.endswith('/u')]
    return {'powers' if 'power' in name else name.split('_')[0] for name in names}


@pytest.mark.parametrize('overflow', ['saturate', 'ieee'])
def test_an_overflow_of_one_pair_is_charged_to_it_alone(eagerly: None, overflow: str) -> None:
    """Weights, slots, powers and rho of the skipped pair keep their bits; the other pair trains."""
    for owner, other in (('generators', 'discriminators'), ('discriminators', 'generators')):
        precision = mixed(overflow=overflow)
        training = make(precision)
        rho = training.networks.named_variables['generator_B/layer_ins_norm_0/rho']
        rho.assign([1.5] * rho.shape[0])  # an update would clip it
        _assign_scales(precision, **{owner: 2.0**24})
        before = snapshot(training)
        results = TrainingStep(training)(0, make_images())
        assert float(results[f'skipped_{owner}']) == 1.0 and float(results[f'skipped_{other}']) == 0.0
        assert _changed(training, before) == {other[: -len('s')], 'powers'}
        changed_powers = {name for name in differing(before, snapshot(training)) if name.startswith('beta')}
        assert changed_powers == ({'beta1_power_1', 'beta2_power_1'} if owner == 'generators' else
                                  {'beta1_power', 'beta2_power'})  # fmt: skip
        assert float(rho.numpy().max()) == (1.5 if owner == 'generators' else 1.0)
        assert _scales(precision) == {'penalty': 16.0, other: 16.0, owner: 2.0**23}
        assert precision.skipped_now


def test_an_inner_gradient_has_its_own_scale(eagerly: None) -> None:
    precision = mixed()
    training = make(precision, 'wgan-gp')
    _assign_scales(precision, penalty=2.0**24)
    before = snapshot(training)
    reports: List[float] = []
    losses = update_discriminators(training, make_batch(make_images()))
    reports.append(float(losses['skipped_discriminators']))
    assert reports == [PENALTY]
    assert _changed(training, before) == set()
    assert _scales(precision) == {'penalty': 2.0**23, 'generators': 16.0, 'discriminators': 16.0}


def test_an_outer_overflow_is_not_the_inner_gradients(eagerly: None) -> None:
    precision = mixed()
    training = make(precision, 'wgan-gp')
    _assign_scales(precision, discriminators=2.0**24)
    losses = update_discriminators(training, make_batch(make_images()))
    assert float(losses['skipped_discriminators']) == GRADIENTS
    assert _scales(precision) == {'penalty': 16.0, 'generators': 16.0, 'discriminators': 2.0**23}


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
    assert _changed(training, before) == set()
    assert _scales(precision) == dict.fromkeys(precision.scales, 16.0)
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
    precision.prepare(lambda: step._measure(step.batch(0, make_images())))
    assert differing(before, snapshot(training)) == []
    assert precision.followers['generator_B'].by_group['resblock_0/res1/conv_0'] > 4
    results = step(0, make_images())
    assert float(results['skipped_generators']) == float(results['skipped_discriminators']) == 0.0


def test_plain_float16_without_ranges_sees_nothing_of_it(eagerly: None) -> None:
    """The control: saturated values, finite gradients, and an update that is wrong."""
    precision = mixed(following=None)
    training = make(precision)
    kernel = training.networks.named_variables['generator_B/resblock_0/res1/conv_0/conv2d/kernel']
    kernel.assign(kernel * 2.0**24)
    results = TrainingStep(training)(0, make_images())
    assert float(results['skipped_generators']) == 0.0


def test_a_run_that_only_skips_ends_with_a_sentence(eagerly: None) -> None:
    precision = mixed()
    for step in range(MOST_SKIPPED - 1):
        precision.observe(step, {'skipped_generators': tf.constant(float(RANGES))})
    with pytest.raises(UserError, match=f'{MOST_SKIPPED} steps in a row had an update that overflowed float16'):
        precision.observe(MOST_SKIPPED, {'skipped_generators': tf.constant(float(RANGES))})


def test_running_statistics_of_a_skipped_update_stay(eagerly: None) -> None:
    precision = mixed(variants='batch')
    training = make(precision, variants='batch')
    _assign_scales(precision, generators=2.0**24)
    before = snapshot(training)
    assert any('moving_' in name for name in before)
    results = TrainingStep(training)(0, make_images())
    assert float(results['skipped_generators']) == 1.0
    assert [name for name in differing(before, snapshot(training)) if name.startswith('generator')] == []


@pytest.mark.parametrize('variants', preset_names())
def test_every_variant_trains(eagerly: None, variants: str) -> None:
    precision = mixed(variants=variants, loss_scale=1.0)
    training = make(precision, variants=variants)
    before = snapshot(training)
    losses = update_both(training, make_batch(make_images()))
    assert float(losses['skipped_generators']) == float(losses['skipped_discriminators']) == 0.0
    assert all(np.isfinite(value).all() for value in losses.values() if value.shape.rank == 0)
    assert len(differing(before, snapshot(training))) > len(before) // 2


class _Thirds:
    """The control: scaling that is exact for no value."""

    planned = True

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def apply(self, value: tf.Tensor, rule: Any) -> tf.Tensor:
        return self._inner.apply(value, rule) * 3.0 * (1.0 / 3.0)


class _Live(MixedPrecision):
    """Exponents that really move: little room, so that ordinary values need some, and another need at every step."""

    thirds = False

    def scaling(self, scope: str) -> Any:
        scaling = super().scaling(scope)
        return _Thirds(scaling) if self.thirds else scaling

    def observe(self, steps_done: int, results: Any) -> Any:
        found = super().observe(steps_done, results)
        for scope, follower in self.followers.items():
            follower.exponents = np.random.RandomState([steps_done, len(scope)]).randint(
                0, 12, len(follower.meter.groups)
            ).astype(np.int32)  # fmt: skip
        self._assign()
        return found


def _twenty_steps(precision: FullPrecision, steps: int) -> Any:
    training = make(precision)
    step = TrainingStep(training)
    losses = [{name: float(value) for name, value in step(k, make_images(k)).items()} for k in range(steps)]
    return snapshot(training), losses


@pytest.mark.slow
def test_float32_with_live_ranges_is_float32_bit_for_bit() -> None:
    """20 compiled steps: weights, slots, powers, `u` and losses, with exponents that change at every step."""
    expected, losses = _twenty_steps(FullPrecision(), 20)
    settings = {'following': Following(4, 14.0)}
    live = _Live(make_policy('float32'), TINY, **settings)
    found, live_losses = _twenty_steps(live, 20)
    assert differing(expected, found) == []
    assert [{name: row[name] for name in expected_row} for row, expected_row in zip(live_losses, losses)] == losses
    assert max(max(follower.by_group.values()) for follower in live.followers.values()) > 5
    control = _Live(make_policy('float32'), TINY, **settings)
    control.thirds = True
    assert len(differing(expected, _twenty_steps(control, 2)[0])) > len(expected) // 2
