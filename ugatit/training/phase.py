"""One update's arithmetic: how its gradients are taken, whether it may be applied, and applying it.

`Phase` is the ordinary one: nothing is scaled, measured or refused. `MixedPhase` (mixed.py) does all three.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, ContextManager, Dict, List, Mapping, Optional, Sequence

import tensorflow as tf

from ugatit.nn.call import Call, SingularVectors
from ugatit.nn.network import Network
from ugatit.nn.variables import assign_here
from ugatit.training.optimiser import Adam
from ugatit.training.penalty import PLAIN_INNER, Inner

if TYPE_CHECKING:
    from ugatit.training.update import Training


class Phase:
    """From the first forward pass to the update of one optimiser's variables."""

    inner: Inner = PLAIN_INNER  # of gradient penalties

    def __init__(self, training: Training) -> None:
        self._training = training
        self._running: List[tf.Variable] = []

    def call(self, vectors: Optional[Mapping[str, SingularVectors]] = None) -> Call:
        """How this update calls a network; `vectors` are its spectral norms', for discriminators."""
        return self._training.call(vectors)

    def computing(self) -> ContextManager[Any]:
        """Forward passes are computed in here."""
        return contextlib.nullcontext()

    def still_computing(self) -> ContextManager[Any]:
        """More of what the last `computing` began."""
        return contextlib.nullcontext()

    def pause(self, after: Sequence[tf.Tensor]) -> Optional[tf.Tensor]:
        """Another update comes in between, which begins when `after` are computed.

        Returns a bool scalar, whether `after` are to be doubted, or None where nobody looks.
        """
        del after
        return None

    def protect(self, networks: Sequence[Network]) -> None:
        """Running statistics of these networks belong to this update: call it before they change."""
        for network in networks:
            for running in network.registry.running.values():
                self._running += [running.mean, running.variance]

    @property
    def one(self) -> tf.Tensor:
        """The gradient of a loss with respect to itself."""
        return tf.ones([])

    def watch(self, tape: tf.GradientTape, sources: Sequence[Any]) -> None:
        tape.watch(sources)

    def slopes(
        self, tape: tf.GradientTape, target: Any, sources: Sequence[Any], upstream: Optional[Sequence[tf.Tensor]] = None
    ) -> List[tf.Tensor]:
        """Gradients; zeros for what the target does not depend on: a variant may leave the MLP, say, without a reader.

        `upstream` belongs to several targets; a single one has `one`.
        """
        zero = tf.UnconnectedGradients.ZERO
        return tape.gradient(target, sources, output_gradients=upstream, unconnected_gradients=zero)

    def apply(self, adam: Adam, slopes: Sequence[tf.Tensor], learning_rate: tf.Tensor) -> None:
        """The same update on every replica, from the average of their gradients."""
        self._share_statistics()
        adam.apply(self._training.device.mean(slopes), learning_rate)

    def _share_statistics(self) -> None:
        if self._training.device.replicas > 1 and self._running:
            for variable, value in zip(self._running, self._training.device.mean([v + 0.0 for v in self._running])):
                assign_here(variable, value)

    def report(self) -> Dict[str, tf.Tensor]:
        """What joins the losses."""
        return {}
