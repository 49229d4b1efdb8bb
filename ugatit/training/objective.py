"""The weighted losses of an update under their official names.

A letter names the generator and the discriminator of that domain; in the cycle it hides a direction:

    G_A_gan       generator_A's fakes (b2a) before discriminator_A; weighted, like every term below
    G_A_cycle     domain B's reconstruction: B -> A -> B against B, the cycle that starts with generator_A
    G_A_identity  generator_A on A against A
    G_A_cam       generator_A's CAM logits: on B (to be translated) to 1, on A (already there) to 0;
                  the sum of G_A_cam_fake and G_A_cam_identity (these two names are ours)
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
from ugatit.nn.generator import Generator
from ugatit.training.losses import GAN_LOSSES, GanLoss, cam_loss, l1, l2, over
from ugatit.training.networks import Fakes, Networks, call_together, trainable_of
from ugatit.training.penalty import PLAIN_INNER, Inner, PenaltyNoise, gradient_penalty

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
    inner: Inner = PLAIN_INNER,
) -> Losses:
    """Losses of both discriminators; pictures [N, H, W, 3] and noise by domain, 'A' and 'B'."""
    losses: Losses = {}
    for domain, discriminator in (('A', networks.discriminator_a), ('B', networks.discriminator_b)):
        of_domain = reals[domain], fakes[domain], noise[domain]
        losses.update(_discriminator_terms(objective, discriminator, *of_domain, domain, call, inner))
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
    inner: Inner,
) -> Losses:
    on_real, on_fake = call_together(discriminator, [real, fake], call)
    gan = objective.adversarial * _judge_both(objective.gan, on_real, on_fake)
    penalty = gradient_penalty(discriminator, objective.gan, real, fake, noise, call, inner)
    penalty = objective.adversarial * objective.gradient_penalty * penalty
    return {f'D_{domain}_gan': gan, f'D_{domain}_penalty': penalty, f'D_{domain}_loss': gan + penalty}


def _judge_both(gan: GanLoss, real: DiscriminatorOutput, fake: DiscriminatorOutput) -> tf.Tensor:
    on_logits = over(gan.real, real.logits) + over(gan.fake, fake.logits)
    return on_logits + over(gan.real, real.cam_logits) + over(gan.fake, fake.cam_logits)


def fake_losses(objective: Objective, networks: Networks, fakes: Fakes, call: Call) -> Losses:
    """What depends on the fakes, or on weights alone; `call` is how the discriminators are called."""
    losses: Losses = {'reg_generator': l2(trainable_of(networks.generators), objective.l2)}
    for domain, fake, judge in (('A', fakes.a, networks.discriminator_a), ('B', fakes.b, networks.discriminator_b)):
        judged = judge(fake.image, call)
        on_logits, on_cam = (over(objective.gan.generator, x) for x in (judged.logits, judged.cam_logits))
        losses[f'G_{domain}_gan'] = objective.adversarial * (on_logits + on_cam)
        losses[f'G_{domain}_cam_fake'] = objective.cam * cam_loss(1.0, fake.cam_logits)
    return losses


def home_losses(
    objective: Objective, domain: str, generator: Generator, images: tf.Tensor, away: tf.Tensor, call: Call
) -> Losses:
    """What comes home: the generator of `domain` on the fakes `away` that were made from `images`, and on `images`."""
    cycle, identity = call_together(generator, [away, images], call)
    other = {'A': 'B', 'B': 'A'}[domain]
    return {
        f'G_{other}_cycle': objective.cycle * l1(cycle.image, images),
        f'G_{domain}_identity': objective.identity * l1(identity.image, images),
        f'G_{domain}_cam_identity': objective.cam * cam_loss(0.0, identity.cam_logits),
    }


def generator_totals(parts: Losses) -> Losses:
    """`parts` (fake_losses and both home_losses) completed to all official names."""
    losses = dict(parts)
    for domain in ('A', 'B'):
        losses[f'G_{domain}_cam'] = parts[f'G_{domain}_cam_fake'] + parts[f'G_{domain}_cam_identity']
        terms = ('gan', 'cycle', 'identity', 'cam')
        losses[f'G_{domain}_loss'] = tf.add_n([losses[f'G_{domain}_{term}'] for term in terms])
    losses['Generator_loss'] = losses['G_A_loss'] + losses['G_B_loss'] + losses['reg_generator']
    return losses
