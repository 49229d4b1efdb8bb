"""One update of the discriminators and one of the generators: plain functions, the same eager and traced."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional

import tensorflow as tf

from ugatit.nn.call import Call, SingularVectors
from ugatit.nn.generator import Generator
from ugatit.nn.variables import assign_here
from ugatit.ranges.meter import AmaxTap
from ugatit.training.device import Device, largest
from ugatit.training.networks import (
    Fakes,
    Networks,
    advance_power_iterations,
    call_together,
    make_fakes,
    trainable_of,
)
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
from ugatit.training.phase import Phase
from ugatit.training.precision import FullPrecision


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
    recompute: bool = False  # the fakes are computed again for their gradient: less memory, a ninth more to compute
    precision: FullPrecision = dataclasses.field(default_factory=FullPrecision)
    device: Device = dataclasses.field(default_factory=Device)

    def call(self, vectors: Optional[Mapping[str, SingularVectors]] = None) -> Call:
        """How a training pass calls a network; `vectors` are this update's, for discriminators."""
        return Call(batch_momentum=self.batch_momentum, vectors=vectors or {})


Doubt = Optional[tf.Tensor]  # bool scalar: whether these fakes overflowed on their way; None where nobody looks


def update_discriminators(
    training: Training, batch: Batch, fakes: Optional[Fakes] = None, doubt: Doubt = None
) -> Losses:
    """One power iteration, losses, gradients, Adam. `fakes` may be there already; no gradient reaches them."""
    networks, adam = training.networks, training.optimisers.discriminators
    phase = training.precision.phase(training, 'discriminators', doubt)
    variables = list(adam.variables_trained.values())
    phase.protect(networks.discriminators if fakes else networks.generators + networks.discriminators)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        phase.watch(tape, variables)
        with phase.computing():
            losses = _judge(training, batch, fakes, phase)
    phase.apply(adam, phase.slopes(tape, losses['Discriminator_loss'], variables), batch.learning_rate)
    return {**losses, **phase.report()}


def _judge(training: Training, batch: Batch, fakes: Optional[Fakes], phase: Phase) -> Losses:
    """The discriminators' losses."""
    networks = training.networks
    fakes = fakes or make_fakes(networks, batch.images_a, batch.images_b, phase.call())
    reals = {'A': batch.images_a, 'B': batch.images_b}
    judged = {'A': tf.stop_gradient(fakes.a.image), 'B': tf.stop_gradient(fakes.b.image)}
    noise = {domain: training.noise(domain, real, batch.steps_done) for domain, real in reals.items()}
    call = phase.call(advance_power_iterations(networks))
    return discriminator_losses(training.objective, networks, reals, judged, noise, call, phase.inner)


def _nothing(fakes: Fakes, doubt: Doubt) -> Losses:
    del fakes, doubt
    return {}


def update_generators(
    training: Training, batch: Batch, meanwhile: Callable[[Fakes, Doubt], Losses] = _nothing
) -> Losses:
    """Fakes, cycles and identities, one power iteration, losses, gradients, Adam.

    `meanwhile` runs when the fakes are there: in a fused step it updates the discriminators on them, and its losses are
    returned with the generators', which are judged by the discriminators as they are afterwards.

    The way home (cycle and identity) of each domain is differentiated at once and its activations dropped before the
    next; its slope at the fake joins the fakes' own gradient in the end. Autodiff over the whole sum gives the same
    but holds the activations of six pictures instead of four. With `recompute` it is two: the fakes' activations are
    not kept over the way home either.
    """
    networks, adam = training.networks, training.optimisers.generators
    variables = list(adam.variables_trained.values())
    phase = training.precision.phase(training, 'generators')
    phase.protect(networks.generators)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        phase.watch(tape, variables)
        with phase.computing(), tape.stop_recording() if training.recompute else contextlib.nullcontext():
            fakes = make_fakes(networks, batch.images_a, batch.images_b, phase.call())
        with tape.stop_recording():
            earlier = meanwhile(fakes, phase.pause([fakes.a.image, fakes.b.image]))
            phase.protect(networks.discriminators)
            with phase.computing():
                home_a = _way_home(training, phase, 'A', networks.generator_a, batch.images_a, fakes.b.image)
                with tf.control_dependencies(home_a.slopes):
                    home_b = _way_home(training, phase, 'B', networks.generator_b, batch.images_b, fakes.a.image)
            with phase.still_computing():
                call = phase.call(advance_power_iterations(networks))
        with phase.still_computing():
            if training.recompute:
                with tf.control_dependencies(home_b.slopes):  # or a graph would find that it has them already
                    fakes = make_fakes(networks, batch.images_a, batch.images_b, phase.call())
            parts = fake_losses(training.objective, networks, fakes, call)
        ends = [tf.add_n(list(parts.values())), fakes.b.image, fakes.a.image]
    from_ends = [phase.one, home_a.slopes[-1], home_b.slopes[-1]]
    slopes = phase.slopes(tape, ends, variables, from_ends)
    at_home = home_b.slopes[:-1] + home_a.slopes[:-1]  # generator_B comes first
    phase.apply(adam, [slope + other for slope, other in zip(slopes, at_home)], batch.learning_rate)
    return {**earlier, **generator_totals({**parts, **home_a.losses, **home_b.losses}), **phase.report()}


class _Home(NamedTuple):
    losses: Losses
    slopes: List[tf.Tensor]  # of the generator's variables in order; last that of the fake


def _way_home(
    training: Training, phase: Phase, domain: str, generator: Generator, images: tf.Tensor, away: tf.Tensor
) -> _Home:
    watched = [*trainable_of([generator]).values(), away]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        phase.watch(tape, watched)
        losses = home_losses(training.objective, domain, generator, images, away, phase.call())
        total = tf.add_n(list(losses.values()))
    return _Home(losses, phase.slopes(tape, total, watched))


def update_both(training: Training, batch: Batch) -> Losses:
    """The fused step: the fakes are computed once, and the generators face the updated discriminators."""
    return update_generators(training, batch, lambda fakes, doubt: update_discriminators(training, batch, fakes, doubt))


def measure_ranges(training: Training, batch: Batch) -> Dict[str, tf.Tensor]:
    """Network -> what its meter shows on this batch (ranges/meter.py). No variable is changed."""
    networks = training.networks
    tap = AmaxTap(training.precision.meters)
    call = dataclasses.replace(training.call(), tap=tap, members=tap.members)
    everything = networks.generators + networks.discriminators
    running = [v for network in everything for r in network.registry.running.values() for v in (r.mean, r.variance)]
    before = [tf.identity(variable) for variable in running]
    fakes = make_fakes(networks, batch.images_a, batch.images_b, call)
    for generator, images, away in (
        (networks.generator_a, batch.images_a, fakes.b.image),
        (networks.generator_b, batch.images_b, fakes.a.image),
    ):
        call_together(generator, [away, images], call)
    for judge, real, fake in (
        (networks.discriminator_a, batch.images_a, fakes.a.image),
        (networks.discriminator_b, batch.images_b, fakes.b.image),
    ):
        call_together(judge, [real, fake], call)
    for variable, value in zip(running, before):
        assign_here(variable, value)
    found = tap.found()
    return dict(zip(found, largest(training.device, list(found.values()))))
