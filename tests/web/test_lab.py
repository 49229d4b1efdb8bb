"""What the page computes, against infer.py and against the float16 floor."""

from __future__ import annotations

import math
import pathlib

import numpy as np
import pytest
from PIL import Image

from tests import tolerances
from tests.web.conftest import Lab
from ugatit.checkpoints.demo import demo_checkpoint, demo_pictures
from ugatit.errors import UserError
from ugatit.inference.command import infer
from ugatit.inference.inputs import Input, Prepared, find_inputs, prepare
from ugatit.inference.model import choose_model
from ugatit.inference.outputs import assign_outputs
from ugatit.inference.settings import Settings
from ugatit.nn.policy import make_policy
from ugatit.numerics import psnr
from ugatit.ranges.kinds import SQUARE
from ugatit.translate import load
from ugatit.web.lab import translate
from ugatit.web.models import Arithmetic, Models

pytestmark = pytest.mark.slow


def _picture(direction: str, number: int = 0) -> pathlib.Path:
    return sorted(demo_pictures(direction).iterdir())[number]


def _prepared(direction: str, models: Models, number: int = 0) -> Prepared:
    path = _picture(direction, number)
    return prepare(Input(path, pathlib.PurePath(path.name)), models.translator(direction).image_size, Settings())


@pytest.mark.parametrize('direction', ['a2b', 'b2a'])
def test_the_same_pixels_as_infer(models: Models, direction: str, tmp_path: pathlib.Path) -> None:
    path, settings = _picture(direction), Settings(heatmap=True)
    found = find_inputs([str(path)])
    choice = choose_model(str(demo_checkpoint()), direction, 'float32', 'ieee', 'default', 'cpu', None)
    assignment = assign_outputs(found.inputs, str(tmp_path), direction, settings)
    assert infer(choice, found, assignment, settings) == 0
    files = assignment.files[0][1]
    here = translate(models, _prepared(direction, models), direction)
    assert np.array_equal(here.picture, np.asarray(Image.open(files.picture)))
    assert np.array_equal(here.attention, np.asarray(Image.open(files.heatmap)))
    assert not np.array_equal(here.picture, here.before)


@pytest.mark.parametrize('stressed', [False, True])
def test_float32_is_the_same_bits_on_the_stressed_twin_too(lab: Lab, stressed: bool) -> None:
    found = lab('float32', stressed=stressed)
    assert found.decibels == math.inf and found.lost[0] == 0
    assert np.array_equal(found.picture, found.exact) and not found.difference.any()
    over = [row for row in found.report.rows if row.range.overflows and row.range.kind != SQUARE]
    assert bool(over) is stressed


def test_a_plan_brings_the_stressed_twin_to_the_floor(models: Models, lab: Lab) -> None:
    square = _prepared('a2b', models).square[None]
    base = models.translator('a2b')
    floor = psnr(np.asarray(base.twin(make_policy('mixed_float16').floor())(square).image), base(square).image)
    plain = lab('plain')
    assert plain.decibels < tolerances.WRONG_PICTURE_DECIBELS and plain.lost[0] == 0
    assert plain.difference.mean() > lab('planned').difference.mean()
    for overflow in ('saturate', 'ieee'):
        planned = lab('planned', overflow)
        assert planned.decibels > floor - tolerances.FLOOR_DB
        assert planned.report.unfitted() == []


def test_infinity_leaves_no_picture_and_the_page_shows_black(models: Models, lab: Lab) -> None:
    found = lab('plain', 'ieee')
    assert math.isnan(found.decibels) and found.lost[0] > 0
    gone = ~np.isfinite(models.translator('a2b', Arithmetic('plain', 'ieee', True))(
        _prepared('a2b', models).square[None]).image[0])  # fmt: skip
    assert gone.sum() == found.lost[0] and (found.picture[gone] == 0).all()


def test_the_loaded_weights_do_not_overflow_and_need_no_plan(lab: Lab) -> None:
    assert lab('plain', stressed=False).decibels > tolerances.RIGHT_PICTURE_DECIBELS


def test_the_lab_is_what_load_computes(models: Models) -> None:
    """Sharing weights between arithmetics changes nothing: the same as loading each on its own."""
    square = _prepared('a2b', models).square[None]
    for arithmetic, ranges in ((Arithmetic('plain'), None), (Arithmetic('planned'), models.plan('a2b', False))):
        alone = load(demo_checkpoint(), 'a2b', 'mixed_float16', 'saturate', ranges, device='cpu')(square).image
        assert np.array_equal(models.translator('a2b', arithmetic)(square).image, alone)


def test_the_shown_plan_is_that_of_the_calibration_pictures(models: Models, lab: Lab) -> None:
    found, translator = lab('planned'), models.translator('a2b', Arithmetic('planned', stressed=True))
    assert found.report.plan is models.plan('a2b', True) is translator.plan and found.report.profile.pictures == 1
    assert found.report.plan.pictures['generator_B'] == 2


@pytest.mark.parametrize(('kind', 'overflow'), [('float8', 'ieee'), ('plain', 'wrap')])
def test_unknown_settings_are_refused(lab: Lab, kind: str, overflow: str) -> None:
    with pytest.raises(UserError, match='float32, plain, planned|ieee, saturate'):
        lab(kind, overflow)
