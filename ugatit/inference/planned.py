"""`--ranges`: none, a plan from a file, or one made now from the first inputs; each with one line that says so."""

from __future__ import annotations

import contextlib
import logging
from typing import Iterator, Optional, Sequence

from ugatit.inference.inputs import Input, sample
from ugatit.inference.model import ModelChoice, calibrate
from ugatit.inference.settings import Settings
from ugatit.nn.policy import Policy, make_policy
from ugatit.numerics import FLOAT16
from ugatit.planning import AUTO_PICTURES, plan_ranges, profile_ranges, require_network
from ugatit.ranges import RangePlan, RangeProfile, TensorRange
from ugatit.ranges.kinds import SQUARE
from ugatit.translate import Translator

_log = logging.getLogger(__name__)


def read_plan(ranges: str, direction: str) -> Optional[RangePlan]:
    """The plan of `--ranges=PLAN.json`; None for 'none' and 'auto'. UserError for a file that is no plan for this."""
    if ranges in ('none', 'auto'):
        return None
    plan = RangePlan.load(ranges)
    require_network(plan, direction)
    return plan


def load_planned(
    choice: ModelChoice, ranges: str, plan: Optional[RangePlan], inputs: Sequence[Input], settings: Settings
) -> Translator:
    """The model with the plan that `--ranges` asks for, and with what its checkpoint lacks measured."""
    if ranges == 'auto':
        plan = _measured(choice, inputs, settings)
    elif plan is not None:
        scaled = _scaled(plan, next(iter(plan)))
        _log.info('ranges: %s; %s', ranges, scaled)
    on_npu = choice.device == 'npu'
    if on_npu and plan is None:  # looked at while it can be: see ModelChoice.on_cpu
        _warn_of_overflow(_on_cpu(choice), inputs, settings)
    with _said_once(ranges == 'auto' and not on_npu):
        translate = choice.load(plan)
    calibrate(translate, inputs, settings)
    if plan is None and not on_npu:
        _warn_of_overflow(translate, inputs, settings)
    return translate


def _on_cpu(choice: ModelChoice) -> Translator:
    """To measure on; the NPU's own log comes later and is worth reading."""
    with _said_once(True):
        return choice.on_cpu().load()


def _warn_of_overflow(translate: Translator, inputs: Sequence[Input], settings: Settings) -> None:
    """Says so where values of the first picture do not fit: saturated results are finite, and look like pictures."""
    if FLOAT16 not in (translate.policy.operand_format, translate.policy.result_format):
        return
    pictures = sample(inputs, translate.image_size, settings, 1)
    if not len(pictures):
        return
    profile = profile_ranges(translate, pictures)
    first = profile.first_overflow(translate.policy)
    if first is not None:
        _log.warning('%s reaches %.6g in float32, which float16 cannot hold: expect wrong pictures; --ranges=auto'
                     ' cures it', first.name, first.amax)  # fmt: skip


@contextlib.contextmanager
def _said_once(again: bool) -> Iterator[None]:
    """Keeps the log from saying everything about a checkpoint a second time."""
    log = logging.getLogger('ugatit')
    before = log.level
    if again:
        log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def _measured(choice: ModelChoice, inputs: Sequence[Input], settings: Settings) -> Optional[RangePlan]:
    """Loads the model without a plan, profiles it, and lets it go again: a full one has 1.1 GB."""
    translate = _on_cpu(choice) if choice.device == 'npu' else choice.load()
    calibrate(translate, inputs, settings)
    pictures = sample(inputs, translate.image_size, settings, AUTO_PICTURES)
    if not len(pictures):
        _log.warning('ranges: not measured, because none of the first %d inputs can be read', AUTO_PICTURES)
        return None
    profile = profile_ranges(translate, pictures)
    squares = squares_in_float16(make_policy(choice.precision, choice.overflow), translate)
    plan = plan_ranges(translate, profile, fit_squares=squares)
    _log.info('%s', ranges_line(profile, plan, squares))
    return plan


def squares_in_float16(policy: Policy, translate: Translator) -> bool:
    """Whether some norm forms squared differences in float16 under this policy, which then have to fit as well."""
    if policy.vector_format is not FLOAT16:
        return False
    chosen = translate.generator.registry.variants.values()
    return any(row.get('statistics') == 'plain' for row in chosen)


def ranges_line(profile: RangeProfile, plan: RangePlan, squares: bool = False) -> str:
    """One line: what was found, what is done about it, what is left.

    'ranges: 12 tensors of generator_B pass 65504 (first generator_B/up_conv_0/conv2d/Conv2D, max 181943, min -271823);
    9 range groups scaled by up to 2**-4; nothing left unfitted'
    """
    network = profile.network
    counted = [t for t in profile.values() if squares or t.kind != SQUARE]
    over = [t for t in counted if t.overflows]
    if over:
        first: TensorRange = over[0]
        reach = f'first {first.name}, max {first.max:.6g}, min {first.min:.6g}'
        count = '1 tensor' if len(over) == 1 else f'{len(over)} tensors'
        found = f'{count} of {network} {"passes" if len(over) == 1 else "pass"} 65504 ({reach})'
    else:
        largest = max(counted, key=lambda t: t.amax)
        reach = f'largest |value| {largest.amax:.6g} in {largest.name}'
        found = f'all {len(counted)} tensors of {network} fit float16 ({reach})'
    left = '; '.join(plan.notes) or 'nothing left unfitted'
    return f'ranges: {found}; {_scaled(plan, network)}; {left}'


def _scaled(plan: RangePlan, network: str) -> str:
    exponents = plan.nonzero(network)
    if not exponents:
        return 'no range group needs scaling'
    groups = '1 range group' if len(exponents) == 1 else f'{len(exponents)} range groups'
    return f'{groups} scaled by up to 2**-{max(exponents.values())}'
