"""The weighted losses of an update under their official names.

A letter names the generator and the discriminator of that domain; in the cycle it hides a direction:

    G_A_gan       generator_A's fakes (b2a) before discriminator_A; weighted, like every term below
    G_A_cycle     domain B's reconstruction: B -> A -> B against B, the cycle that starts with generator_A
    G_A_identity  generator_A on A against A
    G_A_cam       generator_A's CAM logits: on B (to be translated) to 1, on A (already there) to 0
    G_A_loss      the sum of these four; G_B_* with the letters exchanged
    D_A_loss      discriminator_A: D_A_gan + D_A_penalty (these two names are ours)
    reg_generator, reg_discriminator    the L2 terms
    Generator_loss, Discriminator_loss  what is minimised: A + B + L2
"""

from __future__ import annotations

import dataclasses
from typing import Dict

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.nn.call import Call
from ugatit.nn.discriminator import Discriminator, DiscriminatorOutput
from ugatit.training.losses import GAN_LOSSES, GanLoss, cam_loss, l1, l2, over
from ugatit.training.networks import Fakes, Networks, Returns, call_together, trainable_of
from ugatit.training.penalty import PenaltyNoise, gradient_penalty

Losses = Dict[str, tf.Tensor]


@dataclasses.dataclass(frozen=True)
class Objective:
    """Which adversarial loss, and the weights of all terms; the defaults are the official ones."""

    gan_type: str = 'lsgan'  # one of losses.GAN_LOSSES
    adversarial: float = 1.0  # official adv_weight
    cycle: float = 10.0  # cycle_weight
    identity: float = 10.0  # identity_weight
    cam: float = 1000.0  # cam_weight
    gradient_penalty: float = 10.0  # GP_ld
    l2: float = 1e-4  # scale of the L2 term on kernels

    def __post_init__(self) -> None:
        if self.gan_type not in GAN_LOSSES:
            raise UserError(
                f'gan_type must be one of {", ".join(GAN_LOSSES)}, but {self.gan_type!r} arrived; choose one of these.'
            )

    @property
    def gan(self) -> GanLoss:
        return GAN_LOSSES[self.gan_type]


def discriminator_losses(
    objective: Objective,
    networks: Networks,
    reals: Dict[str, tf.Tensor],
    fakes: Dict[str, tf.Tensor],
    noise: Dict[str, PenaltyNoise],
    call: Call,
) -> Losses:
    """Losses of both discriminators; pictures [N, H, W, 3] and noise by domain, 'A' and 'B'."""
    losses: Losses = {}
    for domain, discriminator in (('A', networks.discriminator_a), ('B', networks.discriminator_b)):
        losses.update(
            _discriminator_terms(objective, discriminator, reals[domain], fakes[domain], noise[domain], domain, call)
        )
    losses['reg_discriminator'] = l2(trainable_of(networks.discriminators), objective.l2)
    losses['Discriminator_loss'] = losses['D_A_loss'] + losses['D_B_loss'] + losses['reg_discriminator']
    return losses


def _discriminator_terms(
    objective: Objective,
    discriminator: Discriminator,
    real: tf.Tensor,
    fake: tf.Tensor,
    noise: PenaltyNoise,
    domain: str,
    call: Call,
) -> Losses:
    on_real, on_fake = call_together(discriminator, [real, fake], call)
    gan = objective.adversarial * _judge_both(objective.gan, on_real, on_fake)
    penalty = gradient_penalty(discriminator, objective.gan, real, fake, noise, call)
    penalty = objective.adversarial * objective.gradient_penalty * penalty
    return {f'D_{domain}_gan': gan, f'D_{domain}_penalty': penalty, f'D_{domain}_loss': gan + penalty}


def _judge_both(gan: GanLoss, real: DiscriminatorOutput, fake: DiscriminatorOutput) -> tf.Tensor:
    on_logits = over(gan.real, real.logits) + over(gan.fake, fake.logits)
    return on_logits + over(gan.real, real.cam_logits) + over(gan.fake, fake.cam_logits)


def generator_losses(
    objective: Objective,
    networks: Networks,
    images_a: tf.Tensor,
    images_b: tf.Tensor,
    fakes: Fakes,
    returns: Returns,
    call: Call,
) -> Losses:
    """Losses of both generators for what they made of images_a and images_b; `call` is the discriminators'."""
    judged_a = networks.discriminator_a(fakes.a.image, call)
    judged_b = networks.discriminator_b(fakes.b.image, call)
    losses: Losses = {
        'G_A_gan': objective.adversarial * _judge_fake(objective.gan, judged_a),
        'G_A_cycle': objective.cycle * l1(returns.cycle_b.image, images_b),
        'G_A_identity': objective.identity * l1(returns.identity_a.image, images_a),
        'G_A_cam': objective.cam * cam_loss(fakes.a.cam_logits, returns.identity_a.cam_logits),
        'G_B_gan': objective.adversarial * _judge_fake(objective.gan, judged_b),
        'G_B_cycle': objective.cycle * l1(returns.cycle_a.image, images_a),
        'G_B_identity': objective.identity * l1(returns.identity_b.image, images_b),
        'G_B_cam': objective.cam * cam_loss(fakes.b.cam_logits, returns.identity_b.cam_logits),
    }
    for domain in ('A', 'B'):
        terms = ('gan', 'cycle', 'identity', 'cam')
        losses[f'G_{domain}_loss'] = tf.add_n([losses[f'G_{domain}_{term}'] for term in terms])
    losses['reg_generator'] = l2(trainable_of(networks.generators), objective.l2)
    losses['Generator_loss'] = losses['G_A_loss'] + losses['G_B_loss'] + losses['reg_generator']
    return losses


def _judge_fake(gan: GanLoss, fake: DiscriminatorOutput) -> tf.Tensor:
    return over(gan.generator, fake.logits) + over(gan.generator, fake.cam_logits)
