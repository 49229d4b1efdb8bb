"""One update of the discriminators and one of the generators: plain functions, the same eager and traced."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, List, Mapping, NamedTuple, Optional

import tensorflow as tf

from ugatit.nn.call import Call, SingularVectors
from ugatit.nn.generator import Generator
from ugatit.training.networks import Fakes, Networks, advance_power_iterations, make_fakes, trainable_of
from ugatit.training.objective import (
    Losses,
    Objective,
    discriminator_losses,
    fake_losses,
    generator_totals,
    home_losses,
)
from ugatit.training.optimiser import Optimisers
from ugatit.training.penalty import Noise, stateless_noise


class Batch(NamedTuple):
    """What one update is made from."""

    images_a: tf.Tensor  # [N, H, W, 3] float32 in [-1, 1]
    images_b: tf.Tensor  # the same N
    learning_rate: tf.Tensor  # float32 scalar
    steps_done: tf.Tensor  # int scalar: seeds the random numbers of gradient penalties


@dataclasses.dataclass(frozen=True)
class Training:
    """Everything that updates read and change. Nothing here changes between updates except variables."""

    networks: Networks
    optimisers: Optimisers
    objective: Objective = Objective()
    noise: Noise = dataclasses.field(default_factory=stateless_noise)  # random numbers of gradient penalties
    batch_momentum: float = 0.9  # of running statistics, where a variant has them

    def call(self, vectors: Optional[Mapping[str, SingularVectors]] = None) -> Call:
        """How a training pass calls a network; `vectors` are this update's, for discriminators."""
        return Call(batch_momentum=self.batch_momentum, vectors=vectors or {})


def update_discriminators(training: Training, batch: Batch, fakes: Optional[Fakes] = None) -> Losses:
    """One power iteration, losses, gradients, Adam. `fakes` may be there already; no gradient reaches them."""
    networks = training.networks
    fakes = fakes or make_fakes(networks, batch.images_a, batch.images_b, training.call())
    reals = {'A': batch.images_a, 'B': batch.images_b}
    judged = {'A': tf.stop_gradient(fakes.a.image), 'B': tf.stop_gradient(fakes.b.image)}
    noise = {domain: training.noise(domain, real, batch.steps_done) for domain, real in reals.items()}
    call = training.call(advance_power_iterations(networks))
    adam = training.optimisers.discriminators
    variables = list(adam.variables_trained.values())
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(variables)
        losses = discriminator_losses(training.objective, networks, reals, judged, noise, call)
    adam.apply(_slopes(tape, losses['Discriminator_loss'], variables), batch.learning_rate)
    return losses


def _nothing(fakes: Fakes) -> Losses:
    del fakes
    return {}


def update_generators(training: Training, batch: Batch, meanwhile: Callable[[Fakes], Losses] = _nothing) -> Losses:
    """Fakes, cycles and identities, one power iteration, losses, gradients, Adam.

    `meanwhile` runs when the fakes are there: in a fused step it updates the discriminators on them, and its losses are
    returned with the generators', which are judged by the discriminators as they are afterwards.

    The way home (cycle and identity) of each domain is differentiated at once and its activations dropped before the
    next; its slope at the fake joins the fakes' own gradient in the end. Autodiff over the whole sum gives the same
    but holds the activations of six pictures instead of four.
    """
    networks, adam = training.networks, training.optimisers.generators
    variables = list(adam.variables_trained.values())
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(variables)
        fakes = make_fakes(networks, batch.images_a, batch.images_b, training.call())
        with tape.stop_recording():
            earlier = meanwhile(fakes)
            home_a = _way_home(training, 'A', networks.generator_a, batch.images_a, fakes.b.image)
            with tf.control_dependencies(home_a.slopes):
                home_b = _way_home(training, 'B', networks.generator_b, batch.images_b, fakes.a.image)
            call = training.call(advance_power_iterations(networks))
        parts = fake_losses(training.objective, networks, fakes, call)
        ends = [tf.add_n(list(parts.values())), fakes.b.image, fakes.a.image]
    from_ends = [tf.ones([]), home_a.slopes[-1], home_b.slopes[-1]]
    slopes = _slopes(tape, ends, variables, from_ends)
    at_home = home_b.slopes[:-1] + home_a.slopes[:-1]  # generator_B comes first
    adam.apply([slope + other for slope, other in zip(slopes, at_home)], batch.learning_rate)
    return {**earlier, **generator_totals({**parts, **home_a.losses, **home_b.losses})}


class _Home(NamedTuple):
    losses: Losses
    slopes: List[tf.Tensor]  # of the generator's variables in order; last that of the fake


def _way_home(training: Training, domain: str, generator: Generator, images: tf.Tensor, away: tf.Tensor) -> _Home:
    watched = [*trainable_of([generator]).values(), away]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(watched)
        losses = home_losses(training.objective, domain, generator, images, away, training.call())
        total = tf.add_n(list(losses.values()))
    return _Home(losses, _slopes(tape, total, watched))


def _slopes(
    tape: tf.GradientTape, target: Any, variables: List[tf.Variable], upstream: Optional[List[tf.Tensor]] = None
) -> List[tf.Tensor]:
    """Zeros for what the target does not depend on: a variant may leave the MLP, say, without a reader."""
    zero = tf.UnconnectedGradients.ZERO
    return tape.gradient(target, variables, output_gradients=upstream, unconnected_gradients=zero)


def update_both(training: Training, batch: Batch) -> Losses:
    """The fused step: the fakes are computed once, and the generators face the updated discriminators."""
    return update_generators(training, batch, lambda fakes: update_discriminators(training, batch, fakes))
