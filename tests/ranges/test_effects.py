"""What unmodified code gets from a folded checkpoint: epsilon, CAM logits, heat maps."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from typing import Dict

import pytest

from tests import tolerances
from ugatit.nn.call import Membership
from ugatit.ranges import RangeProfile, TensorRange
from ugatit.ranges.effects import epsilon_effects, output_effect, total_exponents, x_hat_change

VARIANCE = 'generator_B/ins_norm/moments/variance'
SECOND = 'generator_B/layer_ins_norm_0/moments_1/variance'


def _decimal_change(variance: float, exponent: int) -> float:
    """The definition itself, with 60 digits."""
    getcontext().prec = 60
    v, epsilon = Decimal(variance), Decimal(1e-5)
    wanted = (v + epsilon * Decimal(4) ** -exponent).sqrt()
    return float(wanted / (v + epsilon).sqrt() - 1)


@pytest.mark.parametrize('exponent', [-16, -1, 0, 1, 4, 20])
@pytest.mark.parametrize('variance', [0.0, 1e-9, 1e-5, 1.0, 1e6])
def test_x_hat_change_is_its_definition(variance: float, exponent: int) -> None:
    expected = _decimal_change(variance, exponent)
    assert x_hat_change(variance, exponent) == pytest.approx(expected, rel=tolerances.DOUBLE, abs=1e-300)


def _profile(variances: Dict[str, tuple]) -> RangeProfile:
    tensors = {}
    for name, (least, mean) in variances.items():
        values = {'min': least, 'max': mean * 2, 'mean': mean, 'rms': mean}
        tensors[name] = TensorRange(
            name=name, kind='square', shape=(1, 1, 1, 4), overflow_share=0.0, subnormal_share=0.0,
            amax_per_picture=(mean,), **values,
        )  # fmt: skip
    return RangeProfile('generator_B', tensors, 1)


MEMBERS = {VARIANCE: Membership('conv', 2), SECOND: Membership('up_conv_0', 2)}


def test_only_scaled_groups_and_worst_first() -> None:
    profile = _profile({VARIANCE: (1e3, 2e3), SECOND: (1.0, 2.0)})
    assert epsilon_effects(MEMBERS, profile, {'decoder': 3}) == []
    assert [e.norm for e in epsilon_effects(MEMBERS, profile, {'conv': 2})] == ['generator_B/ins_norm']
    both = epsilon_effects(MEMBERS, profile, {'conv': 2, 'up_conv_0': 2})
    assert [(e.norm, e.statistics) for e in both] == [
        ('generator_B/layer_ins_norm_0', 'moments_1'),
        ('generator_B/ins_norm', 'moments'),
    ]


def test_variances_are_as_stored() -> None:
    effect = epsilon_effects(MEMBERS, _profile({VARIANCE: (16.0, 32.0)}), {'conv': 2})[0]
    assert (effect.smallest_variance, effect.mean_variance, effect.exponent) == (1.0, 2.0, 2)
    assert effect.worst == x_hat_change(1.0, 2) and effect.typical == x_hat_change(2.0, 2)


def test_earlier_folding_counts_but_does_not_move_what_was_measured_with_it() -> None:
    """A profile of the folded network holds stored variances already."""
    measured_after = epsilon_effects(MEMBERS, _profile({VARIANCE: (1.0, 2.0)}), {}, before={'conv': 2})
    measured_before = epsilon_effects(MEMBERS, _profile({VARIANCE: (16.0, 32.0)}), {'conv': 2})
    assert measured_after == measured_before


@pytest.mark.parametrize(('variance', 'rounds_away'), [(1e4, True), (1.0, False)])
def test_rounding_away(variance: float, rounds_away: bool) -> None:
    stored = variance * 16.0
    assert epsilon_effects(MEMBERS, _profile({VARIANCE: (stored, stored)}), {'conv': 2})[0].rounds_away == rounds_away


@pytest.mark.parametrize(
    ('exponents', 'cam', 'bias', 'heat'),
    [
        ({}, 1.0, 1.0, 1.0),
        ({'decoder': 4}, 1.0, 1.0, 0.0625),
        ({'encoder': 3}, 1.0, 8.0, 1.0),
        ({'cam': 2}, 0.25, 0.25, 1.0),
        ({'encoder': 2, 'cam': 2}, 0.25, 1.0, 1.0),
    ],
)
def test_outputs(exponents: Dict[str, int], cam: float, bias: float, heat: float) -> None:
    effect = output_effect(exponents)
    assert (effect.cam_scale, effect.bias_scale, effect.heatmap_scale) == (cam, bias, heat)
    assert effect.logits_kept == (cam == bias == 1.0)


def test_total() -> None:
    assert total_exponents({'a': 1, 'b': 2}, {'b': -2, 'c': 3}) == {'a': 1, 'b': 0, 'c': 3}
    assert math.isclose(x_hat_change(1.0, 0), 0.0)
