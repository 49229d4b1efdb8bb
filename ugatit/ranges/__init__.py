"""Exact power-of-two range planning: measure, choose exponents, fold (derived in docs/float16.md)."""

from ugatit.ranges.fold import check_permission, folding_factory, shifts
from ugatit.ranges.plan import RangePlan
from ugatit.ranges.planner import plan_network
from ugatit.ranges.profile import RangeProfile, TensorRange, measure

__all__ = [
    'RangePlan',
    'RangeProfile',
    'TensorRange',
    'check_permission',
    'folding_factory',
    'measure',
    'plan_network',
    'shifts',
]
