"""The architecture is read off the variables; what they do not tell comes from JSON, folder name, defaults."""

from __future__ import annotations

import dataclasses
import json
import logging
import pathlib
from typing import Any, Dict

import numpy as np
import pytest

from tests.checkpoints.conftest import FULL, LIGHT, Tensors, values, write
from ugatit.checkpoints import CheckpointReader, architecture_of, architecture_state, naming
from ugatit.checkpoints.location import with_suffix
from ugatit.errors import UserError
from ugatit.nn.architecture import Architecture

GENERATOR_FIELDS = {'ch', 'n_res', 'light', 'cam_generator'}
DISCRIMINATOR_FIELDS = {'n_dis', 'sn', 'cam_discriminator'}


def sources(reader: CheckpointReader, **arguments: Any) -> Dict[str, str]:
    return architecture_of(reader, **arguments).sources


def only(tensors: Tensors, *scopes: str) -> Tensors:
    return {name: value for name, value in tensors.items() if naming.scope_of(name) in scopes}


@pytest.mark.parametrize(
    'architecture',
    [
        LIGHT,
        FULL,
        Architecture(image_size=24, ch=1, n_dis=4),
        Architecture(image_size=48, ch=3, n_res=2, n_dis=5, sn=False),
        Architecture(image_size=32, ch=2, n_res=11, n_dis=4, light=True, cam_generator=False),
        Architecture(image_size=96, ch=1, n_res=1, cam_discriminator=False),
    ],
)
def test_all_that_variables_tell(tmp_path: pathlib.Path, architecture: Architecture) -> None:
    reader = CheckpointReader(write(tmp_path / 'x', values(architecture)))
    found, where = architecture_of(reader, folder_name='x')
    expected = dataclasses.replace(architecture, smoothing=True)
    assert found == (dataclasses.replace(expected, image_size=256) if architecture.light else expected)
    told = GENERATOR_FIELDS | DISCRIMINATOR_FIELDS | (set() if architecture.light else {'image_size'})
    assert {field for field, source in where.items() if source == 'variables'} == told


def test_the_smallest_full_model_is_told_from_a_light_one(tmp_path: pathlib.Path) -> None:
    shapes = naming.network_names(Architecture(image_size=8, ch=2), ['generator_B'])
    tensors = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    found = architecture_of(CheckpointReader(write(tmp_path / 'x', tensors))).architecture
    assert (found.light, found.image_size) == (False, 8)


@pytest.mark.parametrize('scope', ['generator_A', 'generator_B'])
def test_a_generator_alone(tmp_path: pathlib.Path, light_values: Tensors, scope: str) -> None:
    reader = CheckpointReader(write(tmp_path / 'x', only(light_values, scope)))
    where = sources(reader)
    assert {field for field, source in where.items() if source == 'variables'} == GENERATOR_FIELDS
    assert where['n_dis'] == where['image_size'] == where['smoothing'] == 'default'
    assert sources(reader, folder_name=light_folder(n_dis=5))['n_dis'] == 'folder name'


def test_a_discriminator_alone(tmp_path: pathlib.Path, light_values: Tensors) -> None:
    reader = CheckpointReader(write(tmp_path / 'x', only(light_values, 'discriminator_A')))
    found, where = architecture_of(reader)
    assert (found.ch, found.n_dis) == (LIGHT.ch, LIGHT.n_dis)
    assert {field for field, source in where.items() if source == 'variables'} == DISCRIMINATOR_FIELDS | {'ch'}


def light_folder(**changes: Any) -> str:
    return naming.official_model_dir(dataclasses.replace(LIGHT, **changes), 'selfie2anime')


@pytest.mark.parametrize(
    'folder, smoothing, source',
    [
        (light_folder(), True, 'folder name'),
        (light_folder(smoothing=False), False, 'folder name'),
        ('UGATIT_my_cats_wgan-gp_4resblock_4dis_1_1_10_10_0.5_sn', False, 'folder name'),
        ('UGATIT_selfie2anime', True, 'default'),
        ('my model', True, 'default'),
        ('no_smoothing', True, 'default'),
    ],
)
def test_smoothing_from_the_folder_name(light: pathlib.Path, folder: str, smoothing: bool, source: str) -> None:
    moved = light.parent.rename(light.parent.parent / folder)
    found, where = architecture_of(CheckpointReader(moved))
    assert (found.smoothing, where['smoothing']) == (smoothing, source)


def test_json_comes_before_the_folder_name(light: pathlib.Path) -> None:
    told = {'smoothing': False, 'image_size': 64, 'n_dis': 'six', 'unknown': 1}
    with_suffix(light, '.json').write_text(json.dumps({'architecture': told}))
    found, where = architecture_of(CheckpointReader(light))
    assert (found.smoothing, found.image_size, found.n_dis) == (False, 64, LIGHT.n_dis)
    assert where['smoothing'] == where['image_size'] == 'json'


def test_variables_come_before_json_and_it_is_said(light: pathlib.Path, caplog: Any) -> None:
    with_suffix(light, '.json').write_text(json.dumps({'architecture': {'light': False, 'ch': 64}}))
    assert architecture_of(CheckpointReader(light)).architecture.light
    assert 'the json says light=False; light=True is used (variables)' in caplog.text


@pytest.mark.parametrize('content', ['[]', '{"architecture": 3}', 'nonsense', '{"architecture": {"ch": true}}'])
def test_a_json_of_any_content_does_no_harm(light: pathlib.Path, content: str) -> None:
    with_suffix(light, '.json').write_text(content)
    assert architecture_of(CheckpointReader(light)).architecture == dataclasses.replace(LIGHT, image_size=256)


def test_our_own_checkpoints_need_no_json(tmp_path: pathlib.Path, light_values: Tensors) -> None:
    told = dataclasses.replace(LIGHT, smoothing=False, image_size=64)
    state = {name: tensor.numpy() for name, tensor in architecture_state(told).items()}
    reader = CheckpointReader(write(tmp_path / light_folder(), {**only(light_values, 'generator_B'), **state}))
    found, where = architecture_of(reader)
    assert found == told
    assert set(where.values()) == {'variables'}
    assert architecture_of(reader, overrides={'image_size': 128}).architecture.image_size == 128


def test_overrides(light: pathlib.Path) -> None:
    reader = CheckpointReader(light)
    found, where = architecture_of(reader, overrides={'image_size': 128, 'light': True, 'ch': None})
    assert (found.image_size, where['image_size'], where['ch']) == (128, 'given', 'variables')
    with pytest.raises(UserError, match='a full model was asked for, .* are those of a light one'):
        architecture_of(reader, overrides={'light': False})
    with pytest.raises(UserError, match='ch 64 was asked for, .* have ch 2'):
        architecture_of(reader, overrides={'ch': 64})


def test_a_full_model_has_one_size(full: pathlib.Path) -> None:
    with pytest.raises(UserError, match='image_size 64 was asked for, .* full model, whose MLP fixes it to 32'):
        architecture_of(CheckpointReader(full), overrides={'image_size': 64})
    with pytest.raises(UserError, match='a light model was asked for, .* are those of a full one'):
        architecture_of(CheckpointReader(full), overrides={'light': True})


def test_the_log_says_which_value_came_from_where(light: pathlib.Path, caplog: Any) -> None:
    with caplog.at_level(logging.INFO):
        architecture_of(CheckpointReader(light))
    assert 'image_size=256 (default)' in caplog.text
    assert 'smoothing=True (folder name)' in caplog.text


def test_something_else_in_the_right_format(tmp_path: pathlib.Path) -> None:
    other = {'dense/kernel/.ATTRIBUTES/VARIABLE_VALUE': np.zeros(3, np.float32)}
    with pytest.raises(UserError, match='generator_B, .* expected .* TF2 object checkpoint'):
        architecture_of(CheckpointReader(write(tmp_path / 'x', other)))


def test_an_impossible_mlp(tmp_path: pathlib.Path, light_values: Tensors) -> None:
    tensors = {**light_values, 'generator_B/MLP/linear_0/dense/kernel': np.zeros([8 * 3, 8], np.float32)}
    with pytest.raises(UserError, match=r'expected as \[8, 8\] \(light\) .* has \[24, 8\]'):
        architecture_of(CheckpointReader(write(tmp_path / 'x', tensors)))


def test_golden_checkpoints(golden: pathlib.Path) -> None:
    """The official flags behind every golden checkpoint, as far as it can tell them."""
    records = {**json.loads((golden / 'checkpoints.json').read_text())}
    for tag, record in records.items():
        flags = record['flags']
        found = architecture_of(CheckpointReader(golden / 'checkpoints' / tag)).architecture
        assert (found.ch, found.n_res, found.n_dis) == (flags['ch'], flags['n_res'], flags['n_dis']), tag
        assert (found.light, found.smoothing, found.sn) == (flags['light'], flags['smoothing'], flags['sn']), tag
        assert found.image_size == (256 if found.light else flags['img_size']), tag


@pytest.mark.parametrize('tag, light, ch', [('overflow_light_i64_c16', True, 16), ('overflow_full_i64_c8', False, 8)])
def test_golden_generator_only_checkpoints(golden: pathlib.Path, tag: str, light: bool, ch: int) -> None:
    found, where = architecture_of(CheckpointReader(golden / 'checkpoints' / tag))
    assert (found.light, found.ch, found.n_dis, where['n_dis']) == (light, ch, 6, 'folder name')
    assert found.image_size == (256 if light else 64)


@pytest.mark.parametrize(
    ('field', 'value'),
    [
        ('image_size', np.zeros(0, np.int32)),
        ('image_size', np.array([64], np.int32)),
        ('image_size', np.array(b'64')),
        ('image_size', np.float32(64)),
        ('ch', np.int32(10**9)),
        ('n_dis', np.int32(2 * 10**9)),
        ('n_res', np.int32(-1)),
        ('smoothing', np.int32(2)),
    ],
)
def test_damaged_notes_are_named(tmp_path: pathlib.Path, light_values: Tensors, field: str, value: Any) -> None:
    name = f'ugatit/architecture/{field}'
    reader = CheckpointReader(write(tmp_path / 'x', {**only(light_values, 'generator_B'), name: value}))
    with pytest.raises(UserError, match=f'{name} in .* should be one whole number from 0 to'):
        architecture_of(reader)


def test_a_json_with_senseless_sizes_is_passed_over(light: pathlib.Path) -> None:
    with_suffix(light, '.json').write_text(json.dumps({'architecture': {'image_size': 10**12, 'smoothing': False}}))
    found = architecture_of(CheckpointReader(light)).architecture
    assert (found.image_size, found.smoothing) == (256, False)
