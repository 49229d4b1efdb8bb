"""The loss equations (as the official code computes them): one line of mathematics each, no weights, no networks."""

from __future__ import annotations

from typing import Callable, Dict, Iterable, Mapping, NamedTuple, Optional, Sequence

import tensorflow as tf

Term = Callable[[tf.Tensor], tf.Tensor]


def squared_to(target: float, x: tf.Tensor) -> tf.Tensor:
    """mean((x - target)^2)"""
    return tf.reduce_mean(tf.square(x - target))


def cross_entropy_to(target: float, x: tf.Tensor) -> tf.Tensor:
    """mean(-target log(sigmoid(x)) - (1 - target) log(1 - sigmoid(x)))"""
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.fill(tf.shape(x), target), logits=x))


def hinge(sign: float, x: tf.Tensor) -> tf.Tensor:
    """mean(relu(1 + sign * x))"""
    return tf.reduce_mean(tf.nn.relu(1.0 + sign * x))


def mean(sign: float, x: tf.Tensor) -> tf.Tensor:
    """sign * mean(x)"""
    return sign * tf.reduce_mean(x)


def l1(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """mean(|x - y|)"""
    return tf.reduce_mean(tf.abs(x - y))


def cam_loss(target: float, logits: Optional[tf.Tensor]) -> tf.Tensor:
    """BCE(logits -> target), logits [N, 2]; 0 without CAM. Target 1: to be translated, 0: already in the domain."""
    return tf.zeros([]) if logits is None else cross_entropy_to(target, logits)


def l2(variables: Mapping[str, tf.Variable], scale: float) -> tf.Tensor:
    """sum over kernels of scale * sum(w^2) / 2: raw kernels, also where spectral norm is used; nothing else.

    88 kernels in all by default: 56 of the generators, 32 of the discriminators.
    """
    return tf.add_n([scale * tf.nn.l2_loss(w) for name, w in variables.items() if name.endswith('/kernel')])


class GanLoss(NamedTuple):
    """One adversarial loss; each term takes a logit map [N, h, w, 1] or CAM logits [N, 2] and gives a scalar."""

    real: Term  # the discriminator's, on real pictures
    fake: Term  # the discriminator's, on generated ones
    generator: Term  # the generator's, on generated ones
    penalty: Optional[str] = None  # 'two-sided' or 'one-sided' (paper names: GP, LP); None: no gradient penalty
    around_real: bool = False  # penalise around real pictures (DRAGAN), not between real and fake ones


def _bind(term: Callable[[float, tf.Tensor], tf.Tensor], value: float) -> Term:
    return lambda x: term(value, x)


_CROSS_ENTROPY = GanLoss(_bind(cross_entropy_to, 1.0), _bind(cross_entropy_to, 0.0), _bind(cross_entropy_to, 1.0))
_WASSERSTEIN = GanLoss(_bind(mean, -1.0), _bind(mean, 1.0), _bind(mean, -1.0))
GAN_LOSSES: Dict[str, GanLoss] = {
    'lsgan': GanLoss(_bind(squared_to, 1.0), _bind(squared_to, 0.0), _bind(squared_to, 1.0)),
    'gan': _CROSS_ENTROPY,
    'dragan': _CROSS_ENTROPY._replace(penalty='two-sided', around_real=True),
    'hinge': GanLoss(_bind(hinge, -1.0), _bind(hinge, 1.0), _bind(mean, -1.0)),
    'wgan-gp': _WASSERSTEIN._replace(penalty='two-sided'),
    'wgan-lp': _WASSERSTEIN._replace(penalty='one-sided'),
}
"""Official flag `gan_type` -> its terms."""


def over(term: Term, logits: Iterable[Optional[tf.Tensor]]) -> tf.Tensor:
    """sum of term(x) over local and global logits; a discriminator without CAM has None for its CAM logits."""
    present: Sequence[tf.Tensor] = [x for x in logits if x is not None]
    return tf.add_n([term(x) for x in present]) if present else tf.zeros([])
