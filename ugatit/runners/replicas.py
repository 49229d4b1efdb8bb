"""Several devices that train together: each has a copy of everything, a share of the batch, and all gradients.

`MirroredStrategy` within one process, `MultiWorkerMirroredStrategy` over several (workers.py). Adam writes into a
replica's variable past what a strategy would add up, so gradients are averaged first, and then every replica applies
the same update to its own copy.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, ContextManager, List, Optional, Sequence

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.runners.runner import Runner
from ugatit.runners.workers import ALONE, Worker


@dataclasses.dataclass(frozen=True)
class Sharing:
    """How many devices train together."""

    devices: int = 1  # of this process
    xla: bool = False  # compile training steps with XLA
    worker: Worker = ALONE  # which of several processes this is

    def __post_init__(self) -> None:
        if self.devices < 1:
            raise UserError(f'--devices must be at least 1, but {self.devices} arrived.')
        if self.xla and (self.devices > 1 or self.worker.count > 1):  # what devices exchange has no kernel there
            asked = 'TF_CONFIG' if self.worker.count > 1 else f'--devices={self.devices}'
            raise UserError(
                f'--xla compiles the step of one device, but {asked} asks for several that train together; leave out'
                ' one of the two.'
            )


UNSHARED = Sharing()
_LOST = (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError, tf.errors.DeadlineExceededError)
"""What a collective operation raises when a worker is gone."""


@dataclasses.dataclass(frozen=True, eq=False)
class ReplicatedRunner(Runner):
    """A strategy behind the interface that training knows."""

    strategy: Any = dataclasses.field(default=None, repr=False)
    worker: Worker = ALONE

    @property
    def replicas(self) -> int:
        return self.strategy.num_replicas_in_sync

    @property
    def processes(self) -> int:
        return self.worker.count

    @property
    def chief(self) -> bool:
        return self.worker.index == 0

    def scope(self) -> ContextManager[Any]:
        return self.strategy.scope()

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        run = self.strategy.run
        traced = super().compile(lambda *batch: run(function, args=batch))
        return lambda *batch: tf.nest.map_structure(self._first, traced(*batch))

    def _first(self, value: Any) -> Any:
        return self.strategy.experimental_local_results(value)[0]

    def replica(self) -> Any:
        return tf.distribute.get_replica_context().replica_id_in_sync_group

    def mean(self, tensors: Sequence[tf.Tensor]) -> List[tf.Tensor]:
        if not tensors:
            return []  # a strategy refuses to reduce nothing
        context = tf.distribute.get_replica_context()
        return list(context.all_reduce(tf.distribute.ReduceOp.MEAN, list(tensors)))

    def explain(self, error: Exception) -> Optional[str]:
        lost = isinstance(error, _LOST) or 'ollective' in str(error)
        if self.worker.count == 1 or not lost:
            return None
        return (
            f'worker {self.worker.index} of {self.worker.count} lost the others: one of them has ended or cannot be'
            ' reached. Look at the logs for the first that failed, and start all of them again with the same command;'
            ' the run continues from its last checkpoint.'
        )


def shared(runner: Runner, sharing: Sharing, kind: str) -> Runner:
    """The runner itself, or one whose devices ('CPU' or 'GPU') train together.

    Several processes connect here, so nothing may have been computed before.
    """
    if sharing.worker.count > 1:
        strategy: Any = _connected(sharing.worker)
    elif sharing.devices > 1:
        strategy = tf.distribute.MirroredStrategy([f'/{kind}:{i}' for i in range(sharing.devices)])
    else:
        return runner
    fields = {field.name: getattr(runner, field.name) for field in dataclasses.fields(Runner)}
    fields['description'] += f'; {strategy.num_replicas_in_sync} devices train together'
    if sharing.worker.count > 1:
        fields['description'] += f', this is worker {sharing.worker.index} of {sharing.worker.count}'
    return ReplicatedRunner(**fields, strategy=strategy, worker=sharing.worker)


def _connected(worker: Worker) -> Any:
    try:
        return tf.distribute.MultiWorkerMirroredStrategy()
    except (tf.errors.OpError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f'worker {worker.index} of {worker.count} cannot open {worker.addresses[worker.index]} for the others'
            f" ({reason}); is the port free, and is the address this machine's?"
        ) from error
