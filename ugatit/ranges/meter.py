"""Measuring while training: the largest |value| of every range group and weight, taken in passing, inside the graph."""

from __future__ import annotations

import dataclasses
from typing import Dict, List, Mapping, Optional, Tuple

import tensorflow as tf

from ugatit.nn.build import Registry
from ugatit.nn.call import Membership
from ugatit.nn.policy import Policy
from ugatit.nn.scaling import FoldRule
from ugatit.numerics import FLOAT16, Format
from ugatit.ranges.kinds import INPUT, OPERAND, RESULT, SQUARE, VECTOR, kind_of, stored_format

DID_NOT_RUN = -1.0  # in place of an amax


@dataclasses.dataclass(frozen=True)
class Meter:
    """One place per range group that may be scaled, and one per weight whose scale depends on such a group."""

    scope: str  # of the network
    groups: Tuple[str, ...]
    operands: Tuple[FoldRule, ...]
    kinds: Tuple[str, ...]  # of results that are measured
    end: float  # what is stored at this value or beyond did not fit; infinite where nothing is float16

    @property
    def size(self) -> int:
        return len(self.groups) + len(self.operands)

    def place(self, name: str, member: Membership) -> Optional[int]:
        """Where a tensor's amax goes; None for a tensor that is of no interest."""
        kind = kind_of(name)
        if kind == OPERAND and VECTOR not in self.kinds and name.endswith(('/BiasAdd', '/GatherV2')):
            return None  # a CAM's attention weights: an element-wise sum, wider than float16 here
        if kind == OPERAND:
            variable = _variable_of(name)
            found = [i for i, rule in enumerate(self.operands) if rule.variable == variable]
            return len(self.groups) + found[0] if found else None
        wanted = member.group in self.groups and member.power and kind in self.kinds
        return self.groups.index(member.group) if wanted else None


def _variable_of(name: str) -> str:
    """A CAM's attention weights, kernel + bias, move like its kernel."""
    layer, _, leaf = name.rpartition('/')
    if leaf == 'BiasAdd' and layer.endswith(('CAM_logit', 'CAM_logit_1')):
        return f'{layer[: -len("_1")] if layer.endswith("_1") else layer}/kernel'
    return name


def make_meter(registry: Registry, scope: str, policy: Policy) -> Meter:
    """What to measure so that every float16 value of the policy fits.

    Inputs of convolutions are measured before they are rounded, so they tell of element-wise results in front too,
    wherever those are wider than float16. What is stored in a wider format is not looked at: it cannot overflow.
    """
    # Where some layers of a group refuse exponents it stays as it is: training must go on with any variant.
    permitted = {group for group, members in registry.members.items() if all(member.permits for member in members)}
    groups = tuple(group for group in registry.members if group in permitted)
    operands = tuple(
        rule
        for rule in registry.fold_rules
        if rule.variable.endswith(('/kernel', '/bias')) and {rule.reads, rule.writes} & permitted
        if _counts(stored_format(rule.variable, policy), policy)
    )
    formats = {RESULT: policy.result_format, VECTOR: policy.vector_format, SQUARE: policy.vector_format}
    narrow = [kind for kind, fmt in formats.items() if fmt is FLOAT16]
    kinds = (INPUT, *(narrow if policy.has_float16 else [RESULT]))
    return Meter(scope, groups, operands, kinds, FLOAT16.max_finite if policy.has_float16 else float('inf'))


def _counts(fmt: Format, policy: Policy) -> bool:
    return fmt is FLOAT16 or not policy.has_float16


class AmaxTap:
    """A tap for every call of one update; `found` gives what it saw. `members` belongs into the same `Call`."""

    def __init__(self, meters: Mapping[str, Meter]) -> None:
        self.members: Dict[str, Membership] = {}
        self._meters = meters
        self._seen: Dict[str, List[List[tf.Tensor]]] = {}

    def __call__(self, name: str, x: tf.Tensor) -> tf.Tensor:
        meter = self._meters.get(name.partition('/')[0])
        place = None if meter is None else meter.place(name, self.members[name])
        if meter is not None and place is not None:
            seen = self._seen.setdefault(meter.scope, [[] for _ in range(meter.size)])
            seen[place].append(_amax(x, self.members[name].power if place < len(meter.groups) else 1))
        return x

    def found(self) -> Dict[str, tf.Tensor]:
        """Network -> [meter.size] float32, as stored; DID_NOT_RUN for what did not. Networks that did not run are left
        out."""
        return {
            scope: tf.stack([tf.reduce_max(tf.stack(each)) if each else tf.constant(DID_NOT_RUN) for each in places])
            for scope, places in self._seen.items()
        }

    def overflowed(self) -> tf.Tensor:
        """Bool scalar: something did not fit."""
        found = self.found()
        reached = [tf.reduce_any(found[scope] >= self._meters[scope].end) for scope in found]
        return tf.reduce_any(tf.stack(reached)) if reached else tf.constant(False)


def _amax(x: tf.Tensor, power: int) -> tf.Tensor:
    """Largest |x|; infinite where there is a NaN. A square's is its root, on a scale on which float16 ends alike."""
    x = tf.cast(tf.reduce_max(tf.abs(tf.stop_gradient(x))), tf.float32)
    x = tf.where(tf.equal(x, x), x, tf.constant(float('inf')))
    return tf.sqrt(x * FLOAT16.max_finite) if power == 2 else x
