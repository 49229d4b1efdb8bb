"""Choosing exponents: the smallest that fit every result and operand, raised only where that saves small weights."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Dict, List, NamedTuple, Optional, Tuple

from ugatit.nn.call import Membership
from ugatit.nn.network import Network
from ugatit.nn.scaling import FoldRule
from ugatit.numerics import FLOAT16
from ugatit.ranges.fold import permitted_groups
from ugatit.ranges.kinds import SQUARE, WIDE
from ugatit.ranges.plan import RangePlan
from ugatit.ranges.profile import RangeProfile, TensorRange

LARGEST_EXPONENT = 60
_RAISES = 24  # how far above the smallest fitting exponent small weights may push a group
_ROUNDS = 4  # groups depend on each other through the weights between them
_WORTH_RAISING = 0.05  # of one tensor's rounding noise: a higher exponent than needed must buy at least this


class Operand(NamedTuple):
    """A weight as its layer uses it: it is stored times 2 ** shift."""

    range: TensorRange
    rule: FoldRule


@dataclasses.dataclass(frozen=True)
class Problem:
    """What has to fit: results per group, operands between groups."""

    results: Mapping[str, List[Tuple[TensorRange, int]]]  # group -> (tensor, power)
    operands: List[Operand]
    limit: float  # largest |value| that a stored tensor may have


def plan_network(
    network: Network, profile: RangeProfile, headroom_bits: float = 1.0, fit_squares: bool = False
) -> RangePlan:
    """The plan for one network from its float32 profile.

    Args:
        network: gives range groups, fold rules and permissions.
        profile: `profile.measure` of the same network, unplanned.
        headroom_bits: powers of two to leave below 65504 for pictures that reach further than the calibration's.
        fit_squares: also fit squared differences, for hardware that squares in float16 (`plain` statistics there).

    Raises:
        UserError: layers of one range group disagree on whether they permit exponents.
    """
    permitted = permitted_groups(network.registry)
    problem = _problem(network, profile, FLOAT16.max_finite * 2.0**-headroom_bits, fit_squares)
    exponents = {group: 0 for group in problem.results if group in permitted}
    _fit_results(problem, exponents)
    _fit_operands(problem, exponents)
    _spare_small_values(problem, exponents)
    notes = _unfitted(problem, profile, network.range_members(), exponents)
    notes += _calibration_notes(problem, profile, exponents, headroom_bits)
    return RangePlan({network.scope: exponents}, headroom_bits, tuple(notes), {network.scope: profile.pictures})


def _problem(network: Network, profile: RangeProfile, limit: float, fit_squares: bool) -> Problem:
    results: Dict[str, List[Tuple[TensorRange, int]]] = {}
    for name, member in network.range_members().items():
        if member.group and member.power and name in profile and (fit_squares or profile[name].kind != SQUARE):
            results.setdefault(member.group, []).append((profile[name], member.power))
    operands = [
        Operand(profile[tensor], rule)
        for rule in network.registry.fold_rules
        for tensor in _tensors_of(rule, profile)
    ]  # fmt: skip
    return Problem(results, operands, limit)


def _tensors_of(rule: FoldRule, profile: RangeProfile) -> List[str]:
    """The variable itself, and for a CAM the attention weights kernel + bias, which move with it."""
    layer = rule.variable.rpartition('/')[0]
    names = [rule.variable]
    if layer.endswith('CAM_logit'):
        names += [f'{layer}/BiasAdd']
    return [name for name in names if name in profile]


def _fit_results(problem: Problem, exponents: Dict[str, int]) -> None:
    for group in exponents:
        finite = [(t, power) for t, power in problem.results[group] if math.isfinite(t.amax)]
        needed = [_bits_over(t.amax, problem.limit) / power for t, power in finite]
        exponents[group] = math.ceil(min(LARGEST_EXPONENT, max([0.0, *needed])))


def _fit_operands(problem: Problem, exponents: Dict[str, int]) -> None:
    # Raising what a layer writes lowers its weights but may lift the next layer's: repeat. A cycle of layers (the MLP)
    # whose weights cannot all fit would go on for ever, so the number of rounds is bounded and the report tells.
    for _ in range(len(exponents) + 1):
        changed = False
        for operand in problem.operands:
            over = _bits_over(operand.range.amax * 2.0 ** operand.rule.shift(exponents), problem.limit)
            if 0 < over < math.inf and operand.rule.writes in exponents and operand.rule.writing < 0:
                raised = min(LARGEST_EXPONENT, exponents[operand.rule.writes] + math.ceil(over))
                changed = changed or raised != exponents[operand.rule.writes]
                exponents[operand.rule.writes] = raised
        if not changed:
            return


def _bits_over(amax: float, limit: float) -> float:
    if amax == 0.0:
        return -math.inf
    return math.log2(amax / limit) if math.isfinite(amax) else math.inf


def _spare_small_values(problem: Problem, exponents: Dict[str, int]) -> None:
    """Raises a group where that takes clearly more rounding noise from small weights than it adds to small results."""
    for _ in range(_ROUNDS):
        before = dict(exponents)
        for group in exponents:
            trials = [{**exponents, group: exponents[group] + more} for more in range(_RAISES + 1)]
            trials = [trial for trial in trials if trial[group] <= LARGEST_EXPONENT and _fits(problem, trial)]
            noises = [_subnormal_noise(problem, trial) for trial in trials]
            # The smallest exponent that is as good as the best: higher than needed serves nobody.
            chosen = next((t for t, noise in zip(trials, noises) if noise <= min(noises) + _WORTH_RAISING), None)
            exponents.update(chosen or {})
        if exponents == before:
            return


def _subnormal_noise(problem: Problem, exponents: Mapping[str, int]) -> float:
    """Sum over tensors of the noise power that the fixed spacing 2**-24 of subnormals adds, in units of the noise that
    float16's 11 bits make anyway: the two are equal where a stored tensor's rms is 2**-13."""
    noise = 0.0
    for group, tensors in problem.results.items():
        shift = exponents.get(group, 0)
        noise += max((_relative_noise(t.rms, -power * shift) for t, power in tensors), default=0.0)
    # Kernels only: a bias's or gamma's noise counts against the result it enters, which is looked at above.
    kernels = (operand for operand in problem.operands if operand.rule.reading)
    return noise + sum(_relative_noise(kernel.range.rms, kernel.rule.shift(exponents)) for kernel in kernels)


def _relative_noise(rms: float, shift: int) -> float:
    return (2.0**-13 / (rms * 2.0**shift)) ** 2 if 0.0 < rms < math.inf else 0.0


def _fits(problem: Problem, exponents: Mapping[str, int]) -> bool:
    return all(o.range.amax * 2.0 ** o.rule.shift(exponents) <= problem.limit for o in problem.operands)


def _unfitted(
    problem: Problem, profile: RangeProfile, members: Mapping[str, Membership], exponents: Mapping[str, int]
) -> List[str]:
    notes = []
    for group, tensors in problem.results.items():
        exponent = exponents.get(group, 0)
        worst, power = max(tensors, key=lambda item: _reach(item[0].amax, -item[1] * exponent))
        if not _reach(worst.amax, -power * exponent) <= FLOAT16.max_finite:
            notes.append(f'{worst.name} does not fit float16: {_why(worst, group in exponents)}')
    for operand in problem.operands:
        stored = _reach(operand.range.amax, operand.rule.shift(exponents))
        if not stored <= FLOAT16.max_finite:
            notes.append(f'{operand.range.name} does not fit float16: |weight| is to be stored as {stored:.6g}')
    return notes + [note for name, member in members.items() for note in _unscaled(profile.get(name), member)]


def _reach(amax: float, shift: int) -> float:
    """Largest stored |value|; NaN counts as infinite, so that it is never the smaller one."""
    return math.inf if math.isnan(amax) else amax * 2.0**shift


def _why(found: TensorRange, permitted: bool) -> str:
    if not math.isfinite(found.amax):
        return f'it is not finite on the calibration pictures (min {found.min:g}, max {found.max:g})'
    reach = f'|value| reaches {found.amax:.6g}'
    if not permitted:
        return f'{reach}, and the variants of its range group refuse exponents'
    return f'{reach}, more than the largest exponent {LARGEST_EXPONENT} takes away'


def _unscaled(found: Optional[TensorRange], member: Membership) -> List[str]:
    if found is None or member.group or found.kind in (WIDE, 'operand') or not found.overflows:
        return []
    if found.name.endswith(('/Sum', '/Squeeze', '/add', '/concat')):
        return []  # heat maps and logits are multiplied back in float32 once a plan is in force
    return [f'{found.name} does not fit float16: |value| reaches {found.amax:.6g} and nothing after it undoes a scale']


def _calibration_notes(problem: Problem, profile: RangeProfile, exponents: Mapping[str, int], bits: float) -> List[str]:
    """Warns where the second half of the calibration reaches further above the first than the headroom allows."""
    if profile.pictures < 2:
        return ['only 1 calibration picture: other pictures may reach further; use 16 or more']
    grown = [_growth(group, tensors, problem.limit) for group, tensors in problem.results.items() if group in exponents]
    further, group = max(grown, default=(0.0, ''))
    if further <= 0.0:
        return []
    return [
        f'the calibration pictures look too few: planned on their first half, {group} would pass 65504 by'
        f' {further:.1f} bits in the second (headroom {bits:g}); use more pictures or more headroom_bits'
    ]


def _growth(group: str, tensors: List[Tuple[TensorRange, int]], limit: float) -> Tuple[float, str]:
    """By how many bits the held-out second half overflows a plan that the first half alone would have given."""
    parts = [t.amax_per_picture for t, power in tensors if power == 1 and math.isfinite(t.amax)]
    first = max((max(part[: len(part) // 2]) for part in parts), default=0.0)
    second = max((max(part[len(part) // 2 :]) for part in parts), default=0.0)
    exponent = max(0, math.ceil(_bits_over(first, limit))) if first > 0.0 else 0
    return _bits_over(second * 2.0**-exponent, FLOAT16.max_finite), group
