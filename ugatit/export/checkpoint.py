"""`export.py --format=checkpoint`: the drop-in cure, a checkpoint in the official form with a range plan folded in.

The network stays as it is, and so does its float32 picture; unmodified official code reads the result and computes with
values that fit float16. What such code gets differently (its epsilon, CAM logits) is worked out and measured.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ugatit.checkpoints.folding import fold_ranges, folded_exponents
from ugatit.checkpoints.location import Location, PathLike
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.diagnosis.dropin import DropIn, quietly, try_drop_in
from ugatit.errors import UserError
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION
from ugatit.planning import plan_ranges, profile_ranges
from ugatit.ranges import RangePlan
from ugatit.ranges.effects import EpsilonEffect, OutputEffect, epsilon_effects, output_effect, total_exponents
from ugatit.translate import load

Pictures = Mapping[str, np.ndarray]  # direction -> [N, H, W, 3] in [-1, 1]


@dataclasses.dataclass(frozen=True)
class CuredGenerator:
    """One generator of the new checkpoint, tried out on the pictures."""

    exponents: Dict[str, int]  # group -> what was folded now, without zeros
    epsilons: Tuple[EpsilonEffect, ...]  # largest effect first
    outputs: OutputEffect
    proof: DropIn

    def to_json(self) -> Dict[str, Any]:
        return {
            'exponents': self.exponents,
            'epsilon_effects': [dataclasses.asdict(effect) for effect in self.epsilons],
            'output_effect': {**dataclasses.asdict(self.outputs), 'logits_kept': self.outputs.logits_kept},
            **self.proof.to_json(),
        }


@dataclasses.dataclass(frozen=True)
class Cure:
    """The new checkpoint and what it does."""

    location: Location
    plan: RangePlan
    generators: Dict[str, CuredGenerator]  # by direction, those with pictures to try them on

    def unfitted(self) -> List[str]:
        """Names of what is still over 65504."""
        return [t.name for cured in self.generators.values() for t in cured.proof.over()]

    def to_json(self) -> Dict[str, Any]:
        generators = {direction: cured.to_json() for direction, cured in self.generators.items()}
        return {'checkpoint': str(self.location.prefix), 'plan': self.plan.to_json(), 'generators': generators}


def plan_directions(
    checkpoint: PathLike,
    pictures: Pictures,
    headroom_bits: float = 1.0,
    fit_squares: bool = False,
    image_size: Optional[int] = None,
    progress: Callable[[Sequence[np.ndarray]], Any] = iter,
) -> RangePlan:
    """One plan for every direction that has calibration pictures."""
    plan = None
    for direction, images in pictures.items():
        with quietly():
            translate = load(checkpoint, direction, image_size=image_size)
        profile = profile_ranges(translate, images, progress=progress)
        found = plan_ranges(translate, profile, headroom_bits, fit_squares)
        plan = found if plan is None else plan.merged(found)
    if plan is None:
        raise UserError('--ranges=auto needs calibration pictures: --calibration_a=DIR for a2b, --calibration_b=DIR for'
                        ' b2a; give at least one.')  # fmt: skip
    return plan


def cure(
    checkpoint: PathLike,
    plan: RangePlan,
    output: PathLike,
    pictures: Pictures,
    image_size: Optional[int] = None,
) -> Cure:
    """Folds the plan into a new checkpoint and tries it on the pictures, as official code would read it."""
    with quietly():
        location = fold_ranges(checkpoint, plan, output, image_size)
        generators = {
            direction: _try(checkpoint, location, plan, direction, images, image_size)
            for direction, images in pictures.items()
        }
    return Cure(location, plan, generators)


def _try(
    checkpoint: PathLike,
    location: Location,
    plan: RangePlan,
    direction: str,
    images: np.ndarray,
    image_size: Optional[int],
) -> CuredGenerator:
    scope = GENERATOR_OF_DIRECTION[direction]
    added, before = plan.nonzero(scope), folded_exponents(CheckpointReader(checkpoint), scope)
    proof = try_drop_in(checkpoint, location.prefix, direction, images, image_size)
    total = total_exponents(before, added)
    # The profile is of the folded network, so its variances are the stored ones already: nothing is added to them.
    epsilons = epsilon_effects(proof.members, proof.profile, {}, before=total)
    return CuredGenerator(added, tuple(epsilons), output_effect(total), proof)


def cure_text(cured: CuredGenerator) -> str:
    """What one generator of the new checkpoint does, for a terminal."""
    proof, largest = cured.proof, cured.proof.largest()
    groups = ', '.join(f'{group} {e}' for group, e in cured.exponents.items())
    over = proof.over()
    fits = f'{len(over)} TENSORS ARE STILL OVER 65504, the first {over[0].name}' if over else 'everything fits float16'
    return '\n'.join([
        f'{proof.direction}: {f"folded (stored = t * 2**-e): {groups}" if groups else "nothing needed folding"}',
        f'  our runtime: {proof.ours.picture_text()}',
        f'  code that knows nothing of exponents: {proof.official.picture_text()}',
        f'  there {fits}; the largest convolution, dense, sum or activation is {largest.amax:.6g} ({largest.name})',
        f'  {_squares(proof)}',
        f'  {_epsilons(cured)}',
        f'  {_logits(cured)}',
        f'  heat maps: {_times(cured.outputs.heatmap_scale)} there; shown ones are stretched to their own range anyway',
    ])  # fmt: skip


def _squares(proof: DropIn) -> str:
    if not proof.squares_over():
        return 'squared differences: all below 65504'
    return (f'squared differences: {proof.squares_over()} squares and variances over 65504, which allow_fp32_to_fp16'
            ' keeps in float32; for modes that square in float16 use --fit_squares')  # fmt: skip


def _epsilons(cured: CuredGenerator) -> str:
    if not cured.epsilons:
        return 'epsilon: right everywhere'
    worst = cured.epsilons[0]
    text = (f'epsilon: stays 1e-5 in {len(cured.epsilons)} statistics whose input is scaled; x_hat changes by at most'
            f' {abs(worst.worst):.1e} ({worst.norm}, smallest variance {worst.smallest_variance:.3g})')  # fmt: skip
    return text + (', below the resolution of float32' if worst.rounds_away else '')


def _logits(cured: CuredGenerator) -> str:
    if cured.outputs.logits_kept:
        return f'CAM logits: kept (largest difference {cured.proof.official.logit_difference:.2g})'
    return (f'CAM logits: pooled * kernel is {_times(cured.outputs.cam_scale)} there and the bias'
            f' {_times(cured.outputs.bias_scale)} (largest difference'
            f' {cured.proof.official.logit_difference:.2g}); training reads them, the picture does not')  # fmt: skip


def _times(scale: float) -> str:
    return 'as before' if scale == 1.0 else f'{scale:g} times as large'
