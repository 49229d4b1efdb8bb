"""Every loss equation against a dull float64 twin, at ordinary and at extreme logits."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from ugatit.errors import UserError
from ugatit.training.losses import GAN_LOSSES, cam_loss, l1, l2, over
from ugatit.training.objective import Objective

Twin = Callable[[np.ndarray], float]


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0.0, x)  # -log(1 - sigmoid(x))


_CROSS_ENTROPY: Tuple[Twin, Twin, Twin] = (
    lambda x: _softplus(-x).mean(),
    lambda x: _softplus(x).mean(),
    lambda x: _softplus(-x).mean(),
)
_WASSERSTEIN: Tuple[Twin, Twin, Twin] = (lambda x: -x.mean(), lambda x: x.mean(), lambda x: -x.mean())
TWINS: Dict[str, Tuple[Twin, Twin, Twin]] = {
    'lsgan': (lambda x: ((x - 1) ** 2).mean(), lambda x: (x**2).mean(), lambda x: ((x - 1) ** 2).mean()),
    'gan': _CROSS_ENTROPY,
    'dragan': _CROSS_ENTROPY,
    'hinge': (lambda x: np.maximum(0, 1 - x).mean(), lambda x: np.maximum(0, 1 + x).mean(), lambda x: -x.mean()),
    'wgan-gp': _WASSERSTEIN,
    'wgan-lp': _WASSERSTEIN,
}
LOGITS = [
    np.random.RandomState(1).normal(0.3, 2.0, [2, 3, 3, 1]).astype(np.float32),
    np.array([[0.0, -0.0], [1.0, -1.0]], np.float32),  # on the hinges
    np.array([[60.0, -60.0], [1e4, -1e4]], np.float32),  # where exp overflows float32
]


def test_there_is_a_twin_for_every_loss() -> None:
    assert set(TWINS) == set(GAN_LOSSES)


@pytest.mark.parametrize('gan_type', GAN_LOSSES)
@pytest.mark.parametrize('logits', LOGITS, ids=['ordinary', 'kinks', 'extreme'])
def test_adversarial_terms(gan_type: str, logits: np.ndarray) -> None:
    gan = GAN_LOSSES[gan_type]
    for term, twin in zip((gan.real, gan.fake, gan.generator), TWINS[gan_type]):
        want = twin(logits.astype(np.float64))
        np.testing.assert_allclose(
            term(tf.constant(logits)), want, rtol=tolerances.LOSS_FORMULA, atol=tolerances.LOSS_FORMULA
        )


def test_a_discriminators_local_and_global_terms_are_added() -> None:
    terms = [tf.constant([[2.0]]), None, tf.constant([[5.0]])]  # a branch without CAM has None
    assert float(over(GAN_LOSSES['wgan-gp'].fake, terms)) == 7.0
    assert float(over(GAN_LOSSES['wgan-gp'].fake, [None, None])) == 0.0


def test_cam_loss_is_zero_at_the_right_answer_and_ln_2_without_an_opinion() -> None:
    sure = tf.constant([[200.0, 200.0]])  # exp(-200) is 0 in float32
    assert float(cam_loss(1.0, sure)) == float(cam_loss(0.0, -sure)) == 0.0
    for target in (0.0, 1.0):
        np.testing.assert_allclose(cam_loss(target, 0.0 * sure), np.log(2.0), rtol=tolerances.LOSS_FORMULA)
        assert float(cam_loss(target, None)) == 0.0


def test_l1_is_a_mean_over_everything() -> None:
    assert float(l1(tf.constant([[1.0, -3.0]]), tf.constant([[0.0, 1.0]]))) == 2.5


def test_l2_takes_kernels_once_and_nothing_else() -> None:
    variables = {
        name: tf.Variable(tf.fill([3], 2.0))
        for name in ('a/conv2d/kernel', 'a/conv2d/bias', 'b/kernel', 'b/u', 'norm/gamma', 'norm/rho')
    }
    np.testing.assert_allclose(l2(variables, 1e-4), 2 * 1e-4 * 12 / 2, rtol=tolerances.LOSS_FORMULA)


def test_an_unknown_gan_type_is_answered_with_the_list() -> None:
    with pytest.raises(UserError, match='lsgan, gan, dragan, hinge, wgan-gp, wgan-lp'):
        Objective('wgan')
