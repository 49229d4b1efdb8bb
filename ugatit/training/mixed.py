"""An update in mixed precision: gradients scaled, ranges measured, and nothing applied that overflowed anywhere.

Three things can be too large, and each has a remedy of its own, so each is looked at on its own: stored values (range
exponents), gradients (the update's loss scale), and the inner gradient of a gradient penalty (the penalty's scale).
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any, ContextManager, Dict, Iterator, List, Mapping, Optional, Sequence

import tensorflow as tf

from ugatit.nn.call import Call, SingularVectors
from ugatit.nn.variables import assign_here
from ugatit.ranges.meter import AmaxTap
from ugatit.training.device import Device, largest
from ugatit.training.optimiser import Adam
from ugatit.training.penalty import Inner
from ugatit.training.phase import Phase
from ugatit.training.scale import LossScale, fits, usable

if TYPE_CHECKING:
    from ugatit.training.precision import MixedPrecision
    from ugatit.training.update import Training

APPLIED, GRADIENTS, PENALTY, RANGES = 0, 1, 2, 3  # why an update was skipped; the larger number wins


class ScaledInner(Inner):
    """The inner gradient of a penalty, scaled on its way through float16 and looked at when it arrives."""

    def __init__(self, scale: LossScale, alarm: Optional[tf.Variable], saturates: bool, device: Device) -> None:
        self._scale, self._alarm, self._device = scale, alarm, device
        self._values_tell = saturates and not device.has_status
        self.overflowed: List[tf.Tensor] = []  # bool scalars

    def watch(self, tape: tf.GradientTape, images: tf.Tensor) -> None:
        tape.watch([images] if self._alarm is None else [images, self._alarm])

    def gradient(self, tape: tf.GradientTape, logit: tf.Tensor, images: tf.Tensor) -> tf.Tensor:
        scale = tf.convert_to_tensor(self._scale.scale)
        sources = [images] if self._alarm is None else [images, self._alarm]
        before = self._device.overflowed([logit])  # what was raised before is another's fault
        with tf.control_dependencies([] if before is None else [before]):
            gradient, *counts = tape.gradient(logit, sources, output_gradients=tf.fill(tf.shape(logit), scale))
        after = self._device.overflowed([gradient])
        if before is not None and after is not None:
            self.overflowed.append(tf.logical_and(after, tf.logical_not(before)))
        self.overflowed += [count > 0.0 for count in counts if count is not None]
        self.overflowed.append(tf.logical_not(fits(gradient, self._values_tell)))
        return gradient * (1.0 / scale)


class MixedPhase(Phase):
    """One update; `doubt` is what an earlier update said of tensors that this one begins with."""

    def __init__(
        self, training: Training, precision: MixedPrecision, owner: str, doubt: Optional[tf.Tensor] = None
    ) -> None:
        super().__init__(training)
        self._precision, self._owner = precision, owner
        self._scale = precision.scales[owner]
        self._tap = AmaxTap(precision.meters)
        self._ranges = [] if doubt is None else [doubt]  # bool scalars: an overflow that is not a gradient's
        self._gradients: List[tf.Tensor] = []  # bool scalars: an overflow of gradients
        self._before: List[tf.Tensor] = []
        self._cleared: List[Any] = []  # operations that cleared the status last
        self._report: Dict[str, tf.Tensor] = {}
        self.inner = ScaledInner(precision.scales['penalty'], precision.alarm, precision.saturates, training.device)

    def call(self, vectors: Optional[Mapping[str, SingularVectors]] = None) -> Call:
        call = super().call(vectors)
        return dataclasses.replace(call, tap=self._tap, members=self._tap.members) if self._precision.meters else call

    @contextlib.contextmanager
    def computing(self) -> Iterator[None]:
        self._cleared = self._training.device.clear_status()
        with self.still_computing():
            yield

    def still_computing(self) -> ContextManager[Any]:
        return tf.control_dependencies(self._cleared)

    def pause(self, after: Sequence[tf.Tensor]) -> Optional[tf.Tensor]:
        self._ranges += self._status(after)
        return tf.reduce_any(tf.stack([self._tap.overflowed(), *self._ranges]))

    def _status(self, after: Sequence[tf.Tensor]) -> List[tf.Tensor]:
        flag = self._training.device.overflowed(after)
        return [] if flag is None else [flag]

    def protect(self, networks: Sequence[Any]) -> None:
        known = len(self._running)
        super().protect(networks)
        self._before += [tf.identity(variable) for variable in self._running[known:]]

    @property
    def one(self) -> tf.Tensor:
        return tf.convert_to_tensor(self._scale.scale)

    def watch(self, tape: tf.GradientTape, sources: Sequence[Any]) -> None:
        alarm = self._precision.alarm
        tape.watch(sources if alarm is None else [*sources, alarm])

    def slopes(
        self, tape: tf.GradientTape, target: Any, sources: Sequence[Any], upstream: Optional[Sequence[tf.Tensor]] = None
    ) -> List[tf.Tensor]:
        alarm = self._precision.alarm
        upstream = upstream or [self.one]
        if alarm is None:
            return super().slopes(tape, target, sources, upstream)
        *slopes, count = super().slopes(tape, target, [*sources, alarm], upstream)
        self._gradients.append(count > 0.0)
        return slopes

    def apply(self, adam: Adam, slopes: Sequence[tf.Tensor], learning_rate: tf.Tensor) -> None:
        """All or nothing, on all replicas alike; each scale learns of what it is to blame for, and of nothing else.

        In a trial nothing is applied, but scales learn.
        """
        device = self._training.device
        self._gradients += self._status(slopes)
        values_tell = self._precision.saturates and not device.has_status
        self._gradients.append(tf.logical_not(usable(dict(zip(adam.variables_trained, slopes)), values_tell)))
        self._ranges.append(self._tap.overflowed())
        causes = largest(device, [_any(self._gradients), _any(self.inner.overflowed), _any(self._ranges)])
        reason = _reason(causes)
        applied = tf.logical_and(tf.equal(reason, APPLIED), tf.logical_not(self._precision.trial))
        self._share_statistics()
        for variable, before in zip(self._running, self._before):
            assign_here(variable, tf.where(applied, variable, before))
        adam.apply(self._scale.unscaled(device.mean(slopes)), learning_rate, applied)
        self._scale.update(applied, tf.equal(reason, GRADIENTS))
        if self.inner.overflowed:
            self._precision.scales['penalty'].update(applied, tf.equal(reason, PENALTY))
        self._note(reason)

    def _note(self, reason: tf.Tensor) -> None:
        self._report[f'skipped_{self._owner}'] = tf.cast(reason, tf.float32)
        names = {f'amax/{self._owner}/{scope}': amax for scope, amax in self._tap.found().items()}
        self._report.update(zip(names, largest(self._training.device, list(names.values()))))

    def report(self) -> Dict[str, tf.Tensor]:
        return self._report


def _any(flags: Sequence[tf.Tensor]) -> tf.Tensor:
    return tf.cast(tf.reduce_any(tf.stack(list(flags))), tf.float32) if flags else tf.zeros([])


def _reason(causes: Sequence[tf.Tensor]) -> tf.Tensor:
    """Int scalar. Wrong values make wrong gradients, so ranges come first; the inner gradient is part of the outer."""
    gradients, penalty, ranges = (cause > 0.0 for cause in causes)
    found = tf.where(gradients, GRADIENTS, APPLIED)
    return tf.where(ranges, RANGES, tf.where(penalty, PENALTY, found))
