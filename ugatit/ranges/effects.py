"""What a folded checkpoint changes for code that does not know its exponents: epsilons, CAM logits, heat maps.

Folding multiplies weights, and a drop-in checkpoint cannot tell unmodified code to multiply its epsilon as well:

    wanted   (x' - mean') / sqrt(variance' + epsilon * 4**-e)      with x' = x * 2**-e, variance' = variance * 4**-e
    computed (x' - mean') / sqrt(variance' + epsilon)
"""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Dict, List, Mapping, Optional

from ugatit.nn.call import Membership
from ugatit.nn.generator import CAM, DECODER, ENCODER
from ugatit.nn.norm import EPSILON
from ugatit.ranges.profile import RangeProfile

FLOAT32_HALF_ULP = 2.0**-24  # a relative change of variance + epsilon below this rounds away in float32
_VARIANCE = re.compile(r'(.*)/moments(_1)?/variance')


@dataclasses.dataclass(frozen=True)
class EpsilonEffect:
    """One normalisation whose epsilon stays 1e-5 although its input is stored times 2**-exponent."""

    norm: str  # layer
    statistics: str  # 'moments' (instance) or 'moments_1' (layer)
    exponent: int
    smallest_variance: float  # as stored, over channels and pictures
    mean_variance: float
    worst: float  # relative change of x_hat where the variance is smallest
    typical: float  # the same at the mean variance

    @property
    def rounds_away(self) -> bool:
        """Whether even the worst change is below float32's resolution, so that the same bits come out."""
        return abs(self.worst) < FLOAT32_HALF_ULP / 2


def epsilon_effects(
    members: Mapping[str, Membership],
    profile: RangeProfile,
    exponents: Mapping[str, int],
    before: Optional[Mapping[str, int]] = None,
) -> List[EpsilonEffect]:
    """One entry per set of statistics that reads a scaled group, largest effect first.

    Args:
        members: `network.range_members()`.
        profile: of the network as it is now, without `exponents`.
        exponents: group -> exponent about to be folded; negative ones make values larger.
        before: group -> exponent that was folded earlier: such code never knew of it either.
    """
    before = before or {}
    effects = []
    for name, t in profile.items():
        match, group = _VARIANCE.fullmatch(name), members[name].group if name in members else None
        total = before.get(group, 0) + exponents.get(group, 0) if group else 0
        if match and total:
            least, mean = (value * 4.0 ** -exponents.get(group, 0) for value in (t.min, t.mean))
            change = [x_hat_change(variance, total) for variance in (least, mean)]
            effects.append(EpsilonEffect(match[1], f'moments{match[2] or ""}', total, least, mean, *change))
    return sorted(effects, key=lambda effect: -abs(effect.worst))


def x_hat_change(variance: float, exponent: int, epsilon: float = EPSILON) -> float:
    """Relative change of x_hat where epsilon is not scaled: sqrt((v + eps * 4**-e) / (v + eps)) - 1."""
    change = epsilon * (4.0**-exponent - 1.0) / (variance + epsilon)
    return math.expm1(0.5 * math.log1p(change))


@dataclasses.dataclass(frozen=True)
class OutputEffect:
    """What unmodified code gets for the outputs beside the picture."""

    cam_scale: float  # its CAM logit is cam_scale * (pooled . kernel) + bias_scale * bias
    bias_scale: float
    heatmap_scale: float  # of every heat map; shown heat maps are stretched to their own range, so none shows it

    @property
    def logits_kept(self) -> bool:
        return self.cam_scale == self.bias_scale == 1.0


def output_effect(exponents: Mapping[str, int]) -> OutputEffect:
    """From all exponents folded into a generator, earlier ones included."""
    encoder, cam = exponents.get(ENCODER, 0), exponents.get(CAM, 0)
    # The bias is added to every attention weight as well, so it moves as the kernel does.
    return OutputEffect(2.0**-cam, 2.0 ** (encoder - cam), 2.0 ** -exponents.get(DECODER, 0))


def total_exponents(before: Mapping[str, int], added: Mapping[str, int]) -> Dict[str, int]:
    """Group -> exponent after folding `added` on top of `before`."""
    return {group: before.get(group, 0) + added.get(group, 0) for group in {**before, **added}}
