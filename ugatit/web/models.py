"""The networks behind the page: loaded when first needed, read only from then on, used by one request at a time."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import pathlib
import threading
from typing import Any, Dict, Optional, OrderedDict, Tuple

import numpy as np

from ugatit.checkpoints.location import locate
from ugatit.diagnosis.dropin import quietly
from ugatit.diagnosis.stress import spoiled, stress
from ugatit.errors import UserError
from ugatit.inference.model import ModelChoice
from ugatit.inference.planned import squares_in_float16
from ugatit.nn.policy import Policy, make_policy
from ugatit.planning import plan_ranges, profile_ranges
from ugatit.ranges import RangePlan, RangeProfile
from ugatit.translate import Translator
from ugatit.web.calibration import Calibration, Pictures

KINDS = ('float32', 'plain', 'planned')
REACH = 1e6  # largest |value| that the stressed twin is given, as `diagnose.py strip` does
_MOST_LIGHT, _MOST_FULL = 8, 3  # sets of weights in memory; a full generator has 1.1 GB
_MOST_PROFILES = 16


@dataclasses.dataclass(frozen=True)
class Arithmetic:
    """What the lab computes in."""

    kind: str = 'plain'  # one of KINDS
    overflow: str = 'saturate'  # or 'ieee'; float32 does not care
    stressed: bool = False  # on the twin whose values overflow float16
    precision: str = 'mixed_float16'  # what plain and planned mean

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UserError(f'the arithmetic must be one of {", ".join(KINDS)}, but {self.kind!r} arrived.')

    @property
    def planned(self) -> bool:
        return self.kind == 'planned'

    def policy(self, native: bool = False) -> Policy:
        """UserError for an unknown precision or overflow."""
        return make_policy('float32') if self.kind == 'float32' else make_policy(self.precision, self.overflow, native)


FLOAT32 = Arithmetic('float32')


class Models:
    """All that one checkpoint offers. Any thread may call; whoever computes takes `turn` first."""

    def __init__(self, choice: ModelChoice, calibration: Calibration, folder: pathlib.Path) -> None:
        """folder: for the stressed twin's files."""
        self._choice = dataclasses.replace(choice, precision='float32', overflow='ieee')
        self._calibration, self._folder = calibration, folder
        self._weights: OrderedDict[Tuple, Dict[Policy, Translator]] = collections.OrderedDict()
        self._plans: Dict[Tuple[str, bool, str], RangePlan] = {}
        self._profiles: OrderedDict[Tuple, RangeProfile] = collections.OrderedDict()
        self._twins: Dict[str, ModelChoice] = {}
        self.turn = threading.RLock()

    def translator(self, direction: str, arithmetic: Arithmetic = FLOAT32) -> Translator:
        """The generator in an arithmetic; arithmetics that need no other weights share them."""
        with self.turn:
            plan = None
            if arithmetic.planned:
                plan = self.plan(direction, arithmetic.stressed, arithmetic.precision)
            key = (direction, arithmetic.stressed, arithmetic.precision if arithmetic.planned else None)
            if key not in self._weights:
                base = self._load(direction, arithmetic.stressed, plan)
                self._keep(key, base)
            self._weights.move_to_end(key)
            return _under(self._weights[key], arithmetic)

    def plan(self, direction: str, stressed: bool, precision: str = 'mixed_float16') -> RangePlan:
        """Made once, of the calibration pictures."""
        with self.turn:
            key = (direction, stressed, precision)
            if key not in self._plans:
                base = self.translator(direction, Arithmetic('float32', stressed=stressed))
                found, squares = self.calibration(direction), squares_in_float16(make_policy(precision), base)
                profile = profile_ranges(base, found.images)
                self._plans[key] = plan_ranges(base, profile, found.headroom_bits, fit_squares=squares)
            return self._plans[key]

    def profile(self, direction: str, stressed: bool, images: np.ndarray) -> RangeProfile:
        """Ranges of these pictures in float32, remembered by content: every switch of the lab asks for them again."""
        key = (direction, stressed, hashlib.sha256(images.tobytes()).digest(), images.shape)
        with self.turn:
            if key not in self._profiles:
                base = self.translator(direction, Arithmetic('float32', stressed=stressed))
                self._profiles[key] = profile_ranges(base, images)
                while len(self._profiles) > _MOST_PROFILES:
                    self._profiles.popitem(last=False)
            return self._profiles[key]

    def calibration(self, direction: str) -> Pictures:
        """What plans are measured on."""
        return self._calibration.of(direction, self.translator(direction).image_size)

    def describe(self, direction: str) -> Dict[str, Any]:
        """The model as infer.py's report has it."""
        translate = self.translator(direction)
        return dataclasses.replace(self._choice, direction=direction).describe(translate)

    def _load(self, direction: str, stressed: bool, plan: Optional[RangePlan]) -> Translator:
        choice = self._twin(direction) if stressed else dataclasses.replace(self._choice, direction=direction)
        with quietly():
            translate = choice.load(plan)
            if translate.uncalibrated:
                translate.calibrate(self._calibration.of(direction, translate.image_size).images)
        return translate

    def _keep(self, key: Tuple, base: Translator) -> None:
        self._weights[key] = {base.policy: base}
        while len(self._weights) > (_MOST_LIGHT if base.architecture.light else _MOST_FULL):
            self._weights.popitem(last=False)

    def _twin(self, direction: str) -> ModelChoice:
        """The checkpoint made to overflow float16, written once; its float32 picture is proven to be the same."""
        if direction not in self._twins:
            images, output = self.calibration(direction).images, self._folder / f'stressed_{direction}'
            _, done = stress(self._choice.location.prefix, output, {direction: images}, reach=REACH,
                             image_size=self._choice.image_size)  # fmt: skip
            if spoiled(done):
                raise UserError('This checkpoint cannot be made to overflow float16 without changing its float32'
                                ' picture; try the lab on the checkpoint itself.')  # fmt: skip
            self._twins[direction] = dataclasses.replace(self._choice, direction=direction, location=locate(output))
        return self._twins[direction]


def _under(shared: Dict[Policy, Translator], arithmetic: Arithmetic) -> Translator:
    """The translator of this arithmetic's policy; made once of the first, whose variables it uses."""
    base = next(iter(shared.values()))
    policy = base.policy if arithmetic.kind == 'float32' else arithmetic.policy(base.policy.native)
    if policy not in shared:
        shared[policy] = Translator(base.twin(policy), base.direction, base.device, base.plan)
    return shared[policy]
