"""TF1's Adam under its official names, so that official training state goes in and out."""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Sequence

import tensorflow as tf

from ugatit.checkpoints import BETA_POWERS, slot_names
from ugatit.nn.variables import ZEROS, Initial, VariableFactory, assign_here, seeded
from ugatit.training.networks import Networks, trainable_of

BETA1, BETA2, EPSILON = 0.5, 0.999, 1e-8  # official code


class Adam(tf.Module):
    """lr_t = lr * sqrt(1 - beta2^t) / (1 - beta1^t);  w -= lr_t * m / (sqrt(v) + epsilon), epsilon outside the root.

    The powers of beta are variables that are multiplied once an update, as in TF1: beta^t in float32.
    """

    def __init__(
        self, owner: str, variables: Dict[str, tf.Variable], factory: Optional[VariableFactory] = None
    ) -> None:
        """owner: 'generators' or 'discriminators'; variables: official name -> what is trained.

        `factory` makes slots and powers; without it they start at 0 and at beta.
        """
        super().__init__()
        factory = factory or seeded()
        first, second = BETA_POWERS[owner]
        self.variables_trained = variables
        self._powers = {
            first: factory(first, [], Initial(BETA1), False),
            second: factory(second, [], Initial(BETA2), False),
        }
        self._slots = {
            slot: factory(slot, variable.shape.as_list(), ZEROS, False)
            for name, variable in variables.items()
            for slot in slot_names(name)
        }

    @property
    def named_variables(self) -> Dict[str, tf.Variable]:
        """Official name -> beta power or slot, in official order."""
        return {**self._powers, **self._slots}

    def apply(
        self, gradients: Sequence[Optional[tf.Tensor]], learning_rate: tf.Tensor, usable: Optional[tf.Tensor] = None
    ) -> None:
        """One update; gradients in the order of the variables, None where a variable had no part in the loss.

        rho is clipped to [0, 1] afterwards, its moments stay as they are (official code). Where `usable` is there and
        False nothing changes at all. With replicas, gradients are the same on all of them: each updates its own copy.
        """
        if usable is None:
            self._apply(gradients, learning_rate)
        else:
            tf.cond(usable, lambda: self._apply(gradients, learning_rate), lambda: tf.constant(False))

    def _apply(self, gradients: Sequence[Optional[tf.Tensor]], learning_rate: tf.Tensor) -> tf.Tensor:
        beta1_power, beta2_power = self._powers.values()
        for (name, variable), gradient in zip(self.variables_trained.items(), gradients):
            if gradient is None:
                continue
            m, v = (self._slots[slot] for slot in slot_names(name))
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle, m=m.handle, v=v.handle, grad=gradient, lr=learning_rate,
                beta1_power=beta1_power, beta2_power=beta2_power, beta1=BETA1, beta2=BETA2, epsilon=EPSILON,
            )  # fmt: skip
            if name.endswith('/rho'):
                assign_here(variable, tf.clip_by_value(variable, 0.0, 1.0))
        assign_here(beta1_power, beta1_power * BETA1)
        assign_here(beta2_power, beta2_power * BETA2)
        return tf.constant(True)


class Optimisers(NamedTuple):
    """One Adam for both generators, one for both discriminators."""

    generators: Adam
    discriminators: Adam


def make_optimisers(networks: Networks, factory: Optional[VariableFactory] = None) -> Optimisers:
    """Both optimisers; `factory` restores their state, for instance `checkpoint_factory(reader, fallback=seeded())`."""
    return Optimisers(
        Adam('generators', trainable_of(networks.generators), factory),
        Adam('discriminators', trainable_of(networks.discriminators), factory),
    )
