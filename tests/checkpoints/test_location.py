"""Whatever path a user gives, the right checkpoint is found, or the message says where it was looked for."""

from __future__ import annotations

import logging
import pathlib
import shutil
from typing import Any

import pytest

from ugatit.checkpoints import locate
from ugatit.errors import UserError


def make(folder: pathlib.Path, *names: str) -> pathlib.Path:
    """Empty files are enough: locating looks at names only."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f'{name}.index').touch()
        (folder / f'{name}.data-00000-of-00001').touch()
    return folder


def state(folder: pathlib.Path, path: str) -> None:
    (folder / 'checkpoint').write_text(f'model_checkpoint_path: "{path}"\nall_model_checkpoint_paths: "{path}"\n')


@pytest.fixture
def model(tmp_path: pathlib.Path) -> pathlib.Path:
    return make(tmp_path / 'any name', 'UGATIT.model-900000', 'UGATIT.model-1000000')


def test_all_forms_of_a_path_give_the_same(model: pathlib.Path) -> None:
    state(model, 'UGATIT.model-1000000')
    prefix = model / 'UGATIT.model-1000000'
    (model / 'UGATIT.model-1000000.meta').touch()
    suffixes = ('', '.index', '.data-00000-of-00001', '.meta', '.json')
    forms = [model.parent, model, model / 'checkpoint', *(model / f'{prefix.name}{suffix}' for suffix in suffixes)]
    assert {locate(form).prefix for form in forms} == {prefix}
    assert {locate(str(form)).step for form in forms} == {1000000}


def test_home_and_relative_paths(model: pathlib.Path, monkeypatch: Any) -> None:
    monkeypatch.setenv('HOME', str(model.parent))
    monkeypatch.chdir(model)
    assert locate('~/any name').name == locate('.').name == locate('UGATIT.model-1000000').name


@pytest.mark.parametrize(
    'path',
    [
        'UGATIT.model-900000',
        '/home/author/checkpoint/UGATIT_x/UGATIT.model-900000',
        'C:\\\\Users\\\\author\\\\UGATIT.model-900000',
        'C:\\Users\\author\\UGATIT.model-900000',
        'D:/runs/UGATIT.model-900000',
    ],
)
def test_only_the_base_name_in_the_text_file_counts(model: pathlib.Path, path: str) -> None:
    state(model, path)
    found = locate(model)
    assert found.step == 900000
    assert 'named by' in found.how


@pytest.mark.parametrize('text', [None, b'', b'\xff\xfe garbage', b'model_checkpoint_path: ""'])
def test_without_a_usable_text_file_the_largest_number_wins(model: pathlib.Path, text: Any) -> None:
    if text is not None:
        (model / 'checkpoint').write_bytes(text)
    found = locate(model)
    assert found.step == 1000000  # as text, '900000' is the larger one
    assert 'newest of 2 by number' in found.how


def test_a_text_file_that_names_an_absent_one_is_reported(model: pathlib.Path, caplog: Any) -> None:
    state(model, '/home/author/UGATIT.model-700000')
    with caplog.at_level(logging.INFO):
        assert locate(model).step == 1000000
    assert 'names UGATIT.model-700000, which is not here' in caplog.text


def test_one_without_data_is_passed_over(model: pathlib.Path, caplog: Any) -> None:
    (model / 'UGATIT.model-1000000.data-00000-of-00001').unlink()
    state(model, 'UGATIT.model-1000000')
    assert locate(model).step == 900000
    assert 'UGATIT.model-1000000 has no .data file' in caplog.text


def test_several_model_directories_are_listed(model: pathlib.Path) -> None:
    make(model.parent / 'other', 'UGATIT.model-1')
    with pytest.raises(UserError, match='2 model directories.*any name.*other'):
        locate(model.parent)


def test_several_models_in_one_folder_need_a_choice(model: pathlib.Path) -> None:
    make(model, 'UGATIT_light.model-5')
    with pytest.raises(UserError, match='one model expected.*UGATIT_light.model-5'):
        locate(model)
    state(model, 'UGATIT_light.model-5')
    assert locate(model).step == 5


def test_a_work_folder_two_levels_up(model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    work = tmp_path / 'work' / 'checkpoints'
    work.mkdir(parents=True)
    shutil.move(str(model), str(work / 'model'))
    make(work / '.saving-abc', 'UGATIT.model-2000000')  # a killed writer's
    assert locate(work.parent).prefix == work / 'model' / 'UGATIT.model-1000000'


def test_nothing_there_names_every_folder(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'a' / 'b').mkdir(parents=True)
    with pytest.raises(UserError) as caught:
        locate(tmp_path)
    assert all(str(folder) in str(caught.value) for folder in (tmp_path, tmp_path / 'a', tmp_path / 'a' / 'b'))


def test_no_such_path(tmp_path: pathlib.Path, model: pathlib.Path) -> None:
    with pytest.raises(UserError, match='does not exist'):
        locate(tmp_path / 'missing' / 'UGATIT.model-5')
    with pytest.raises(UserError, match='no UGATIT.model-5.index'):
        locate(model / 'UGATIT.model-5')


def test_files_that_are_no_checkpoint(tmp_path: pathlib.Path, model: pathlib.Path) -> None:
    (tmp_path / 'model.zip').touch()
    with pytest.raises(UserError, match='no TensorFlow checkpoint'):
        locate(tmp_path / 'model.zip')
    (model / 'UGATIT.model-900000.index').unlink()
    with pytest.raises(UserError, match='UGATIT.model-900000.index is missing'):
        locate(model / 'UGATIT.model-900000.data-00000-of-00001')
