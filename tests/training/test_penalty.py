"""Gradient penalties on a discriminator whose gradient is known, and the definition of each random number's part."""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from ugatit.nn.call import PLAIN_CALL, Call
from ugatit.training.losses import GAN_LOSSES
from ugatit.training.penalty import PenaltyNoise, gradient_penalty, interpolated, norms, perturbed, stateless_noise

SHAPE = (2, 4, 4, 3)


class Output:
    def __init__(self, logits: Tuple, cam_logits: Tuple) -> None:
        self.logits, self.cam_logits = logits, cam_logits


class Quadratic:
    """Logit maps k * x^2, of which the summed gradient is 2 k x; k is its only variable."""

    def __init__(self, factors: Optional[List[float]] = None, cam: bool = True) -> None:
        self.seen: List[np.ndarray] = []
        self.factors = [tf.Variable(k) for k in factors or [0.1, 0.2, 0.3, 0.4]]
        self._cam = cam

    def __call__(self, x: tf.Tensor, call: Call) -> Output:
        self.seen.append(x.numpy())
        maps = [k * tf.square(x) for k in self.factors]
        return Output(tuple(maps[:2]), tuple(maps[2:]) if self._cam else (None, None))


def _pictures() -> Tuple[tf.Tensor, tf.Tensor, PenaltyNoise]:
    draw = np.random.RandomState(2)
    real, fake, epsilon = (tf.constant(draw.uniform(-1, 1, SHAPE), tf.float32) for _ in range(3))
    return real, fake, PenaltyNoise(tf.reshape(tf.constant([0.25, 0.75]), [2, 1, 1, 1]), epsilon)


def _penalty(gan_type: str, discriminator: Quadratic) -> tf.Tensor:
    real, fake, noise = _pictures()
    return gradient_penalty(discriminator, GAN_LOSSES[gan_type], real, fake, noise, PLAIN_CALL)


@pytest.mark.parametrize('gan_type', ['wgan-gp', 'wgan-lp', 'dragan'])
def test_against_a_float64_twin(gan_type: str) -> None:
    real, fake, noise = (np.asarray(x, np.float64) for x in (*_pictures()[:2], _pictures()[2].alpha))
    other = fake
    if gan_type == 'dragan':
        other = real + 0.5 * real.std() * np.asarray(_pictures()[2].epsilon, np.float64)
    x = real + noise * (other - real)
    total = 0.0
    for k in (0.1, 0.2, 0.3, 0.4):
        length = np.sqrt(((2 * k * x) ** 2).sum((1, 2, 3)))  # per picture, no epsilon
        excess = np.maximum(0, length - 1) if gan_type == 'wgan-lp' else length - 1
        total += (excess**2).mean()
    np.testing.assert_allclose(_penalty(gan_type, Quadratic()), total, rtol=tolerances.PENALTY_FORMULA)


def test_its_own_gradient_reaches_the_weights() -> None:
    discriminator = Quadratic()
    with tf.GradientTape() as tape:
        penalty = _penalty('wgan-gp', discriminator)
    slope = tape.gradient(penalty, discriminator.factors[0])
    sides = []
    for value in (0.11, 0.09):
        discriminator.factors[0].assign(value)
        sides.append(_penalty('wgan-gp', discriminator))
    np.testing.assert_allclose((sides[0] - sides[1]) / 0.02, slope, rtol=tolerances.FINITE_DIFFERENCE)


def test_without_cam_two_gradients_are_left_and_other_losses_have_none() -> None:
    with_cam, without = _penalty('wgan-gp', Quadratic()), _penalty('wgan-gp', Quadratic(cam=False))
    alone = _penalty('wgan-gp', Quadratic([0.3, 0.4, 1.0, 1.0], cam=False))
    np.testing.assert_allclose(with_cam, without + alone, rtol=tolerances.PENALTY_FORMULA)
    untouched = Quadratic()
    assert float(_penalty('lsgan', untouched)) == 0.0 and untouched.seen == []


def test_alpha_is_per_picture_and_std_over_the_batch() -> None:
    real, fake, noise = _pictures()
    between = interpolated(real, fake, noise.alpha).numpy()
    np.testing.assert_array_equal(between[0], (real + 0.25 * (fake - real))[0])
    np.testing.assert_array_equal(between[1], (real + 0.75 * (fake - real))[1])
    alone, together = perturbed(real[:1], noise.epsilon[:1]), perturbed(real, noise.epsilon)
    assert not np.array_equal(alone[0], together[0])


def test_a_vanishing_gradient_has_norm_zero_and_no_nan_behind_it() -> None:
    x = tf.zeros(SHAPE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        length = norms(x)
    assert np.array_equal(length, [0.0, 0.0]) and np.array_equal(tape.gradient(length, x), x)


def test_noise_depends_on_seed_domain_and_step_only() -> None:
    real = tf.zeros(SHAPE)
    draw = stateless_noise(7)
    first = draw('A', real, tf.constant(5))
    assert first.alpha.shape == (2, 1, 1, 1) and first.epsilon.shape == SHAPE
    assert 0.0 <= float(tf.reduce_min(first.epsilon)) and float(tf.reduce_max(first.epsilon)) < 1.0
    again = stateless_noise(7)('A', real, tf.constant(5))
    assert np.array_equal(first.alpha, again.alpha) and np.array_equal(first.epsilon, again.epsilon)
    others = [
        draw('B', real, tf.constant(5)),
        draw('A', real, tf.constant(6)),
        stateless_noise(8)('A', real, tf.constant(5)),
    ]
    assert not any(np.array_equal(first.alpha, other.alpha) for other in others)
