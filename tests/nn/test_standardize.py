"""x_hat of `plain`, `float32` and `prescaled` against float64 of the *rounded* input, in every precision."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import reference, tolerances
from tests.nn.weights import deviation
from ugatit.nn.norm import EPSILON
from ugatit.nn.policy import FLOAT32_POLICY, PRECISIONS, Policy, make_policy
from ugatit.nn.standardize import INSTANCE_AXES, LAYER_AXES, STATISTICS, plain, prescaled

POLICIES = {
    f'{name}, {overflow}': make_policy(name, overflow)
    for name in PRECISIONS
    for overflow in ('ieee', 'saturate')
    if (name, overflow) != ('mixed_bfloat16', 'saturate')
}
FLOAT16 = make_policy('float16', 'ieee')
SATURATING = make_policy('float16', 'saturate')
AXES = {'instance': INSTANCE_AXES, 'layer': LAYER_AXES}


def _checkerboard(amplitude: float) -> np.ndarray:
    signs = np.indices((8, 8)).sum(0) % 2 * 2.0 - 1.0
    return amplitude * signs[np.newaxis, :, :, np.newaxis] * np.ones([1, 1, 1, 3])


def _normal(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).normal(size=shape)


def _spike() -> np.ndarray:
    """+-1e-2 in three channels, and one value of 1e4 in the first of them."""
    x = _checkerboard(1e-2)
    x[0, 3, 4, 0] = 1e4
    return x


INPUTS: Dict[str, Callable[[], np.ndarray]] = {
    **{f'checkerboard of {a:g}': lambda a=a: _checkerboard(a) for a in (1e-6, 1e-3, 1.0, 512.0, 60000.0)},
    **{f'amplitude {a:g}': lambda a=a: a * _normal(2, 16, 16, 8) for a in 10.0 ** np.arange(-7, 5)},
    'amplitude 60000': lambda: 60000.0 * np.random.RandomState(0).uniform(-1, 1, [2, 16, 16, 8]),
    'a spike of 1e4 among 1e-2': _spike,
    'channels from 1e-5 to 1.5e4': lambda: _normal(2, 16, 16, 8) * [1e-5, 1e-3, 0.1, 1, 10, 1e3, 1e4, 1.5e4],
    'mean 60000, deviation 30': lambda: 60000.0 + 30.0 * _normal(2, 16, 16, 8),
    'one channel': lambda: _normal(1, 4, 4, 1),
    'one pixel': lambda: _normal(1, 1, 1, 8),
}


def _stored(x: np.ndarray, policy: Policy) -> tf.Tensor:
    return policy.vector(tf.constant(x, tf.float32))


def _error(statistics: str, x: np.ndarray, axes: Tuple[int, ...], policy: Policy) -> float:
    stored = _stored(x, policy)
    found = STATISTICS[statistics](stored, axes, EPSILON, policy).numpy()
    return deviation(found, reference.standardize(stored.numpy(), axes))


def _allowed(policy: Policy) -> float:
    return tolerances.X_HAT_FLOAT16 if policy.vector_format.significand_bits == 11 else tolerances.X_HAT_FLOAT32


@pytest.mark.parametrize('axes', AXES)
@pytest.mark.parametrize('name', INPUTS)
def test_prescaled_is_right_in_every_precision(name: str, axes: str):
    x = INPUTS[name]()
    for policy in POLICIES.values():
        assert _error('prescaled', x, AXES[axes], policy) <= _allowed(policy), policy.name


@pytest.mark.parametrize('mean', [0.0, 3000.0, 3001.0])
def test_prescaled_is_right_on_a_large_map(mean: float):
    x = mean + _normal(1, 257, 256, 64)
    for policy in (FLOAT32_POLICY, SATURATING):
        for axes in AXES.values():
            assert _error('prescaled', x, axes, policy) <= _allowed(policy)


@pytest.mark.parametrize('policy', POLICIES)
@pytest.mark.parametrize('value', [0.0, 1e-8, 1e-6, 1e-3, 1.0, 3001.0, 60000.0, 65504.0])
def test_a_constant_gives_exactly_zero(value: float, policy: str):
    x = _stored(np.full([1, 9, 7, 3], value), POLICIES[policy])
    for axes in AXES.values():
        assert np.all(prescaled(x, axes, EPSILON, POLICIES[policy]).numpy() == 0.0)


@pytest.mark.parametrize('policy', POLICIES)
def test_a_checkerboard_of_512_gives_exactly_one(policy: str):
    x = _checkerboard(512.0)
    for axes in AXES.values():
        found = prescaled(_stored(x, POLICIES[policy]), axes, EPSILON, POLICIES[policy]).numpy()
        assert np.array_equal(found, np.sign(x))


@pytest.mark.parametrize('policy', POLICIES)
def test_small_channels_beside_a_spike_keep_their_epsilon(policy: str):
    """Their variance is 1e-4, ten epsilons: x_hat is 1 / sqrt(1.1), and would be 1 without epsilon."""
    x = _stored(_spike(), POLICIES[policy])
    found = np.abs(prescaled(x, INSTANCE_AXES, EPSILON, POLICIES[policy]).numpy()[..., 1:])
    assert np.allclose(found, 1.1**-0.5, rtol=5 * tolerances.X_HAT_FLOAT16)


def test_plain_float16_gives_wrong_values_that_are_finite():
    """Squares of 512 saturate to 65504 (x_hat 2 instead of 1) or become inf (x_hat 0): finite both, and wrong."""
    x = _checkerboard(512.0)
    for policy, expected in ((SATURATING, 2.0), (FLOAT16, 0.0)):
        found = plain(_stored(x, policy), INSTANCE_AXES, EPSILON, policy).numpy()
        assert np.isfinite(found).all()
        assert np.allclose(np.abs(found), expected, atol=2 * tolerances.X_HAT_FLOAT16)


@pytest.mark.parametrize('amplitude', [1e3, 1e4])
def test_plain_float16_is_wrong_for_large_amplitudes(amplitude: float):
    x = amplitude * _normal(1, 16, 16, 4)
    for policy in (FLOAT16, SATURATING):
        assert _error('plain', x, INSTANCE_AXES, policy) > tolerances.X_HAT_SQUARES_OVERFLOW
        assert _error('float32', x, INSTANCE_AXES, policy) <= tolerances.X_HAT_FLOAT16


def test_a_float16_mean_leaves_a_residual():
    """Float16 has a spacing of 2 at 3001, so the mean is off by 1, a whole deviation."""
    x = 3001.0 + _normal(1, 64, 64, 4)
    assert _error('plain', x, LAYER_AXES, SATURATING) > tolerances.X_HAT_FLOAT16_MEAN
    assert _error('prescaled', x, LAYER_AXES, SATURATING) <= tolerances.X_HAT_FLOAT16


def test_a_float32_mean_of_many_large_values_is_no_better_than_its_sum():
    """The decision in standardize.py: `plain` and `float32` keep the official arithmetic, `prescaled` recentres.

    TensorFlow adds the rows of a channel one after another: at 3001, 65,792 of them put x_hat off by 3 % of its largest
    value in 2.21 and by 44 % in 2.6.5.
    """
    x = 3001.0 + _normal(1, 257, 256, 8)
    errors = {name: _error(name, x, INSTANCE_AXES, FLOAT32_POLICY) for name in STATISTICS}
    print({name: f'{error:.1e}' for name, error in errors.items()})
    assert errors['plain'] == errors['float32'] > tolerances.X_HAT_FLOAT32_MEAN
    assert errors['prescaled'] <= tolerances.X_HAT_FLOAT32


@pytest.mark.parametrize('statistics', STATISTICS)
@pytest.mark.parametrize('exponent', [-9, -1, 1, 13, 20])
def test_a_power_of_two_changes_no_bit(statistics: str, exponent: int):
    """x * s with epsilon * s**2 gives the same x_hat: what range exponents rest on."""
    x = tf.constant(1e-3 * _normal(2, 9, 7, 5), tf.float32)  # a variance of a tenth of epsilon, so that epsilon counts
    policies = (FLOAT32_POLICY, make_policy('float16').floor())  # formats in which the scaled input fits
    for policy in policies:
        for axes in AXES.values():
            expected = STATISTICS[statistics](x, axes, EPSILON, policy)
            scale = 2.0**exponent
            for epsilon in (EPSILON * scale**2, tf.constant(EPSILON, tf.float32) * scale**2):
                assert np.array_equal(STATISTICS[statistics](x * scale, axes, epsilon, policy), expected)


@pytest.mark.parametrize('statistics', STATISTICS)
def test_another_factor_and_a_stale_epsilon_do_change_bits(statistics: str):
    """The controls of the test above."""
    x = tf.constant(1e-3 * _normal(2, 9, 7, 5), tf.float32)
    for axes in AXES.values():
        expected = STATISTICS[statistics](x, axes, EPSILON, FLOAT32_POLICY)
        for scale, epsilon in ((3.0, 9 * EPSILON), (8.0, EPSILON)):
            assert not np.array_equal(STATISTICS[statistics](x * scale, axes, epsilon, FLOAT32_POLICY), expected)


@pytest.mark.parametrize('policy', ['float16, ieee', 'float16, saturate'])
@pytest.mark.parametrize('exponent', [-6, 3, 12])
def test_a_power_of_two_changes_no_bit_in_float16_while_the_input_fits(exponent: int, policy: str):
    x = _stored(_normal(2, 9, 7, 5), POLICIES[policy])
    scale = 2.0**exponent
    found = prescaled(x * scale, INSTANCE_AXES, EPSILON * scale**2, POLICIES[policy])
    expected = prescaled(x, INSTANCE_AXES, EPSILON, POLICIES[policy])
    subnormal = np.abs(x.numpy()) < 2.0 ** (-14 - min(exponent, 0))  # there a smaller scale drops bits
    assert np.array_equal(found.numpy()[~subnormal], expected.numpy()[~subnormal])


def _gradient(statistics: str, x: tf.Tensor, policy: Policy) -> np.ndarray:
    weights = tf.constant(np.random.RandomState(1).normal(size=x.shape), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(weights * STATISTICS[statistics](x, INSTANCE_AXES, EPSILON, policy))
    return tape.gradient(loss, x).numpy()


@pytest.mark.parametrize('name', [name for name in INPUTS if not name.startswith('mean')])
def test_the_gradient_is_that_of_the_plain_computation(name: str):
    """The powers of two have no gradient of their own, and need none: x_hat does not depend on them."""
    x = tf.constant(INPUTS[name](), tf.float32)
    found, expected = _gradient('prescaled', x, FLOAT32_POLICY), _gradient('plain', x, FLOAT32_POLICY)
    largest = np.abs(expected).max()
    assert np.abs(found - expected).max() <= tolerances.X_HAT_GRADIENT * max(largest, 1e-6)


@pytest.mark.parametrize('policy', POLICIES)
def test_gradients_are_finite_everywhere(policy: str):
    constants = {f'constant {value:g}': np.full([1, 6, 5, 2], value) for value in (0.0, 1e-8, 1.0, 65504.0)}
    for name, x in {**constants, **{name: make() for name, make in INPUTS.items()}}.items():
        gradient = _gradient('prescaled', _stored(x, POLICIES[policy]), POLICIES[policy])
        assert np.isfinite(gradient).all(), name


@pytest.mark.parametrize('statistics', STATISTICS)
def test_a_value_that_is_not_finite_stays_visible(statistics: str):
    """With ieee an overflow before the norm must not be normalised away."""
    x = _normal(1, 6, 5, 2).astype(np.float32)
    x[0, 2, 3, 0] = np.inf
    found = STATISTICS[statistics](tf.constant(x), INSTANCE_AXES, EPSILON, FLOAT16).numpy()
    assert np.isnan(found[..., 0]).any() and np.isfinite(found[..., 1]).all()


@pytest.mark.parametrize('statistics', STATISTICS)
def test_everything_is_stored_in_the_vector_format(statistics: str):
    kept = {}

    def keep(suffix: str, x: tf.Tensor, power: int) -> tf.Tensor:
        kept[suffix] = x.numpy()
        return x

    x_hat = STATISTICS[statistics](
        tf.constant(_normal(1, 6, 5, 2), tf.float32), INSTANCE_AXES, EPSILON, SATURATING, keep
    )
    inner = {} if statistics == 'float32' else kept  # whose statistics are wider on purpose
    for value in (x_hat.numpy(), *inner.values()):
        assert np.array_equal(value, value.astype(np.float16).astype(np.float32))
