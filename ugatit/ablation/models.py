"""From a variant to a loaded model, and what is measured of the model itself: ranges, bytes, time."""

from __future__ import annotations

import dataclasses
import json
import statistics
import tempfile
import time
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ugatit.ablation.spec import Variant
from ugatit.checkpoints.folding import fold_ranges
from ugatit.checkpoints.location import PathLike
from ugatit.nn.policy import Policy, make_policy
from ugatit.numerics import FLOAT16
from ugatit.planning import AUTO_PICTURES, plan_ranges, profile_ranges
from ugatit.ranges import RangePlan, RangeProfile
from ugatit.ranges.kinds import OPERAND, SQUARE, stored_format
from ugatit.translate import Translator, load, load_as_official

_TIMED = 3  # runs whose median is the time per picture
_BATCH = 4


@dataclasses.dataclass(frozen=True)
class Source:
    """The checkpoint that every variant runs."""

    checkpoint: PathLike
    direction: str
    device: str = 'auto'
    image_size: Optional[int] = None

    def load(self, variant: Variant, plan: Optional[RangePlan] = None) -> Translator:
        """The variant's layers in its precision."""
        return load(self.checkpoint, self.direction, variant.precision, variant.overflow, plan, variant.variants,
                    self.device, self.image_size)  # fmt: skip


class Profiles:
    """Range profiles of this session; one serves every precision, since all are measured in float32."""

    def __init__(self, images: np.ndarray) -> None:
        self._images = images[:AUTO_PICTURES]
        self._known: Dict[str, RangeProfile] = {}

    def of(self, translate: Translator, variant: Variant, plan: Optional[RangePlan]) -> RangeProfile:
        """Of a model with these layers and this plan."""
        unaware = plan is not None and variant.ranges == 'drop_in'
        key = json.dumps([variant.variants, unaware, None if plan is None else plan.to_json()['networks']])
        if key not in self._known:
            self._known[key] = profile_ranges(translate, self._images)
        return self._known[key]


def open_variant(
    source: Source, variant: Variant, images: np.ndarray, profiles: Profiles
) -> Tuple[Translator, Optional[RangePlan]]:
    """Loads it, with running statistics and a plan measured on the first of the pictures.

    Returns:
        The model, and its plan where it has one.
    """
    translate = source.load(variant)
    if translate.uncalibrated:
        translate.calibrate(images)
    if variant.ranges == 'floor':
        policy = make_policy(variant.precision, variant.overflow).floor()
        return _with_policy(translate, policy), None
    if not variant.planned:
        return translate, None
    squares = _squares_in_float16(translate, variant)
    plan = plan_ranges(translate, profiles.of(translate, variant, None), fit_squares=squares)
    if variant.ranges == 'drop_in':
        return _drop_in(source, variant, plan), plan
    planned = source.load(variant, plan)
    if planned.uncalibrated:
        planned.calibrate(images)
    return planned, plan


def run(translate: Translator, images: np.ndarray) -> Tuple[np.ndarray, float]:
    """(results [N, H, W, 3], milliseconds per picture: the median of some runs after a first one)."""
    batches = [images[start : start + _BATCH] for start in range(0, len(images), _BATCH)]
    results = np.concatenate([translate(batch).image for batch in batches])
    times: List[float] = []
    for _ in range(_TIMED):
        begin = time.perf_counter()
        translate(batches[0])
        times.append((time.perf_counter() - begin) / len(batches[0]))
    return results, 1000.0 * statistics.median(times)


def ranges_of(profile: RangeProfile, translate: Translator) -> Dict[str, Any]:
    """What does not fit float16 where this model stores float16, measured in float32, and the largest values."""
    wide = {layer for layer, row in translate.generator.registry.variants.items() if row.get('statistics') == 'float32'}
    stored = {
        name: t
        for name, t in profile.items()
        if stored_format(name, translate.policy) is FLOAT16
        and not (t.kind == SQUARE and name.partition('/moments')[0] in wide)
    }
    first = next((t for t in stored.values() if t.overflows), None)
    return {
        'overflow_share': _share(stored),
        'first_overflow': None if first is None else first.name,
        'amax': max(t.amax for t in profile.values() if t.kind != SQUARE),
        'along': _along(profile),
    }


def weight_bytes(translate: Translator) -> int:
    """Of the generator's variables, each in the format in which this policy stores it."""
    policy, total = translate.policy, 0
    for name, variable in translate.generator.named_variables.items():
        half = stored_format(name, policy) is FLOAT16 or policy.name == 'mixed_bfloat16'
        total += int(np.prod(variable.shape)) * (2 if half else 4)
    return total


def _share(stored: Dict[str, Any]) -> float:
    """Of all values stored in float16 for one picture, those over 65504."""
    sizes = {name: int(np.prod(t.shape)) for name, t in stored.items() if t.kind != OPERAND}
    total = sum(sizes.values())
    return sum(stored[name].overflow_share * size for name, size in sizes.items()) / total if total else 0.0


def _along(profile: RangeProfile) -> List[Tuple[str, float]]:
    """Largest |value| of every tensor but weights and squares, in the order of execution."""
    return [(t.name, t.amax) for t in profile.values() if t.kind not in (OPERAND, SQUARE)]


def _squares_in_float16(translate: Translator, variant: Variant) -> bool:
    """Whether some norm forms squared differences in float16, which then have to fit as well."""
    if make_policy(variant.precision, variant.overflow).vector_format is not FLOAT16:
        return False
    return any(row.get('statistics') == 'plain' for row in translate.generator.registry.variants.values())


def _with_policy(translate: Translator, policy: Policy) -> Translator:
    return Translator(translate.twin(policy), translate.direction, translate.device, translate.plan)


def _drop_in(source: Source, variant: Variant, plan: RangePlan) -> Translator:
    with tempfile.TemporaryDirectory() as folder:
        fold_ranges(source.checkpoint, plan, f'{folder}/folded', source.image_size)
        unaware = load_as_official(f'{folder}/folded', source.direction, source.device, source.image_size)
        return _with_policy(unaware, make_policy(variant.precision, variant.overflow))
