"""A device's overflow status is read and cleared at the right moments, and charged to the right scale."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, List

import pytest
import tensorflow as tf

from tests.training.mixed_runs import make, mixed, scales_of
from tests.training.tiny import TINY, make_batch, make_images
from ugatit.nn.policy import make_policy
from ugatit.training.device import Device
from ugatit.training.mixed import GRADIENTS, PENALTY
from ugatit.training.networks import make_fakes
from ugatit.training.precision import MixedPrecision
from ugatit.training.update import update_discriminators, update_generators


@pytest.fixture
def eagerly() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


class _Register(Device):
    """A status that stays raised from one of its reads on. A penalty reads it twice for each of eight gradients."""

    has_status = True

    def __init__(self, raised_after: int) -> None:
        self.reads, self._raised_after = 0, raised_after

    def overflowed(self, after: Any) -> tf.Tensor:
        self.reads += 1
        return tf.constant(self.reads > self._raised_after)


@pytest.mark.parametrize(
    ('raised_after', 'reason'), [(0, GRADIENTS), (1, PENALTY), (2, GRADIENTS), (15, PENALTY), (16, GRADIENTS)]
)
def test_a_status_that_an_inner_gradient_raised_is_the_penaltys(eagerly: None, raised_after: int, reason: int) -> None:
    device = _Register(raised_after)
    precision = mixed(following=None)
    training = dataclasses.replace(make(precision, 'wgan-gp'), device=device)
    losses = update_discriminators(training, make_batch(make_images()))
    assert device.reads == 17 and float(losses['skipped_discriminators']) == reason
    blamed = 'penalty' if reason == PENALTY else 'discriminators'
    assert scales_of(precision) == {**dict.fromkeys(precision.scales, 16.0), blamed: 8.0}


class _Clearing(Device):
    """Notes the operations that clear the status."""

    has_status = True

    def __init__(self) -> None:
        self.clears: List[tf.Operation] = []

    def clear_status(self) -> List[Any]:
        self.clears.append(tf.no_op())
        return self.clears[-1:]

    def overflowed(self, after: Any) -> tf.Tensor:
        return tf.constant(False)


@pytest.mark.slow
def test_all_that_comes_after_the_pause_comes_after_the_second_clearing() -> None:
    """In a graph: only the fakes are convolved before it, and no gradient is."""
    device = _Clearing()
    precision = MixedPrecision(make_policy('float32'), TINY, following=None)
    training = dataclasses.replace(make(precision), device=device)
    batch = make_batch(make_images())
    graph = _traced(lambda: update_generators(training, batch))
    fakes = _traced(lambda: make_fakes(training.networks, *batch[:2], training.call()).b.image)
    forward = sum(op.type == 'Conv2D' for op in fakes.get_operations())
    first, second = (_following(graph, op) for op in device.clears)
    convolutions = [op for op in graph.get_operations() if op.type.startswith('Conv2D') or op.type == 'MatMul']
    assert sum(op.type == 'Conv2D' for op in convolutions if op in first and op not in second) == forward
    early = [op.name for op in convolutions if op not in second and op.type != 'Conv2D']
    assert all('discriminator' not in name and 'gradient' not in name for name in early), early


def _traced(function: Callable[[], Any]) -> tf.Graph:
    return tf.function(function, autograph=False).get_concrete_function().graph


def _following(graph: tf.Graph, start: tf.Operation) -> set:
    """Everything that is computed after an operation."""
    found = {start}
    for op in graph.get_operations():  # in order of creation, so inputs come first
        if any(before in found for before in [*op.control_inputs, *(x.op for x in op.inputs)]):
            found.add(op)
    return found
