"""The range report of one direction: every tensor before and after a plan, and what each policy cannot store."""

from __future__ import annotations

import dataclasses
import math
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ugatit.diagnosis.findings import Finding, describe_json, find, largest_square
from ugatit.diagnosis.stored import storage_shifts
from ugatit.nn.call import Membership
from ugatit.numerics import FLOAT16
from ugatit.planning import plan_ranges
from ugatit.ranges import RangePlan, RangeProfile, TensorRange
from ugatit.ranges.kinds import INPUT, SQUARE
from ugatit.translate import Translator

FLOAT16_PRECISIONS = ('mixed_float16', 'float16', 'float16_operands')


class Row(NamedTuple):
    """One tensor with what the plan does to it."""

    range: TensorRange  # as measured, without the plan
    group: Optional[str]  # its range group; None for weights and for what is never scaled
    exponent: int  # of that group; 0 without one
    shift: int  # with the plan it is stored times 2**shift
    order: int  # place in the order of execution

    @property
    def bits_over(self) -> float:
        """log2(amax / 65504): above 0 it overflows by so many bits, below 0 so many are left."""
        return bits_over(self.range.amax)

    @property
    def amax_after(self) -> float:
        return math.ldexp(self.range.amax, self.shift)

    @property
    def overflows_after(self) -> bool:
        return not self.amax_after <= FLOAT16.max_finite

    def to_json(self) -> Dict[str, object]:
        t = self.range
        return {
            **describe_json(t),
            'rms': t.rms,
            'overflow_share': t.overflow_share,
            'subnormal_share': t.subnormal_share,
            'bits_over': self.bits_over if math.isfinite(self.bits_over) else None,
            'group': self.group,
            'exponent': self.exponent,
            'planned_amax': self.amax_after,
        }


@dataclasses.dataclass(frozen=True)
class RangeReport:
    """Everything that `diagnose.py ranges` says about one generator."""

    direction: str
    rows: Tuple[Row, ...]  # in order of execution
    profile: RangeProfile
    plan: RangePlan
    findings: Tuple[Finding, ...]
    image_size: int

    @property
    def network(self) -> str:
        return self.profile.network

    @property
    def exponents(self) -> Dict[str, int]:
        """Group -> exponent, those that are not 0."""
        return self.plan.nonzero(self.network)

    def worst_first(self) -> List[Row]:
        """Largest first, squared differences last: they are float32 in most modes and shown apart."""
        return sorted(self.rows, key=lambda row: (row.range.kind == SQUARE, -row.bits_over, row.order))

    def unfitted(self) -> List[Row]:
        """What the plan leaves above 65504, squared differences left out."""
        return [row for row in self.rows if row.overflows_after and row.range.kind != SQUARE]

    def to_json(self) -> Dict[str, object]:
        over, square = self.profile.first_over_limit(), largest_square(self.profile)
        return {
            'direction': self.direction,
            'network': self.network,
            'pictures': self.profile.pictures,
            'image_size': self.image_size,
            'policies': [finding.to_json() for finding in self.findings],
            'first_over_65504': describe_json(over) if over else None,
            'largest_square': describe_json(square) if square else None,
            'exponents': self.exponents,
            'unfitted': [row.range.name for row in self.unfitted()],
            'notes': list(self.plan.notes),
            'tensors': [row.to_json() for row in self.rows],
        }


def make_report(
    translate: Translator,
    profile: RangeProfile,
    headroom_bits: float = 1.0,
    fit_squares: bool = False,
    precisions: Sequence[str] = FLOAT16_PRECISIONS,
    plan: Optional[RangePlan] = None,
) -> RangeReport:
    """Puts every tensor of a profile of `translate` before and after a plan side by side.

    Args:
        plan: made of other pictures, say; None: made of this profile, as `headroom_bits` and `fit_squares` say.
    """
    plan = plan_ranges(translate, profile, headroom_bits, fit_squares) if plan is None else plan
    network = translate.generator
    exponents = plan.nonzero(network.scope)
    members, shifts = network.range_members(), storage_shifts(network, profile, exponents)
    rows = []
    for order, (name, t) in enumerate(profile.items()):
        group = members.get(name, Membership(None, 0)).group
        if t.kind != INPUT:  # the same tensor as what wrote it; `find` looks at it
            rows.append(Row(t, group, exponents.get(group, 0) if group else 0, shifts[name], order))
    findings = tuple(find(profile, precisions))
    return RangeReport(translate.direction, tuple(rows), profile, plan, findings, translate.image_size)


def bits_over(amax: float) -> float:
    """log2(amax / 65504); -inf for a tensor of zeros, inf for one that is not finite."""
    if amax == 0.0:
        return -math.inf
    return math.log2(amax / FLOAT16.max_finite) if math.isfinite(amax) else math.inf
