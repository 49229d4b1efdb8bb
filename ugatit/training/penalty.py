"""Gradient penalties of wgan-gp, wgan-lp and dragan, and where their random numbers come from."""

from __future__ import annotations

import zlib
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

import tensorflow as tf

from ugatit.nn.call import Call
from ugatit.nn.discriminator import Discriminator
from ugatit.training.losses import GanLoss


class PenaltyNoise(NamedTuple):
    """The random numbers of one domain's penalty, uniform in [0, 1)."""

    alpha: tf.Tensor  # [N, 1, 1, 1], where between the two pictures
    epsilon: tf.Tensor  # [N, H, W, 3], dragan's perturbation; unused elsewhere


Noise = Callable[[str, tf.Tensor, tf.Tensor], PenaltyNoise]  # (domain, real pictures, steps done) -> the numbers


def stateless_noise(seed: int = 0, replicas: int = 1, replica: Callable[[], Any] = lambda: 0) -> Noise:
    """Numbers that are a function of (seed, domain, step), so that a resumed run continues with the same ones.

    With replicas, each draws the whole batch's and takes its rows, so that their number changes nothing.
    """

    def uniform(name: str, shape: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
        salt = zlib.crc32(f'{seed}/{name}'.encode()) & 0x7FFFFFFF
        return tf.random.stateless_uniform(shape, tf.stack([salt, tf.cast(step, tf.int32)]))

    def draw(domain: str, real: tf.Tensor, step: tf.Tensor) -> PenaltyNoise:
        shape = tf.shape(real)
        if replicas > 1:
            shape = tf.concat([shape[:1] * replicas, shape[1:]], 0)
        alpha = uniform(f'alpha/{domain}', tf.stack([shape[0], 1, 1, 1]), step)
        epsilon = uniform(f'epsilon/{domain}', shape, step)
        if replicas == 1:
            return PenaltyNoise(alpha, epsilon)
        rows = tf.shape(real)[0]
        start = replica() * rows
        return PenaltyNoise(alpha[start : start + rows], epsilon[start : start + rows])

    return draw


def perturbed(real: tf.Tensor, epsilon: tf.Tensor) -> tf.Tensor:
    """real + 0.5 * std * epsilon, std over the whole batch (not per picture)."""
    variance = tf.math.reduce_variance(real)
    return real + 0.5 * tf.sqrt(variance) * epsilon


def interpolated(real: tf.Tensor, other: tf.Tensor, alpha: tf.Tensor) -> tf.Tensor:
    """real + alpha * (other - real)"""
    return real + alpha * (other - real)


def norms(gradient: tf.Tensor) -> tf.Tensor:
    """|gradient| of each picture, [N]: sqrt(sum(g^2)), no epsilon. At g = 0 its own gradient is 0, not NaN."""
    squares = tf.reduce_sum(tf.square(gradient), [1, 2, 3])
    positive = squares > 0.0
    return tf.where(positive, tf.sqrt(tf.where(positive, squares, 1.0)), 0.0)


def two_sided(gradient: tf.Tensor) -> tf.Tensor:
    """mean((|g| - 1)^2)"""
    return tf.reduce_mean(tf.square(norms(gradient) - 1.0))


def one_sided(gradient: tf.Tensor) -> tf.Tensor:
    """mean(max(0, |g| - 1)^2)"""
    return tf.reduce_mean(tf.square(tf.maximum(0.0, norms(gradient) - 1.0)))


PENALTIES: Dict[str, Callable[[tf.Tensor], tf.Tensor]] = {'two-sided': two_sided, 'one-sided': one_sided}


class Inner:
    """How the inner gradient is taken: as it is. In mixed precision it has a scale, and checks, of its own."""

    def watch(self, tape: tf.GradientTape, images: tf.Tensor) -> None:
        tape.watch(images)

    def gradient(self, tape: tf.GradientTape, logit: tf.Tensor, images: tf.Tensor) -> tf.Tensor:
        """d sum(logit) / d images"""
        return tape.gradient(logit, images)


PLAIN_INNER = Inner()


def gradient_penalty(
    discriminator: Discriminator,
    gan: GanLoss,
    real: tf.Tensor,
    fake: tf.Tensor,
    noise: PenaltyNoise,
    call: Call,
    inner: Inner = PLAIN_INNER,
) -> tf.Tensor:
    """Sum of the penalties of both logits and both CAM logits, without weight; 0 for a loss without penalty.

    The gradient is that of the *sum* of a logit map, with respect to the interpolated picture.
    """
    if gan.penalty is None:
        return tf.zeros([])
    other = perturbed(real, noise.epsilon) if gan.around_real else fake
    gradients = input_gradients(discriminator, interpolated(real, other, noise.alpha), call, inner)
    return tf.add_n([PENALTIES[gan.penalty](gradient) for gradient in gradients])


def input_gradients(
    discriminator: Discriminator, images: tf.Tensor, call: Call, inner: Inner = PLAIN_INNER
) -> List[tf.Tensor]:
    """d sum(logits) / d images, [N, H, W, 3], for each of local, global, CAM local and CAM global that exist."""
    with tf.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
        inner.watch(tape, images)
        output = discriminator(images, call)
        logits: Sequence[tf.Tensor] = _present(output.logits + output.cam_logits)
    return [inner.gradient(tape, logit, images) for logit in logits]


def _present(logits: Tuple) -> List[tf.Tensor]:
    return [logit for logit in logits if logit is not None]
