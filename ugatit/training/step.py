"""A training step as traced functions: which updates, from which batch, at which learning rate."""

from __future__ import annotations

import contextlib
from typing import Callable, Iterator, Optional, Tuple

import tensorflow as tf

from ugatit.training.objective import Losses
from ugatit.training.schedule import Schedule, learning_rate, updates_generators
from ugatit.training.update import (
    Batch,
    Training,
    measure_ranges,
    update_both,
    update_discriminators,
    update_generators,
)

Images = Tuple[tf.Tensor, tf.Tensor]  # domain A, domain B: [N, H, W, 3] float32 in [-1, 1], the same N

# What of TensorFlow's graph optimiser changes bits.
_INEXACT = ('arithmetic_optimization', 'constant_folding')


@contextlib.contextmanager
def exact_graphs() -> Iterator[None]:
    """Functions called inside are compiled without the two passes of grappler that change bits.

    Arithmetic optimisation reorders sums, differently in each graph: the fused step then differs from its two halves by
    some 1e-8, which Adam makes grow. Constant folding also moves factors through products: a float32 step with live
    exponents then differs from one without in the last bit of a loss, and 235 variables after one step. Without them
    they are equal bit for bit (measured on TensorFlow 2.21; the first on 2.6.5 too). TensorFlow has these options per
    process only, so they are set around a call (0.1 ms) and put back.
    """
    before = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options(dict.fromkeys(_INEXACT, False))
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({name: before.get(name, True) for name in _INEXACT})


class TrainingStep:
    """One step of a run; `both`, `discriminators` and `generators` are the traced updates that it is made of.

    A first call of each traces it (up to a minute on a slow machine); a new picture or batch size traces again.
    """

    def __init__(self, training: Training, schedule: Optional[Schedule] = None) -> None:
        self.training, self.schedule = training, schedule or Schedule()
        self.both, self.discriminators, self.generators, self._measure = (
            training.device.compile(_shared(training, function))
            for function in (update_both, update_discriminators, update_generators, measure_ranges)
        )

    def __call__(self, steps_done: int, images: Images, generator_images: Optional[Images] = None) -> Losses:
        """Updates the discriminators, and in every n_critic-th step the generators.

        Args:
          steps_done: how many steps the run has behind it; decides learning rate, n_critic's turn and penalty noise.
          images: the batch of both updates.
          generator_images: a batch of its own for the generators' update, as the official code draws it (option
            `two_batches`): the fakes are then computed twice. Unused in steps that leave the generators alone.

        Returns:
          The losses before the update that they belong to, by official name (see objective.py); those of the generators
          are missing in steps that leave these alone.
        """
        batch, precision = self.batch(steps_done, images), self.training.precision
        with exact_graphs():
            precision.prepare(
                lambda: self._measure(batch), lambda: self._attempted(steps_done, batch, generator_images)
            )
            return precision.observe(steps_done, self._updated(steps_done, batch, generator_images))

    def _attempted(self, steps_done: int, batch: Batch, generator_images: Optional[Images]) -> Losses:
        """The step while its precision lets nothing be applied; power iterations, which go on, are taken back."""
        state = self.training.networks.named_variables
        vectors = [variable for name, variable in state.items() if name.endswith('/u')]
        before = [tf.identity(variable) for variable in vectors]
        results = self._updated(steps_done, batch, generator_images)
        for variable, value in zip(vectors, before):
            variable.assign(value)
        return results

    def _updated(self, steps_done: int, batch: Batch, generator_images: Optional[Images]) -> Losses:
        if not updates_generators(self.schedule, steps_done):
            return self.discriminators(batch)
        if generator_images is None:
            return self.both(batch)
        losses = self.discriminators(batch)
        return {**losses, **self.generators(self.batch(steps_done, generator_images))}

    def batch(self, steps_done: int, images: Images) -> Batch:
        """The input of a traced update; the learning rate is the schedule's."""
        rate = tf.constant(learning_rate(self.schedule, steps_done), tf.float32)
        return Batch(tf.convert_to_tensor(images[0]), tf.convert_to_tensor(images[1]), rate, tf.constant(steps_done))


def _shared(training: Training, update: Callable[[Training, Batch], Losses]) -> Callable[[Batch], Losses]:
    """The update of one replica: from its rows of the batch, with losses averaged over all of them."""
    device = training.device
    if device.replicas == 1:
        return lambda batch: update(training, batch)

    def own(batch: Batch) -> Losses:
        rows = batch.images_a.shape[0] // device.replicas
        start = device.replica() * rows
        images = (x[start : start + rows] for x in (batch.images_a, batch.images_b))
        losses = update(training, Batch(*images, batch.learning_rate, batch.steps_done))
        scalars = [name for name, value in losses.items() if value.shape.rank == 0]
        return {**losses, **dict(zip(scalars, device.mean([losses[name] for name in scalars])))}

    return own
