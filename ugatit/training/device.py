"""What training asks of a device, and the plain answers: one replica, no overflow status of its own.

`ugatit.runners` gives the real ones. Everything here may be called eagerly and while a `tf.function` is traced.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, ContextManager, List, Optional, Sequence

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.nn.build import Build


class Device:
    """A single device whose overflows show as infinity or NaN, or not at all: training looks at the values itself."""

    name: str = 'cpu'  # 'cpu', 'gpu' or 'npu'
    native_float16: bool = False  # whether its own float16 can be used; False: float16 is emulated on float32
    has_status: bool = False  # whether it keeps an overflow status: `clear_status` and `overflowed` are more than empty
    replicas: int = 1  # copies of the networks that train together, over all processes
    chief: bool = True  # whether this process writes checkpoints, tables and pictures
    op_by_op: bool = True  # whether a network may be called outside of compiled functions

    # --- set-up, outside traced functions ---

    def scope(self) -> ContextManager[Any]:
        """Networks, optimisers and all state are created in here, and steps are called in here."""
        return contextlib.nullcontext()

    def adapt(self, build: Build) -> Build:
        """What a network is built with here: how reflect padding is computed, who rounds, which operators must be kept
        float32. Every `Build` goes through it."""
        return build

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The traced `function`, to be called once a step with the whole batch; runs it on each replica of this
        process, and gives one replica's result (training makes the results equal on all of them)."""
        return tf.function(function, autograph=False)

    def broadcast(self, variables: Sequence[tf.Variable]) -> None:
        """Gives every replica the chief's values; called once, when all variables exist and hold what a run begins
        with."""
        del variables

    def agree(self, stop: bool) -> bool:
        """Whether to stop after this step, asked after every one: all processes get the same answer."""
        return stop

    def explain(self, error: Exception) -> Optional[str]:
        """One sentence for the user where a step failed because of the devices (a worker is gone); None otherwise."""
        del error
        return None

    # --- inside `compile`d functions: one replica speaks ---

    def replica(self) -> Any:
        """This replica's number, from 0 to `replicas` - 1: an int or an int32 scalar. It trains on its share of rows
        of the batch."""
        return 0

    def mean(self, tensors: Sequence[tf.Tensor]) -> List[tf.Tensor]:
        """Float32 tensors averaged over all replicas, none for none; every replica calls it in the same order."""
        return list(tensors)

    def clear_status(self) -> List[Any]:
        """Operations that clear the overflow status; a phase (forward and backward of one update) is computed under
        control dependencies of them. Empty where there is no status."""
        return []

    def overflowed(self, after: Sequence[tf.Tensor]) -> Optional[tf.Tensor]:
        """Bool scalar: something overflowed since `clear_status`, read when all of `after` are computed.

        None where the device keeps no status; then values decide: not finite, or at float16's end where it saturates.
        """
        del after
        return None


def check_batch(batch_size: int, replicas: int) -> None:
    """UserError where a batch cannot be shared evenly."""
    if batch_size % replicas:
        raise UserError(
            f'--config.training.batch_size is the whole batch and must be a multiple of the {replicas} devices that'
            f' share it, but {batch_size} arrived; use {replicas * max(1, round(batch_size / replicas))}.'
        )


def largest(device: Device, values: Sequence[tf.Tensor]) -> List[tf.Tensor]:
    """The largest over all replicas, element by element, or up to 2**-20 more; float32, not negative where it counts.

    An average is what every device has, so each replica gives a row of its own. Infinity becomes 1e30: 0 times
    infinity would be NaN in the others' rows.
    """
    if device.replicas == 1:
        return list(values)
    mine = tf.one_hot(device.replica(), device.replicas)
    rows = [tf.tensordot(mine, tf.minimum(value, 1e30), 0) for value in values]
    share = device.replicas * (1.0 + 2.0**-20)  # an average of thirds, times three, may be a little less
    return [share * tf.reduce_max(mean, 0) for mean in device.mean(rows)]
