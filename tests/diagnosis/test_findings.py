"""The first thing that float16 cannot hold, under each policy."""

from __future__ import annotations

from typing import Dict

import pytest

from ugatit.diagnosis.findings import describe, find, largest_square
from ugatit.ranges import RangeProfile, TensorRange
from ugatit.ranges.kinds import kind_of

NAMES = (
    'generator_B/ins_norm/mul_2',
    'generator_B/ins_norm/moments/SquaredDifference',
    'generator_B/Relu',
    'generator_B/conv_0/conv2d/kernel',
    'generator_B/conv_0/conv2d/input',
    'generator_B/conv_0/conv2d/Conv2D',
    'generator_B/conv_0/conv2d/BiasAdd',
)
VECTOR, SQUARED, _, KERNEL, INPUT, RESULT, BIASED = NAMES


def _profile(**amax: float) -> RangeProfile:
    reached = {name: amax.get(name.rpartition('/')[2], 1.0) for name in NAMES}
    return RangeProfile('generator_B', {name: _tensor(name, value) for name, value in reached.items()}, 1)


def _tensor(name: str, amax: float) -> TensorRange:
    values: Dict[str, float] = {'min': -amax, 'max': amax / 2, 'mean': 0.25, 'rms': amax / 4}
    return TensorRange(
        name=name, kind=kind_of(name), shape=(1, 4, 4, 2), overflow_share=0.0, subnormal_share=0.0,
        amax_per_picture=(amax,), **values,
    )  # fmt: skip


@pytest.mark.parametrize(
    ('amax', 'precision', 'result', 'operand', 'square'),
    [
        ({'Conv2D': 7e4, 'BiasAdd': 7e4}, 'mixed_float16', RESULT, None, None),
        ({'Conv2D': 7e4, 'BiasAdd': 7e4}, 'float16_operands', None, None, None),
        ({'mul_2': 7e4}, 'mixed_float16', None, None, None),
        ({'mul_2': 7e4}, 'float16', VECTOR, None, None),
        ({'Relu': 7e4, 'input': 7e4}, 'mixed_float16', None, INPUT, None),
        ({'Relu': 7e4, 'input': 7e4}, 'float16_operands', None, INPUT, None),
        ({'kernel': 7e4, 'input': 7e4}, 'mixed_float16', None, KERNEL, None),
        ({'SquaredDifference': 7e4}, 'mixed_float16', None, None, None),
        ({'SquaredDifference': 7e4}, 'float16', None, None, SQUARED),
        ({'Conv2D': 65504.0}, 'float16', None, None, None),
        ({'Conv2D': float('nan')}, 'mixed_float16', RESULT, None, None),
    ],
)
def test_first_of_each_kind(
    amax: Dict[str, float], precision: str, result: str, operand: str, square: str
) -> None:  # fmt: skip
    finding = find(_profile(**amax), [precision])[0]
    found = [t.name if t else None for t in (finding.result, finding.operand, finding.square)]
    assert found == [result, operand, square]
    assert finding.overflows == any(found)


def test_results_are_counted() -> None:
    assert find(_profile(Conv2D=7e4, BiasAdd=7e4), ['mixed_float16'])[0].results == 2


def test_described_as_the_vendors_engineers_did() -> None:
    t = TensorRange(
        name='generator_B/up_conv_0/conv2d/Conv2D', kind='result', shape=(1, 128, 128, 128), min=-271823.0,
        max=181942.55, mean=8158.277, rms=0.0, overflow_share=0.0, subnormal_share=0.0, amax_per_picture=(),
    )  # fmt: skip
    expected = 'generator_B/up_conv_0/conv2d/Conv2D: max 181942.55, min -271823, mean 8158.277, shape 1,128,128,128'
    assert describe(t) == expected


def test_largest_square() -> None:
    assert largest_square(_profile(SquaredDifference=9e9)).amax == 9e9
