"""`--ranges`: one line that says what was found and done, and the same picture."""

from __future__ import annotations

import json
import logging
import pathlib
from typing import Callable, Optional

import numpy as np
import pytest

from tests.inference.tiny import SIZE, generator_values, write_tiny
from ugatit.errors import UserError
from ugatit.inference.inputs import find_inputs, sample
from ugatit.inference.model import ModelChoice, choose_model, model_line
from ugatit.inference.planned import load_planned, ranges_line, read_plan
from ugatit.inference.settings import Settings
from ugatit.ranges import RangePlan, RangeProfile, TensorRange

LOUD = 'generator_B/conv_1/conv2d/kernel'


def choose(checkpoint: Optional[pathlib.Path], **changes) -> ModelChoice:
    arguments = {
        'direction': 'a2b',
        'precision': 'float32',
        'overflow': 'ieee',
        'variants': 'default',
        'device': 'cpu',
        'image_size': None,
        **changes,
    }
    return choose_model(None if checkpoint is None else str(checkpoint), **arguments)


@pytest.fixture(scope='module')
def loud(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A checkpoint whose second convolution passes 65504; the norm behind it hides that in float32."""
    value = generator_values()[LOUD] * 1e5
    return write_tiny(tmp_path_factory.mktemp('loud'), **{LOUD.replace('/', '__'): value})


def test_auto_says_in_one_line_what_it_found_and_did(
    loud: pathlib.Path, photos: Callable, caplog: pytest.LogCaptureFixture
) -> None:
    inputs = find_inputs([str(path) for path in photos('a.png', 'b.png', 'c.png')]).inputs
    caplog.set_level(logging.INFO, 'ugatit')
    planned = load_planned(choose(loud), 'auto', None, inputs, Settings())
    (line,) = [record.getMessage() for record in caplog.records if record.getMessage().startswith('ranges:')]
    assert '\n' not in line
    assert 'tensors of generator_B pass 65504 (first generator_B/' in line and 'scaled by up to 2**-' in line
    assert planned.plan.nonzero('generator_B')
    loads = [record for record in caplog.records if 'variables loaded' in record.getMessage()]
    assert len(loads) == 1  # loaded twice, said once
    pictures = sample(inputs, SIZE, Settings(), 3)
    plain = load_planned(choose(loud), 'none', None, inputs, Settings())
    assert np.array_equal(plain(pictures).image, planned(pictures).image)


def test_auto_without_a_readable_picture_goes_on(
    loud: pathlib.Path, photos: Callable, caplog: pytest.LogCaptureFixture
) -> None:
    (path,) = photos('a.png')
    path.write_bytes(b'')
    translate = load_planned(choose(loud), 'auto', None, find_inputs([str(path)]).inputs, Settings())
    assert translate.plan is None
    assert 'none of the first 64 inputs can be read' in caplog.text


def _range(name: str, reach: float, kind: str = 'result') -> TensorRange:
    return TensorRange(
        name=name,
        kind=kind,
        shape=(1,),
        min=-reach,
        max=reach / 2,
        mean=0.0,
        rms=0.0,
        overflow_share=float(reach > 65504),
        subnormal_share=0.0,
        amax_per_picture=(reach,),
    )


def test_the_line() -> None:
    ranges = [_range('generator_B/x', 7.0), _range('generator_B/y', 70000.0), _range('generator_B/z', 1e9, 'square')]
    profile = RangeProfile('generator_B', {item.name: item for item in ranges}, 3)
    plan = RangePlan({'generator_B': {'a': 0, 'b': 3, 'c': 1}}, notes=('too few pictures',))
    assert ranges_line(profile, plan) == (
        'ranges: 1 tensor of generator_B passes 65504 (first generator_B/y, max 35000, min -70000); '
        '2 range groups scaled by up to 2**-3; too few pictures'
    )
    assert 'ranges: 2 tensors' in ranges_line(profile, plan, squares=True)
    small = RangeProfile('generator_B', {'generator_B/x': ranges[0], 'generator_B/w': _range('generator_B/w', 1.0)}, 3)
    assert ranges_line(small, RangePlan({'generator_B': {'a': 0}})) == (
        'ranges: all 2 tensors of generator_B fit float16 (largest |value| 7 in generator_B/x); '
        'no range group needs scaling; nothing left unfitted'
    )


def test_a_plan_of_the_other_direction_is_refused(tmp_path: pathlib.Path) -> None:
    RangePlan({'generator_A': {'stem': 1}}).save(tmp_path / 'plan.json')
    with pytest.raises(
        UserError, match=r'for generator_B is expected \(direction a2b\), but this one is for generator_A'
    ):
        read_plan(str(tmp_path / 'plan.json'), 'a2b')
    assert read_plan(str(tmp_path / 'plan.json'), 'b2a') is not None
    assert read_plan('none', 'a2b') is None and read_plan('auto', 'a2b') is None


@pytest.mark.parametrize(
    'content',
    [
        {'networks': {'generator_B': {}}, 'headroom_bits': 'much'},
        {'networks': {'generator_B': {}}, 'notes': 3},
        {'networks': {'generator_B': {}}, 'pictures': 3},
        [],
    ],
)
def test_damaged_plans_are_a_sentence(tmp_path: pathlib.Path, content: object) -> None:
    (tmp_path / 'plan.json').write_text(json.dumps(content))
    with pytest.raises(UserError, match='range plan'):
        read_plan(str(tmp_path / 'plan.json'), 'a2b')


def test_float16_without_a_plan_warns_where_values_do_not_fit(
    loud: pathlib.Path, photos: Callable, caplog: pytest.LogCaptureFixture
) -> None:
    """Saturated results are finite and look like pictures: nothing else would tell."""
    inputs = find_inputs([str(path) for path in photos('a.png')]).inputs
    load_planned(choose(loud, precision='mixed_float16', overflow='saturate'), 'none', None, inputs, Settings())
    (warning,) = [record.getMessage() for record in caplog.records if 'expect wrong pictures' in record.getMessage()]
    assert 'generator_B/conv_1/conv2d/' in warning and '--ranges=auto' in warning
    caplog.clear()
    load_planned(choose(loud), 'none', None, inputs, Settings())
    assert not caplog.records or 'expect wrong pictures' not in caplog.text


@pytest.mark.parametrize(
    ('changes', 'said'),
    [
        ({'planned': True}, ', float32 with a plan, /CPU:0'),
        ({'variants': 'prescaled'}, ', float32, variants prescaled, /CPU:0'),
        ({}, ', float32, /CPU:0'),
    ],
)
def test_the_model_line_names_the_cure_in_force(changes: dict, said: str) -> None:
    described = {
        'network': 'generator_B', 'direction': 'a2b', 'kind': 'light', 'ch': 4, 'image_size': 16, 'checkpoint': 'x',
        'step': 5, 'precision': 'float32', 'overflow': 'ieee', 'planned': False, 'variants': 'default',
        'device': '/CPU:0', **changes,
    }  # fmt: skip
    assert model_line(described).endswith(said)
