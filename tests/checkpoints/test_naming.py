"""Official names: the 776 variables of a default model, folder and file names."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import pytest

from ugatit.checkpoints import model_name, naming, official_model_dir, official_names
from ugatit.nn.architecture import Architecture


@pytest.mark.parametrize('light', [False, True])
def test_a_default_model_has_the_official_names_in_the_official_order(golden: pathlib.Path, light: bool) -> None:
    record = json.loads((golden / f'variables_{"light" if light else "full"}.json').read_text())
    expected = [(variable['name'], tuple(variable['shape'])) for variable in record['variables']]
    assert list(official_names(Architecture(light=light)).items()) == expected


def test_counts() -> None:
    names = official_names(Architecture())
    groups = naming.grouped(names)
    assert {group: len(members) for group, members in groups.items()} == {
        'generators': 184,
        'discriminators': 92,
        'optimiser slots': 496,
        'counters': 4,
        'project state': 0,
        'other': 0,
    }
    assert len(names) == 776


def test_groups_of_unusual_names() -> None:
    names = {'generator_B/x/kernel', 'generator_B/x/kernel/RMSProp', 'global_step', 'ugatit/seed', 'dense/kernel'}
    assert {name: naming.group_of(name, names) for name in names} == {
        'generator_B/x/kernel': 'generators',
        'generator_B/x/kernel/RMSProp': 'optimiser slots',
        'global_step': 'counters',
        'ugatit/seed': 'project state',
        'dense/kernel': 'other',
    }
    assert naming.group_of('generator_B/x/kernel/Adam_1', ()) == 'optimiser slots'  # also where X itself was dropped


def test_folder_of_the_released_model() -> None:
    folder = official_model_dir(Architecture(), 'selfie2anime')
    assert folder == 'UGATIT_selfie2anime_lsgan_4resblock_6dis_1_1_10_10_1000_sn_smoothing'
    light = Architecture(light=True, n_dis=5, n_res=2, sn=False, smoothing=False)
    assert official_model_dir(light, 'cats', 'hinge') == 'UGATIT_light_cats_hinge_2resblock_5dis_1_1_10_10_1000'
    assert official_model_dir(Architecture(), 'x', cam_weight=0.5).endswith('_1_1_10_10_0.5_sn_smoothing')


def test_golden_folders(golden: pathlib.Path) -> None:
    for tag, record in json.loads((golden / 'checkpoints.json').read_text()).items():
        flags = record['flags']
        architecture = Architecture(**{field: flags[field] for field in ('n_res', 'n_dis', 'light', 'smoothing', 'sn')})
        folder = official_model_dir(
            architecture,
            flags['dataset'],
            flags['gan_type'],
            flags['n_critic'],
            flags['adv_weight'],
            flags['cycle_weight'],
            flags['identity_weight'],
            flags['cam_weight'],
        )
        assert folder == record['model_dir'] and (golden / 'checkpoints' / tag / folder).is_dir()
        assert model_name(flags['light']) == record['model_name']


@pytest.mark.parametrize(
    'changes', [{}, {'light': True}, {'smoothing': False}, {'sn': False}, {'n_res': 12, 'n_dis': 7}]
)
@pytest.mark.parametrize('gan_type', ['lsgan', 'wgan-gp'])
@pytest.mark.parametrize('weight', [10, 0.25, 1e-6])
def test_a_folder_name_is_read_back(changes: Any, gan_type: str, weight: float) -> None:
    architecture = dataclasses.replace(Architecture(), **changes)
    parsed = naming.parse_model_dir(official_model_dir(architecture, 'my_set-2', gan_type, cycle_weight=weight))
    assert parsed == {field: getattr(architecture, field) for field in ('light', 'sn', 'smoothing', 'n_res', 'n_dis')}


@pytest.mark.parametrize('name', ['', 'model', 'UGATIT', 'UGATIT_selfie2anime_smoothing', 'x_sn_smoothing'])
def test_other_folder_names_say_nothing(name: str) -> None:
    assert naming.parse_model_dir(name) is None
