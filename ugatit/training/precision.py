"""What a run's number format means for its updates: nothing (float32), or scales, ranges and skipped updates."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.architecture import NETWORKS, Architecture
from ugatit.nn.blueprint import blueprint
from ugatit.nn.policy import FLOAT32_POLICY, Policy
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.nn.scaling import UNPLANNED, Live, Scaling, live_exponents
from ugatit.ranges.follow import Follower, Following
from ugatit.ranges.meter import Meter, make_meter
from ugatit.training.mixed import APPLIED, MixedPhase
from ugatit.training.phase import Phase
from ugatit.training.scale import GROWTH_STEPS, START, LossScale
from ugatit.training.skips import Skips

_log = logging.getLogger(__name__)

Numbers = Dict[str, Any]
Measure = Callable[[], Mapping[str, tf.Tensor]]
FOLLOWING = Following()
_SETTLING = 12  # profiles at most before the first step: each raises what overflowed by a factor of 256


class FullPrecision:
    """Every update is applied as it is. Adds no operation to any graph."""

    columns: Tuple[str, ...] = ()  # of losses.csv, beside the losses
    skipped_now: bool = False  # the last step left weights as they were, so its losses need not be finite
    meters: Mapping[str, Meter] = {}

    def __init__(self, policy: Policy = FLOAT32_POLICY) -> None:
        self.policy = policy

    def scaling(self, scope: str) -> Scaling:
        """Of the network `scope`."""
        del scope
        return UNPLANNED

    def phase(self, training: Any, owner: str, doubt: Optional[tf.Tensor] = None) -> Phase:
        """Of one update; `owner` is 'generators' or 'discriminators'."""
        del owner, doubt
        return Phase(training)

    def prepare(self, measure: Measure, attempt: Measure) -> None:
        """Before every step; `measure` profiles the step's batch, `attempt` does the whole step, of which a `trial` of
        this precision applies nothing."""

    def observe(self, steps_done: int, results: Mapping[str, tf.Tensor]) -> Mapping[str, tf.Tensor]:
        """After every step: takes out of its results what is not a number to log, and adds what is."""
        del steps_done
        return results

    def state(self) -> Mapping[str, Any]:
        """Name in a checkpoint -> variable or value, beside the official ones."""
        return {}

    def restore(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Takes what `state` gave."""

    def details(self) -> Dict[str, float]:
        """More numbers, for TensorBoard."""
        return {}


class MixedPrecision(FullPrecision):
    """Loss scales where gradients are float16; exponents that follow the measured ranges where `following` is given.

    Made inside the device's scope, before the networks, which are built with its `policy` and `scaling`.
    """

    def __init__(
        self,
        policy: Policy,
        architecture: Architecture,
        variants: Variants = DEFAULT_VARIANTS,
        following: Optional[Following] = FOLLOWING,
        loss_scale: float = START,
        growth_steps: int = GROWTH_STEPS,
    ) -> None:
        emulated = policy.has_float16 and policy.emulated
        self.alarm = tf.Variable(0.0, trainable=False, name='alarm') if emulated else None
        super().__init__(dataclasses.replace(policy, alarm=self.alarm))
        self.saturates = policy.overflow == 'saturate' and policy.has_float16 and not emulated
        scale = loss_scale if policy.has_float16 else 1.0
        growth_steps = growth_steps if policy.has_float16 else 2**62
        self.scales = {
            owner: LossScale(owner, scale, growth_steps) for owner in ('generators', 'discriminators', 'penalty')
        }
        self.meters = {}
        self.followers: Dict[str, Follower] = {}
        self._exponents: Dict[str, Dict[str, tf.Variable]] = {}
        if following is not None:
            self._follow(architecture, variants, following)
        self.columns = (
            *(f'skipped_{owner}' for owner in ('discriminators', 'generators')),
            *(f'loss_scale_{owner}' for owner in self.scales),
            *(f'exponent_{scope}' for scope in self.followers),
        )
        self._skips = Skips(policy, bool(self.followers))
        self._assigned: Dict[Tuple[str, str], int] = {}
        self.skipped_now = False
        self.trial = tf.Variable(False, trainable=False, name='trial')  # True: updates are computed and not applied
        self._settled = not policy.has_float16  # whether the loss scales fit the first step's gradients

    def _follow(self, architecture: Architecture, variants: Variants, following: Following) -> None:
        for scope in NETWORKS:
            meter = make_meter(blueprint(architecture, scope, variants), scope, self.policy)
            self.meters[scope], self.followers[scope] = meter, Follower(meter, following)
            self._exponents[scope] = live_exponents(scope, {group: 0 for group in meter.groups})

    @property
    def variables(self) -> Mapping[str, tf.Variable]:
        return {name: v for scale in self.scales.values() for name, v in scale.named_variables.items()}

    def scaling(self, scope: str) -> Scaling:
        return Live(self._exponents[scope]) if scope in self._exponents else UNPLANNED

    def phase(self, training: Any, owner: str, doubt: Optional[tf.Tensor] = None) -> Phase:
        return MixedPhase(training, self, owner, doubt)

    def prepare(self, measure: Measure, attempt: Measure) -> None:
        if any(follower.fresh for follower in self.followers.values()):
            self._settle_ranges(measure)
        if not self._settled:
            self._settled = True
            self._settle_scales(attempt)

    def _settle_ranges(self, measure: Measure) -> None:
        for _ in range(_SETTLING):
            over = [self.followers[scope].settle(amax.numpy()) for scope, amax in measure().items()]
            self._assign()
            if not any(over):
                return
        _log.warning("the first step's ranges could not be settled: some values fit float16 at no exponent")

    def _settle_scales(self, attempt: Measure) -> None:
        """Halves what the first step's gradients overflow with, before any update counts."""
        start = before = self._scale_values()
        self.trial.assign(True)
        try:
            while True:
                attempt()
                now = self._scale_values()
                if now == before:
                    break
                before = now
        finally:
            self.trial.assign(False)
        for owner, value in before.items():
            if value != start[owner]:
                _log.info('the loss scale of the %s was settled at %g, because the first gradients overflow with %g',
                          owner, value, start[owner])  # fmt: skip

    def _scale_values(self) -> Dict[str, float]:
        return {owner: float(scale.scale.numpy()) for owner, scale in self.scales.items()}

    def _assign(self) -> None:
        """Exponents that changed; a variable that stays is not touched."""
        for scope, follower in self.followers.items():
            for group, exponent in follower.by_group.items():
                if self._assigned.get((scope, group)) != exponent:
                    self._exponents[scope][group].assign(exponent)
                    self._assigned[scope, group] = exponent

    def observe(self, steps_done: int, results: Mapping[str, tf.Tensor]) -> Mapping[str, tf.Tensor]:
        amax: Dict[str, List[np.ndarray]] = {}
        numbers: Numbers = {}
        for name, value in results.items():
            if name.startswith('amax/'):
                amax.setdefault(name.rpartition('/')[2], []).append(value.numpy())
            elif not name.startswith('skipped_'):
                numbers[name] = value
        for scope, found in amax.items():
            self.followers[scope].observe(np.max(found, axis=0))
        self._assign()
        # Averages over replicas of equal numbers: a third three times may be a little less than 1.
        reasons = {owner: round(float(results.get(f'skipped_{owner}', APPLIED))) for owner in self._skips.counts}
        # Without float16 what is not finite does not go away by itself: then losses must be looked at.
        self.skipped_now = self._skips.add(steps_done, reasons) and self.policy.has_float16
        return {**numbers, **{name: tf.constant(value, tf.float32) for name, value in self._report().items()}}

    def _report(self) -> Dict[str, float]:
        numbers: Dict[str, float] = {f'skipped_{owner}': count for owner, count in self._skips.counts.items()}
        numbers.update({f'loss_scale_{owner}': value for owner, value in self._scale_values().items()})
        for scope, follower in self.followers.items():
            numbers[f'exponent_{scope}'] = max(follower.by_group.values(), default=0)
        return numbers

    def details(self) -> Dict[str, float]:
        return {
            f'exponents/{scope}/{group}': exponent
            for scope, follower in self.followers.items()
            for group, exponent in follower.by_group.items()
        }

    def state(self) -> Mapping[str, Any]:
        ranges = {name: value for follower in self.followers.values() for name, value in follower.state().items()}
        return {**self.variables, **self._skips.state(), **ranges}

    def restore(self, tensors: Mapping[str, np.ndarray]) -> None:
        self._skips.restore(tensors)
        for name, variable in self.variables.items():
            if name in tensors:
                variable.assign(tensors[name])
                self._settled = True
        lost = [scope for scope, follower in self.followers.items() if not follower.restore(tensors)]
        if lost:
            _log.info('the checkpoint knows no ranges of %s: they are measured anew', ', '.join(lost))
        self._assign()
