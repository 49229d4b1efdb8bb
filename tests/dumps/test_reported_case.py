"""The reported case rebuilt: the official code's overflowing checkpoint as a 910 computes it, against float32."""

from __future__ import annotations

import pathlib
import re
import shutil
from typing import Optional

import numpy as np
import pytest

from tests.dumps.made import reference
from tests.tolerances import CAST_DISTANCE, DUMP_METRIC, DUMP_METRIC_RELATIVE, LAYER_TABLE
from ugatit.dumps.capture import capture, write_npy
from ugatit.dumps.compare import compare
from ugatit.dumps.fake_npu import VALIDATION, write_tree
from ugatit.dumps.overflow import find_overflows
from ugatit.dumps.tree import scan
from ugatit.nn.policy import FLOAT32_POLICY, make_policy
from ugatit.planning import profile_ranges
from ugatit.translate import load

CASE = 'overflow_light_i64_c16'
POLICY = make_policy('mixed_float16', 'saturate')


@pytest.fixture(scope='module')
def folders(golden: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Both dumps, the float32 run, and what overflows first by its range profile."""
    translate = load(golden / 'checkpoints' / CASE, image_size=64)
    with np.load(golden / 'outputs' / f'{CASE}.npz') as recorded:
        image = recorded['in/x_A/0']
    place = tmp_path_factory.mktemp('reported')
    exact = capture(translate, FLOAT32_POLICY, image)
    write_npy(place / 'right', exact)
    other = load(golden / 'checkpoints' / CASE, 'b2a', image_size=64)
    write_tree(place / 'left', capture(translate, POLICY, image), [capture(other, POLICY, image)])
    first = profile_ranges(translate, image).first_overflow(POLICY)
    return {'left': place / 'left', 'right': place / 'right', 'first': first, 'exact': exact}


def test_the_cause_is_named(folders: dict) -> None:
    comparison = compare(scan(folders['left']), scan(folders['right']))
    assert comparison.matching.left.model == VALIDATION
    verdict = comparison.verdict
    layer = folders['first'].name.rpartition('/')[0]  # .../res2/conv_0/conv2d/input by its range profile
    assert layer == 'generator_B/adaptive_resblock0/res2/conv_0/conv2d'
    assert f'for {layer}/Conv2D' in verdict.sentence and verdict.cause == 'cast'
    assert 'float16 overflow here' in verdict.sentence
    assert verdict.inputs[0].metrics.relative_euclidean < CAST_DISTANCE
    truths = {tensor.name.replace('/', '_'): tensor.values for tensor in folders['exact'].outputs()}
    for row, pair in zip(comparison.rows, comparison.matching.pairs):
        for key, value in reference(pair.left.open().array(), truths[pair.truth[0]]).items():
            wanted = pytest.approx(value, rel=DUMP_METRIC_RELATIVE, abs=DUMP_METRIC, nan_ok=True)
            assert getattr(row.metrics, key) == wanted, (row, key)
    up_conv = next(row for row in comparison.rows if row.left == 'generator_B/up_conv_0/conv2d/Conv2D')
    assert up_conv.overflow == 'YES' and up_conv.metrics.left_amax == 65504


@pytest.mark.parametrize('ignored', [('*trans_*',), ('*trans_*', 'ge_proto*')])
def test_the_cause_without_the_casts(folders: dict, ignored: tuple, tmp_path: pathlib.Path) -> None:
    """Neither dumps of casts nor compiled graphs are needed."""
    shutil.copytree(folders['left'], tmp_path / 'left', ignore=shutil.ignore_patterns(*ignored))
    verdict = compare(scan(tmp_path / 'left'), scan(folders['right'])).verdict
    assert verdict.operator == 'generator_B/adaptive_resblock0/res2/conv_0/conv2d/Conv2D'
    assert verdict.cause == 'cast' and re.search(r'65504 in 0\.2[89] % of elements', verdict.sentence)


def test_the_overflow_records_tell_the_same(folders: dict) -> None:
    found, failures = find_overflows(folders['left'])
    assert failures == [] and found[0].type == 'Cast' and '0x100' in found[0].record.words
    assert any(o.operator == 'generator_B/up_conv_0/conv2d/Conv2D' for o in found)


def test_float32_against_the_recorded_activations(folders: dict, golden: pathlib.Path) -> None:
    """Our right side has the names and values of the official code's own tensors."""
    truths = {tensor.name: tensor.values for tensor in folders['exact'].outputs()}
    name = 'generator_B/up_conv_0/conv2d/Conv2D'
    assert truths[name].min() == pytest.approx(-271823.1, rel=LAYER_TABLE)
    assert truths[name].max() == pytest.approx(181942.6, rel=LAYER_TABLE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('tag', 'size', 'direction', 'layer'),
    [
        ('overflow_full_i64_c8', 64, 'a2b', 'generator_B/adaptive_resblock0/res2/conv_0/conv2d'),
        ('overflow_full_i64_c8', 64, 'b2a', None),
        ('overflow_light_i64_c16', 64, 'b2a', None),
        ('light_i64_c4_d5_smooth', 64, 'a2b', None),
        ('light_i32_c4_d4_plain', 32, 'a2b', None),
        ('full_i32_c4_d4_nosmooth', 32, 'a2b', None),
        ('full_i32_c4_d4_nosmooth', 32, 'b2a', None),
        ('train_light_i32_c3_d4', 32, 'b2a', None),
    ],
)
def test_other_checkpoints(
    golden: pathlib.Path, tag: str, size: int, direction: str, layer: Optional[str], tmp_path: pathlib.Path
) -> None:
    """The other overflowing one is blamed rightly, and healthy ones, whose float16 only rounds, on nothing."""
    translate = load(golden / 'checkpoints' / tag, direction, image_size=size)
    image = np.random.RandomState(5).uniform(-1, 1, (1, size, size, 3)).astype(np.float32)
    write_npy(tmp_path / 'right', capture(translate, FLOAT32_POLICY, image))
    write_tree(tmp_path / 'left', capture(translate, POLICY, image))
    verdict = compare(scan(tmp_path / 'left'), scan(tmp_path / 'right')).verdict
    assert verdict.cause == ('none' if layer is None else 'cast'), verdict.sentence
    assert layer is None or f'for {layer}/Conv2D' in verdict.sentence
