"""Dynamic loss scaling: gradients times a power of two, so that small ones survive float16 and large ones fit."""

from __future__ import annotations

from typing import Dict, List, Mapping, Sequence

import tensorflow as tf

from ugatit.nn.variables import assign_here
from ugatit.numerics import FLOAT16

GROWTH, BACKOFF = 2.0, 0.5
SMALLEST, LARGEST = 2.0**-20, 2.0**24  # the CAM term alone, weight 1000, has gradients up to 500 at its logits
START = 2.0**10
GROWTH_STEPS = 1000


class LossScale(tf.Module):
    """A scale that doubles after so many usable updates in a row, and halves with each unusable one.

    Powers of two throughout, so that scaling changes no bit of a gradient that fits.
    """

    def __init__(self, owner: str, start: float = START, growth_steps: int = GROWTH_STEPS) -> None:
        """owner: 'generators', 'discriminators', or 'penalty' for the inner gradient of a gradient penalty."""
        super().__init__()
        self.owner, self._growth_steps = owner, growth_steps
        self.scale = tf.Variable(start, trainable=False, dtype=tf.float32, name='scale')
        self.good_steps = tf.Variable(0, trainable=False, dtype=tf.int64, name='good_steps')  # usable, in a row

    @property
    def named_variables(self) -> Dict[str, tf.Variable]:
        """Name in a checkpoint -> variable; nothing official is called so."""
        prefix = f'ugatit/loss_scale/{self.owner}'
        return {f'{prefix}/scale': self.scale, f'{prefix}/good_steps': self.good_steps}

    def unscaled(self, gradients: Sequence[tf.Tensor]) -> List[tf.Tensor]:
        """Gradients of the loss itself."""
        inverse = 1.0 / tf.convert_to_tensor(self.scale)
        return [gradient * inverse for gradient in gradients]

    def update(self, usable: tf.Tensor, to_blame: tf.Tensor) -> None:
        """Bool scalars: whether the update was applied; whether too large scaled gradients prevented it.

        With neither, something else did: then nothing here changes.
        """
        good = self.good_steps + 1
        grows = tf.logical_and(usable, good >= self._growth_steps)
        scale = tf.where(grows, self.scale * GROWTH, tf.where(to_blame, self.scale * BACKOFF, self.scale))
        restart = tf.logical_or(grows, to_blame)
        good = tf.where(restart, tf.zeros_like(good), tf.where(usable, good, self.good_steps))
        assign_here(self.scale, tf.clip_by_value(scale, SMALLEST, LARGEST))
        assign_here(self.good_steps, good)


def usable(gradients: Mapping[str, tf.Tensor], saturates: bool) -> tf.Tensor:
    """Bool scalar: every gradient (official name of its variable -> scaled gradient) is finite.

    Arithmetic that saturates has no infinities: with `saturates`, kernels and biases, whose gradients come out of
    float16, must also stay below 65504 (norms' gamma, beta and rho have float32 gradients, which may pass it).
    """
    return tf.reduce_all(tf.stack([fits(g, saturates and _is_float16(name)) for name, g in gradients.items()]))


def fits(gradient: tf.Tensor, saturates: bool) -> tf.Tensor:
    """Bool scalar: finite everywhere; with `saturates` also below 65504."""
    end = FLOAT16.max_finite if saturates else float('inf')
    return tf.reduce_all(tf.abs(gradient) < end)  # False for NaN


def _is_float16(name: str) -> bool:
    return name.endswith(('/kernel', '/bias'))
