"""Updates in mixed precision: what is skipped, who is charged for it, and that exponents change no bit of float32."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, Iterator, List

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.training.tiny import TINY, differing, make_batch, make_images, snapshot
from ugatit.errors import UserError
from ugatit.nn.build import Build
from ugatit.nn.policy import make_policy
from ugatit.nn.presets import load_variants, preset_names
from ugatit.nn.variables import seeded
from ugatit.ranges.follow import Following
from ugatit.training.device import Device
from ugatit.training.mixed import GRADIENTS, PENALTY, RANGES
from ugatit.training.networks import build_networks, make_fakes
from ugatit.training.objective import Objective, discriminator_losses, home_losses
from ugatit.training.optimiser import make_optimisers
from ugatit.training.precision import FullPrecision, MixedPrecision
from ugatit.training.skips import MOST_IN_A_ROW
from ugatit.training.step import TrainingStep
from ugatit.training.update import Training, update_both, update_discriminators, update_generators


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
    """In the middle of a run: its scales are not settled any more."""
    settings = {'loss_scale': 16.0, **settings}
    precision = MixedPrecision(make_policy(name, overflow), TINY, load_variants(variants), **settings)
    precision.restore({'ugatit/loss_scale/generators/scale': np.float32(settings['loss_scale'])})
    return precision


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


class _Register(Device):
    """A status that stays raised from one of its reads on. A penalty reads it twice for each of eight gradients."""

    has_status = True

    def __init__(self, raised_after: int) -> None:
        self.reads, self._raised_after = 0, raised_after

    def overflowed(self, after: Any) -> tf.Tensor:
        self.reads += 1
        return tf.constant(self.reads > self._raised_after)


@pytest.mark.parametrize(
    ('raised_after', 'reason'), [(0, GRADIENTS), (1, PENALTY), (2, GRADIENTS), (15, PENALTY), (16, GRADIENTS)]
)
def test_a_status_that_an_inner_gradient_raised_is_the_penaltys(eagerly: None, raised_after: int, reason: int) -> None:
    device = _Register(raised_after)
    precision = mixed(following=None)
    training = dataclasses.replace(make(precision, 'wgan-gp'), device=device)
    losses = update_discriminators(training, make_batch(make_images()))
    assert device.reads == 17 and float(losses['skipped_discriminators']) == reason
    blamed = 'penalty' if reason == PENALTY else 'discriminators'
    assert _scales(precision) == {**dict.fromkeys(precision.scales, 16.0), blamed: 8.0}


class _Clearing(Device):
    """Notes the operations that clear the status."""

    has_status = True

    def __init__(self) -> None:
        self.clears: List[tf.Operation] = []

    def clear_status(self) -> List[Any]:
        self.clears.append(tf.no_op())
        return self.clears[-1:]

    def overflowed(self, after: Any) -> tf.Tensor:
        return tf.constant(False)


@pytest.mark.slow
def test_all_that_comes_after_the_pause_comes_after_the_second_clearing() -> None:
    """In a graph: only the fakes are convolved before it, and no gradient is."""
    device = _Clearing()
    precision = MixedPrecision(make_policy('float32'), TINY, following=None)
    training = dataclasses.replace(make(precision), device=device)
    batch = make_batch(make_images())
    graph = _traced(lambda: update_generators(training, batch))
    fakes = _traced(lambda: make_fakes(training.networks, *batch[:2], training.call()).b.image)
    forward = sum(op.type == 'Conv2D' for op in fakes.get_operations())
    first, second = (_following(graph, op) for op in device.clears)
    convolutions = [op for op in graph.get_operations() if op.type.startswith('Conv2D') or op.type == 'MatMul']
    assert sum(op.type == 'Conv2D' for op in convolutions if op in first and op not in second) == forward
    early = [op.name for op in convolutions if op not in second and op.type != 'Conv2D']
    assert all('discriminator' not in name and 'gradient' not in name for name in early), early


def _traced(function: Callable[[], Any]) -> tf.Graph:
    return tf.function(function, autograph=False).get_concrete_function().graph


def _following(graph: tf.Graph, start: tf.Operation) -> set:
    """Everything that is computed after an operation."""
    found = {start}
    for op in graph.get_operations():  # in order of creation, so inputs come first
        if any(before in found for before in [*op.control_inputs, *(x.op for x in op.inputs)]):
            found.add(op)
    return found


def test_the_first_gradients_settle_the_scales(eagerly: None, caplog: pytest.LogCaptureFixture) -> None:
    """They are halved before the first update, which then has the bits of a run that began with these scales."""
    caplog.set_level('INFO', 'ugatit')
    precision = MixedPrecision(make_policy('mixed_float16', 'saturate'), TINY, loss_scale=2.0**7)
    training = make(precision)
    results = TrainingStep(training)(0, make_images())
    assert float(results['skipped_generators']) == float(results['skipped_discriminators']) == 0.0
    scales = _scales(precision)
    assert scales == {'discriminators': 2.0**7, 'penalty': 2.0**7, 'generators': scales['generators']}
    assert 1.0 <= scales['generators'] < 2.0**7
    assert f'of the generators was settled at {scales["generators"]:g}' in caplog.text
    control = mixed(loss_scale=2.0**7)
    _assign_scales(control, generators=scales['generators'])
    other = make(control)
    TrainingStep(other)(0, make_images())
    assert differing(snapshot(training), snapshot(other)) == []


def test_a_penaltys_scale_is_settled_too(eagerly: None) -> None:
    """In an update of the discriminators alone, as `n_critic` has them."""
    precision = MixedPrecision(make_policy('mixed_float16', 'saturate'), TINY, loss_scale=16.0)
    _assign_scales(precision, penalty=2.0**9)
    training, batch = make(precision, 'wgan-gp'), make_batch(make_images())
    before = snapshot(training)
    precision.prepare(dict, lambda: update_discriminators(training, batch))
    assert _changed(training, before) == set()
    assert float(update_discriminators(training, batch)['skipped_discriminators']) == 0.0
    scales = _scales(precision)
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
    assert differing(*snapshots) == [] and _scales(fresh) == dict.fromkeys(fresh.scales, 16.0)
    assert 'settled' not in caplog.text and int(fresh.scales['generators'].good_steps.numpy()) == 1


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
    _assign_scales(precision, generators=2.0**24)
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


def _steps(precision: FullPrecision, steps: int, gan_type: str = 'lsgan') -> Any:
    training = make(precision, gan_type)
    step = TrainingStep(training)
    losses = [{name: float(value) for name, value in step(k, make_images(k)).items()} for k in range(steps)]
    return snapshot(training), losses


@pytest.mark.slow
@pytest.mark.parametrize('gan_type', ['lsgan', 'wgan-gp'])
def test_float32_with_live_ranges_is_float32_bit_for_bit(gan_type: str) -> None:
    """20 compiled steps: weights, slots, powers, `u` and losses, with exponents that change at every step."""
    expected, losses = _steps(FullPrecision(), 20, gan_type)
    settings = {'following': Following(4, 14.0)}
    live = _Live(make_policy('float32'), TINY, **settings)
    found, live_losses = _steps(live, 20, gan_type)
    assert differing(expected, found) == []
    assert [{name: row[name] for name in expected_row} for row, expected_row in zip(live_losses, losses)] == losses
    assert max(max(follower.by_group.values()) for follower in live.followers.values()) > 5
    if gan_type == 'wgan-gp':
        return  # a second-order gradient takes long to compile: one control is enough
    control = _Live(make_policy('float32'), TINY, **settings)
    control.thirds = True
    assert len(differing(expected, _steps(control, 2)[0])) > len(expected) // 2
