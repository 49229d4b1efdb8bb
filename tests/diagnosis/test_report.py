"""The range report: what it predicts of the plan is what a planned network then stores."""

from __future__ import annotations

import json
import math
import pathlib

import numpy as np
import pytest

from ugatit.diagnosis.report import RangeReport, bits_over, make_report
from ugatit.diagnosis.stored import storage_shifts
from ugatit.planning import profile_ranges
from ugatit.ranges import RangePlan
from ugatit.ranges.kinds import INPUT, SQUARE
from ugatit.translate import load

RESTORED = ('/Sum', '/Squeeze', '/CAM_logit/add', '/CAM_logit_1/add', '/concat')  # multiplied back: true values


@pytest.mark.parametrize('seed', [0, 1])
def test_every_tensor_is_stored_as_predicted(checkpoint: pathlib.Path, images: np.ndarray, seed: int) -> None:
    """Any exponents at all: amax, minimum and maximum of the folded network are the predicted ones, bit for bit."""
    translate = load(checkpoint)
    before = profile_ranges(translate, images)
    random = np.random.RandomState(seed)
    groups = translate.generator.registry.members
    exponents = {group: int(random.randint(0, 9)) for group in groups}
    shifts = storage_shifts(translate.generator, before, exponents)
    after = profile_ranges(load(checkpoint, ranges=RangePlan({'generator_B': exponents})), images)
    wrong = [
        name
        for name, t in before.items()
        if not name.endswith(RESTORED) and math.ldexp(t.amax, shifts[name]) != after[name].amax
    ]
    assert wrong == []
    assert sum(shift != 0 for shift in shifts.values()) > len(before) / 2  # the control: most of them did move


def test_rows_leave_out_the_layers_inputs_and_keep_the_order(report: RangeReport) -> None:
    names = [row.range.name for row in report.rows]
    assert names == [name for name, t in report.profile.items() if t.kind != INPUT]
    assert [row.order for row in report.rows] == sorted(row.order for row in report.rows)


def test_worst_comes_first_and_squares_last(report: RangeReport) -> None:
    rows = report.worst_first()
    plain = [row.range.amax for row in rows if row.range.kind != SQUARE]
    assert plain == sorted(plain, reverse=True)
    assert [row.range.kind == SQUARE for row in rows] == sorted(row.range.kind == SQUARE for row in rows)


def test_the_plan_fits_what_overflowed(report: RangeReport) -> None:
    over = [row for row in report.rows if row.range.overflows and row.range.kind != SQUARE]
    assert len(over) > 10
    assert report.unfitted() == []
    assert {row.group for row in over} >= {'decoder', 'up_conv_0', 'conv'}


def test_json_is_plain_and_whole(report: RangeReport) -> None:
    found = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert found['network'] == 'generator_B' and found['pictures'] == 3
    assert len(found['tensors']) == len(report.rows)
    assert {policy['precision'] for policy in found['policies']} == {'mixed_float16', 'float16', 'float16_operands'}
    assert found['exponents'] == report.exponents and found['unfitted'] == []


def test_a_healthy_network_needs_nothing(checkpoint: pathlib.Path, images: np.ndarray) -> None:
    translate = load(checkpoint, 'b2a')
    report = make_report(translate, profile_ranges(translate, images))
    assert report.exponents == {} and not any(finding.overflows for finding in report.findings)
    assert report.to_json()['first_over_65504'] is None


@pytest.mark.parametrize(('amax', 'bits'), [(65504.0, 0.0), (131008.0, 1.0), (0.0, -math.inf), (math.inf, math.inf)])
def test_bits_over(amax: float, bits: float) -> None:
    assert bits_over(amax) == bits


def test_a_plan_made_elsewhere_is_taken_as_it_is(broken: pathlib.Path, images: np.ndarray) -> None:
    translate = load(broken)
    plan = RangePlan({'generator_B': {'decoder': 20}})
    report = make_report(translate, profile_ranges(translate, images), plan=plan)
    assert report.plan is plan and report.exponents == {'decoder': 20}
    shifted = [row for row in report.rows if row.group == 'decoder' and row.range.kind != SQUARE and row.shift]
    assert shifted and {row.shift for row in shifted} == {-20}
