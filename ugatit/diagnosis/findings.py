"""Where float16 gives way: the first tensor in order of execution that a policy cannot store, told per policy."""

from __future__ import annotations

import dataclasses
from typing import Callable, Dict, List, Mapping, Optional, Sequence

from ugatit.nn.policy import Policy, make_policy
from ugatit.numerics import FLOAT16
from ugatit.ranges import RangeProfile, TensorRange
from ugatit.ranges.kinds import INPUT, OPERAND, SQUARE, stored_format


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one policy cannot store in float16; None where everything fits."""

    precision: str
    result: Optional[TensorRange]  # the first float16 result over 65504, squared differences left out
    operand: Optional[TensorRange]  # the first weight, or input of a layer, that is over 65504 when read in float16
    square: Optional[TensorRange]  # the first squared difference or variance over 65504 that is stored in float16
    results: int  # how many float16 results are over 65504, squares left out

    @property
    def overflows(self) -> bool:
        return any((self.result, self.operand, self.square))

    def to_json(self) -> Dict[str, object]:
        """Plain data; a tensor as `describe_json` gives it."""
        firsts = {'first_result': self.result, 'first_operand': self.operand, 'first_square': self.square}
        named = {key: describe_json(t) if t else None for key, t in firsts.items()}
        return {'precision': self.precision, **named, 'results_over_65504': self.results}


def find(profile: RangeProfile, precisions: Sequence[str]) -> List[Finding]:
    """One finding per precision (names as in `make_policy`), from a float32 profile."""
    return [_find(profile, make_policy(precision)) for precision in precisions]


def _find(profile: RangeProfile, policy: Policy) -> Finding:
    def stored(t: TensorRange) -> bool:
        return stored_format(t.name, policy) is FLOAT16

    results = [t for t in profile.values() if t.overflows and t.kind not in (OPERAND, INPUT, SQUARE) and stored(t)]
    return Finding(
        precision=policy.name,
        result=results[0] if results else None,
        operand=_first(profile, lambda t: t.kind in (OPERAND, INPUT) and stored(t)),
        square=_first(profile, lambda t: t.kind == SQUARE and stored(t)),
        results=len(results),
    )


def largest_square(profile: RangeProfile) -> Optional[TensorRange]:
    """The largest squared difference or variance, whatever it is stored in."""
    return max((t for t in profile.values() if t.kind == SQUARE), key=lambda t: t.amax, default=None)


def describe(t: TensorRange) -> str:
    """As the vendor's engineers reported it: 'NAME: max 181942.55, min -271823, mean 8158.277, shape 1,128,128,128'."""
    shape = ','.join(str(side) for side in t.shape)
    return f'{t.name}: max {t.max:.8g}, min {t.min:.8g}, mean {t.mean:.7g}, shape {shape}'


def describe_json(t: TensorRange) -> Dict[str, object]:
    return {key: getattr(t, key) for key in ('name', 'kind', 'shape', 'min', 'max', 'mean', 'amax')}


def _first(profile: Mapping[str, TensorRange], counts: Callable[[TensorRange], bool]) -> Optional[TensorRange]:
    return next((t for t in profile.values() if t.overflows and counts(t)), None)
