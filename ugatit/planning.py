"""Range planning on a loaded model: `profile_ranges`, `plan_ranges`."""

from __future__ import annotations

import dataclasses
import math
from typing import Callable, Iterable, Sequence

import numpy as np
import tensorflow as tf

from ugatit.checkpoints.writer import is_finite
from ugatit.errors import UserError
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION
from ugatit.nn.policy import FLOAT32_POLICY
from ugatit.ranges import RangePlan, RangeProfile, measure, plan_network
from ugatit.ranges.kinds import OPERAND
from ugatit.translate import Translator

AUTO_PICTURES = 64  # so many inputs, sorted by name, are measured by `--ranges=auto`


def profile_ranges(
    translate: Translator,
    images: np.ndarray,
    batch_size: int = 4,
    progress: Callable[[Sequence[np.ndarray]], Iterable[np.ndarray]] = iter,
) -> RangeProfile:
    """Measures every tensor of a loaded model on pictures, in float32 whatever the model's precision.

    A saturating or overflowing precision would hide how far the values want to go. With a plan in force the values are
    the stored ones, so the profile shows what the plan achieves.

    Args:
        translate: from `ugatit.load`.
        images: [N, H, W, 3] in [-1, 1], all of one size.
        batch_size: pictures per run; more need more memory.
        progress: wraps the list of batches and hands them on, to show how far the job is.
    """
    if translate.rounds:
        raise UserError('A range profile needs float32, but this device rounds; profile the model with device cpu, and'
                        ' load it here with the plan.')  # fmt: skip
    if len(images) == 0:
        raise UserError('A range profile needs at least one picture, but none arrived; 16 or more are advisable.')
    images = np.asarray(images, np.float32)
    batches = [images[start : start + batch_size] for start in range(0, len(images), batch_size)]
    with tf.device(translate.device):
        profile = measure(translate.twin(FLOAT32_POLICY), progress(batches))
    if not all(math.isfinite(t.amax) for t in profile.values()):
        _check_weights(translate, profile)
    return profile


def require_network(plan: RangePlan, direction: str) -> None:
    """UserError for a plan that does not speak of this direction's generator: it would change nothing, silently."""
    network = GENERATOR_OF_DIRECTION[direction]
    if network not in plan:
        raise UserError(f'A range plan for {network} is expected (direction {direction}), but this one is for'
                        f' {", ".join(plan) or "nothing"}; make one with --direction={direction}.')  # fmt: skip


def _check_weights(translate: Translator, profile: RangeProfile) -> None:
    """UserError where values are not finite because weights are not; results alone may overflow even float32."""
    broken = [t.name for t in profile.values() if t.kind == OPERAND and not math.isfinite(t.amax)]
    weights = translate.generator.named_variables.items()
    broken += [name for name, variable in weights if not is_finite(variable)]
    if broken:
        raise UserError(f'the checkpoint is damaged: NaN or infinity in {broken[0]}; copy or download it again, or take'
                        ' an earlier one.')  # fmt: skip


def plan_ranges(
    translate: Translator, profile: RangeProfile, headroom_bits: float = 1, fit_squares: bool = False
) -> RangePlan:
    """Chooses the exponents of one direction's generator from its profile; see `ugatit.ranges.planner`.

    Args:
        translate: the model that was profiled. If it has a plan in force already, the profile shows stored values, and
            the new plan is the old one plus what is still missing.
        profile: from `profile_ranges`.
        headroom_bits: powers of two to leave below 65504.
        fit_squares: also fit squared differences, for arithmetic that squares in float16.

    Raises:
        UserError: no profile, or one of another network.
    """
    if not isinstance(profile, RangeProfile):
        raise UserError(f'A profile from ugatit.profile_ranges is expected, but {type(profile).__name__} arrived.')
    if profile.network != translate.generator.scope:
        raise UserError(f'A profile of {translate.generator.scope} is expected, but one of {profile.network} arrived;'
                        ' profile the same direction.')  # fmt: skip
    plan = plan_network(translate.generator, profile, headroom_bits, fit_squares)
    return plan if translate.plan is None else _added(translate.plan, plan, profile.network)


def _added(before: RangePlan, more: RangePlan, network: str) -> RangePlan:
    """Both plans of one network, one on top of the other."""
    groups = {**before.networks.get(network, {}), **more[network]}
    total = {group: before.networks.get(network, {}).get(group, 0) + more[network].get(group, 0) for group in groups}
    return dataclasses.replace(more, networks={network: total})
