"""Presets read as documents, and every way of naming variants gives the same value or one sentence."""

from __future__ import annotations

import ast
import os
import pathlib
import re

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.nn.weights import deviation, pictures, well_scaled
from ugatit.errors import UserError
from ugatit.nn.architecture import Architecture
from ugatit.nn.blueprint import check_variants
from ugatit.nn.build import Build
from ugatit.nn.generator import Generator
from ugatit.nn.presets import load_variants, preset_names, variants_mapping
from ugatit.nn.rules import DEFAULT_VARIANTS, SETTINGS, Variants

PRESETS = preset_names()
SMALL = Architecture(image_size=24, ch=4, n_res=1, n_dis=4, light=True)


def _message(chosen: object) -> str:
    with pytest.raises(UserError) as raised:
        load_variants(chosen)
    message = str(raised.value)
    assert '\n' not in message and message.endswith('.')
    return message


def _image(name: str) -> np.ndarray:
    build = Build(variants=load_variants(name), factory=well_scaled())
    return Generator(SMALL, 'generator_B', build)(tf.constant(pictures(1, 24))).image.numpy()


def test_the_presets_that_the_documents_name_exist():
    named = {'default', 'prescaled', 'float32_statistics', 'batch_swap', 'norm_after', 'norm_after_folded', 'clamp'}
    assert named <= set(PRESETS) and PRESETS[0] == 'default'


def test_presets_lie_where_users_look(repository: pathlib.Path):
    folder = repository / 'configs' / 'variants'
    assert sorted(PRESETS) == sorted(path.stem for path in folder.glob('*.py'))
    # A wheel has no configs/ beside the package: the link puts them inside.
    assert os.path.samefile(folder, repository / 'ugatit' / '_presets')


def test_a_wheel_would_hold_the_presets(repository: pathlib.Path):
    setuptools = pytest.importorskip('setuptools')
    assert 'ugatit._presets' in setuptools.find_namespace_packages(str(repository), include=['ugatit*'])


@pytest.mark.parametrize('name', PRESETS)
def test_a_preset_reads_as_a_document(name: str, repository: pathlib.Path):
    tree = ast.parse((repository / 'configs' / 'variants' / f'{name}.py').read_text('utf-8'))
    summary = load_variants(name).summary
    assert summary.endswith('.') and summary.count('. ') == 0, 'one sentence'
    assert 'function is kept' in summary or 'function changes' in summary or 'for training' in summary
    assert all(isinstance(node, ast.Assign) for node in tree.body[1:])
    assert {node.targets[0].id for node in tree.body[1:]} <= set(SETTINGS)


@pytest.mark.parametrize('name', PRESETS)
def test_a_preset_fits_the_default_network_and_a_small_one(name: str):
    variants = load_variants(name)
    assert variants.name == name
    for architecture in (Architecture(), SMALL):
        check_variants(architecture, variants)


@pytest.mark.parametrize('name', PRESETS)
def test_a_preset_tells_the_truth_about_the_function(name: str):
    """In float32; `clamp` acts in float16 only, so there it is tested elsewhere."""
    kept = 'function is kept' in load_variants(name).summary or name == 'clamp'
    found = deviation(_image(name), _image('default'))
    assert found <= tolerances.NETWORK_FLOAT32 if kept else found > 100 * tolerances.NETWORK_FLOAT32


def test_the_default_preset_is_the_default():
    found = load_variants('default')
    assert all(getattr(found, setting) == getattr(DEFAULT_VARIANTS, setting) for setting in SETTINGS)


@pytest.mark.parametrize('name', PRESETS)
def test_a_stored_mapping_reads_back(name: str):
    variants = load_variants(name)
    assert load_variants(variants_mapping(variants)) == variants
    assert load_variants(variants) is variants


def test_a_file_and_a_mapping(tmp_path: pathlib.Path):
    path = tmp_path / 'mine.py'
    path.write_text(
        '"""Group norms\n   in the decoder."""\nimport math\n_groups = 4\n'
        "norm = [('.*/layer_ins_norm_0', f'group:{_groups}'), ('.*', 'default')]\n"
    )
    expected = Variants(
        'mine', norm=(('.*/layer_ins_norm_0', 'group:4'), ('.*', 'default')), summary='Group norms in the decoder.'
    )
    assert load_variants(path) == load_variants(str(path)) == expected
    assert load_variants({'norm': [['.*', 'layer']]}) == Variants('given', norm=(('.*', 'layer'),))


def test_an_unknown_name_lists_the_presets():
    message = _message('prescale')
    assert "'prescale'" in message and all(name in message for name in PRESETS)


@pytest.mark.parametrize('chosen', [3, None, ['default']])
def test_another_type_lists_the_presets(chosen: object):
    assert repr(chosen) in _message(chosen)


@pytest.mark.parametrize(
    'source, words',
    [
        ('norm = [', ['line 1', 'SyntaxError']),
        ('x = 0\nnorm = 1 / x', ['line 2', 'division by zero']),
        ('raise SystemExit', ['line 1', 'SystemExit']),
        ('import a_module_that_does_not_exist', ['a_module_that_does_not_exist']),
        ('norms = []', ['norms', 'norm, statistics, guard']),
        ('norm = 3', ['norm', 'a list', '3']),
        ('norm = []', ['norm', '[]']),
        ("norm = ['.*', 'batch']", ['pairs']),
        ("norm = [('.*', 'batch', 1)]", ['pairs']),
        ("norm = [('.*', 5)]", ['pairs']),
        ("norm = '.*'", ['pairs']),
        ("norm = [('.*', 'bach')]", ['bach', 'batch']),
        ("norm = [('(', 'batch')]", ['does not compile']),
    ],
)
def test_a_file_with_a_mistake_is_one_sentence(source: str, words: list, tmp_path: pathlib.Path):
    path = tmp_path / 'mine.py'
    path.write_text(source)
    message = _message(str(path))
    assert all(word in message for word in words) and 'mine' in message


def test_a_file_that_is_not_there_or_not_text(tmp_path: pathlib.Path):
    assert 'none.py' in _message(str(tmp_path / 'none.py'))
    (tmp_path / 'binary.py').write_bytes(b'\xff\xfe\x00')
    assert 'binary.py' in _message(str(tmp_path / 'binary.py'))
    (tmp_path / 'nul.py').write_bytes(b'norm = 1\x00')
    assert 'nul.py' in _message(str(tmp_path / 'nul.py'))
    assert re.search(r'folder\.py', _message(str(_folder(tmp_path))))


def _folder(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / 'folder.py'
    folder.mkdir()
    return folder
