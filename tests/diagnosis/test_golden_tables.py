"""Our profile against the layer tables that were recorded from the official code, tensor by tensor."""

from __future__ import annotations

import json
import pathlib
from typing import Dict, List

import numpy as np
import pytest

from tests import tolerances
from ugatit.diagnosis.findings import find
from ugatit.planning import profile_ranges
from ugatit.ranges import RangeProfile
from ugatit.translate import load

TAGS = ('overflow_light_i64_c16', 'overflow_full_i64_c8')
DIRECTIONS = {'generator_B': ('a2b', 'x_A'), 'generator_A': ('b2a', 'x_B')}


def _profile(golden: pathlib.Path, tag: str, network: str, picture: int) -> RangeProfile:
    direction, domain = DIRECTIONS[network]
    size = 64 if 'light' in tag else None
    translate = load(golden / 'checkpoints' / tag, direction, image_size=size)
    with np.load(golden / 'outputs' / f'{tag}.npz') as recorded:
        return profile_ranges(translate, recorded[f'in/{domain}/{picture}'])


def _table(golden: pathlib.Path, tag: str, entry: str) -> Dict[str, Dict[str, float]]:
    text = (golden / 'outputs' / f'{tag}_layer_table.json').read_text('utf-8')
    return {name.rpartition(':')[0]: row for name, row in json.loads(text)[entry].items()}


@pytest.mark.parametrize('entry', ['generator_B/input0', 'generator_B/input2', 'generator_A/input0'])
@pytest.mark.parametrize('tag', TAGS)
def test_every_shared_tensor_agrees(golden: pathlib.Path, tag: str, entry: str) -> None:
    network, _, picture = entry.partition('/input')
    table, profile = _table(golden, tag, entry), _profile(golden, tag, network, int(picture))
    shared = [name for name in profile if name in table]
    wrong: List[str] = []
    for name in shared:
        found, expected = profile[name], table[name]
        for key in ('min', 'max', 'mean'):
            if abs(getattr(found, key) - expected[key]) > tolerances.LAYER_TABLE * expected['absmax']:
                wrong.append(f'{name} {key}: {getattr(found, key)} and {expected[key]}')
        batched = expected['shape'] if name != f'{network}/Squeeze' else [1, *expected['shape']]  # squeezed at batch 1
        if tuple(batched) != found.shape:
            wrong.append(f'{name}: shape {found.shape} and {expected["shape"]}')
    assert wrong == []
    assert len(shared) > 250


def test_the_reported_convolution(golden: pathlib.Path) -> None:
    """The numbers of the report from the Ascend 910, which this checkpoint was made to have."""
    reached = _profile(golden, 'overflow_light_i64_c16', 'generator_B', 0)['generator_B/up_conv_0/conv2d/Conv2D']
    assert reached.min == pytest.approx(-271823.1, rel=tolerances.LAYER_TABLE)
    assert reached.max == pytest.approx(181942.6, rel=tolerances.LAYER_TABLE)
    assert abs(reached.mean - 8157.0) < tolerances.REPORTED_MEAN
    assert reached.overflows


@pytest.mark.parametrize('tag', TAGS)
def test_tensors_over_65504_are_those_on_record(golden: pathlib.Path, tag: str) -> None:
    """Squares included; per picture, for the names that both know, and the rest of ours are names they do not have."""
    recorded = json.loads((golden / 'overflow.json').read_text('utf-8'))[tag]['a2b']['tensors_over_fp16_max']
    names = {name.rpartition(':')[0] for name in recorded}
    profile = _profile(golden, tag, 'generator_B', 0)
    table = _table(golden, tag, 'generator_B/input0')
    assert {name for name, t in profile.items() if t.overflows and name in table} == names & set(profile)


def test_first_overflow_under_each_precision(golden: pathlib.Path) -> None:
    profile = _profile(golden, 'overflow_light_i64_c16', 'generator_B', 0)
    mixed, everywhere, operands = find(profile, ['mixed_float16', 'float16', 'float16_operands'])
    assert mixed.result.name == 'generator_B/adaptive_resblock1/res1/conv_0/conv2d/Conv2D'
    assert everywhere.result.name == 'generator_B/adaptive_resblock0/res1/instance_layer_norm/mul_2'
    assert operands.result is None and operands.operand is not None
    assert profile.first_over_limit().name == everywhere.result.name
