"""What we write, others read; what is wrong is refused, and nothing is lost by it."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, List

import numpy as np
import pytest
import tensorflow as tf

from tests.checkpoints.conftest import LIGHT, Tensors
from ugatit.checkpoints import CheckpointReader, locate, save_checkpoint, save_pieces
from ugatit.errors import UserError

SMALL = {'generator_B/a': np.arange(6, dtype=np.float32).reshape(2, 3), 'b': np.float32(2)}


def files(folder: pathlib.Path) -> List[str]:
    return sorted(path.name for path in folder.iterdir())


def steps(folder: pathlib.Path) -> List[int]:
    return sorted(int(path.stem.split('-')[1]) for path in folder.glob('*.index'))


def test_files_and_their_content(tmp_path: pathlib.Path) -> None:
    location = save_checkpoint(tmp_path / 'new' / 'folder', 'UGATIT', 7, SMALL, {'architecture': LIGHT, 'lr': 1e-4})
    assert files(location.folder) == [
        'UGATIT.model-7.data-00000-of-00001',
        'UGATIT.model-7.index',
        'UGATIT.model-7.json',
        'checkpoint',
    ]
    told = json.loads(location.sidecar.read_text())
    assert (told['step'], told['lr'], told['architecture']['ch']) == (7, 1e-4, LIGHT.ch)
    assert tf.train.latest_checkpoint(str(location.folder)) == str(location.prefix)


def test_plain_tensorflow_reads_it(tmp_path: pathlib.Path, light_values: Tensors) -> None:
    location = save_checkpoint(tmp_path, 'UGATIT_light', 5, light_values)
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert set(reader.get_variable_to_shape_map()) == set(light_values)
    for name, value in light_values.items():
        np.testing.assert_array_equal(reader.get_tensor(name), value)
    assert locate(tmp_path).prefix == location.prefix


def test_a_v1_saver_restores_it(tmp_path: pathlib.Path, light_values: Tensors) -> None:
    location = save_checkpoint(tmp_path, 'UGATIT_light', 5, light_values)
    assert_v1_saver_restores(str(location.prefix), light_values)


def assert_v1_saver_restores(prefix: str, expected: Dict[str, np.ndarray]) -> None:
    """Restores all variables in a TF1 graph of reference variables, as the official code has them."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        for name, value in expected.items():
            v1.get_variable(name, value.shape, use_resource=False)
        v1.train.Saver().restore(session, prefix)
        restored = session.run({variable.op.name: variable for variable in v1.global_variables()})
    assert set(restored) == set(expected)
    assert all(np.array_equal(restored[name], value) for name, value in expected.items())


def test_variables_of_all_types(tmp_path: pathlib.Path) -> None:
    values: Dict[str, Any] = {
        'variable': tf.Variable([1.0, 2.0]),
        'ugatit/exponents/x': tf.constant([-3, 4], tf.int32),
        'ugatit/half': np.float16([1.5]),
        'ugatit/number': 2.5,
        'ugatit/text': tf.constant('words'),
    }
    found = CheckpointReader(save_checkpoint(tmp_path, 'UGATIT', 1, values).prefix).read(values)
    assert {name: tensor.dtype.name for name, tensor in found.items()} == {
        'variable': 'float32',
        'ugatit/exponents/x': 'int32',
        'ugatit/half': 'float16',
        'ugatit/number': 'float32',
        'ugatit/text': 'string',
    }
    assert found['ugatit/text'].numpy() == b'words' and found['variable'].numpy().tolist() == [1, 2]


def test_pieces_become_one_checkpoint(tmp_path: pathlib.Path) -> None:
    location = save_pieces(tmp_path, 'UGATIT', 3, ({f'{n}/x': np.float32([n])} for n in range(3)))
    assert sorted(CheckpointReader(location.prefix).variables()) == ['0/x', '1/x', '2/x']
    assert 'UGATIT.model-3.data-00002-of-00003' in files(tmp_path)
    save_checkpoint(tmp_path, 'UGATIT', 4, SMALL, keep=1)
    assert [name for name in files(tmp_path) if 'model-3' in name] == []


def test_the_newest_by_number_are_kept(tmp_path: pathlib.Path) -> None:
    for step in (1, 900000, 1000000):
        save_checkpoint(tmp_path, 'UGATIT', step, SMALL, keep=2)
    assert steps(tmp_path) == [900000, 1000000]
    state = (tmp_path / 'checkpoint').read_text().split()
    assert state[1::2] == ['"UGATIT.model-1000000"', '"UGATIT.model-900000"', '"UGATIT.model-1000000"']


def test_the_one_just_written_stays_and_so_does_what_is_not_ours(tmp_path: pathlib.Path) -> None:
    for name in ('UGATIT.model-best.index', 'UGATIT.model-0005.index', 'notes-1.index', 'UGATIT.model-1.txt'):
        (tmp_path / name).touch()
    save_checkpoint(tmp_path, 'UGATIT_light', 1, SMALL)
    before = files(tmp_path)
    for step in (8, 9, 2):
        save_checkpoint(tmp_path, 'UGATIT', step, SMALL, keep=2)
    assert set(before) <= set(files(tmp_path))
    assert locate(tmp_path).step == 2
    assert all((tmp_path / f'UGATIT.model-{step}.index').exists() for step in (2, 8, 9))


def test_the_same_number_again(tmp_path: pathlib.Path) -> None:
    save_pieces(tmp_path, 'UGATIT', 1, [{'a': np.float32(1)}, {'b': np.float32(1)}])
    save_checkpoint(tmp_path, 'UGATIT', 1, {'a': np.float32(2)}, keep=1)
    assert CheckpointReader(tmp_path).read_one('a').numpy() == 2
    assert len(files(tmp_path)) == 4  # none of the two old data files is left


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64])
def test_non_finite_weights_are_refused(tmp_path: pathlib.Path, bad: float, dtype: Any) -> None:
    save_checkpoint(tmp_path, 'UGATIT', 1, SMALL)
    before = files(tmp_path)
    broken = np.zeros([2, 3], dtype)
    broken[1, 2] = bad
    with pytest.raises(UserError, match='NaN or infinity is in generator_A/broken; no checkpoint was written'):
        save_checkpoint(tmp_path, 'UGATIT', 2, {**SMALL, 'generator_A/broken': broken}, keep=1)
    assert files(tmp_path) == before


def test_the_last_value_of_a_large_tensor_is_looked_at(tmp_path: pathlib.Path) -> None:
    from ugatit.checkpoints import writer

    large = np.zeros(writer._CHUNK + 1, np.float32)
    assert writer.is_finite(large)
    large[-1] = np.nan
    assert not writer.is_finite(large)
    assert writer.is_finite(np.zeros([0, 3], np.float32)) and writer.is_finite(np.float32(3))


def test_a_full_disk_is_noticed_first(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    save_checkpoint(tmp_path, 'UGATIT', 1, SMALL)
    before = files(tmp_path)
    monkeypatch.setattr('shutil.disk_usage', lambda folder: type('Usage', (), {'free': 1000}))
    with pytest.raises(UserError, match='needs 1 MB for the checkpoint, but 0 MB are free'):
        save_checkpoint(tmp_path, 'UGATIT', 2, SMALL, keep=1)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    'change, message',
    [
        ({'keep': 0}, 'keep must be at least 1'),
        ({'step': -1}, 'step must be 0 or more'),
        ({'model_name': '../UGATIT'}, 'model_name must be letters'),
        ({'model_name': ''}, 'model_name must be letters'),
    ],
)
def test_bad_arguments(tmp_path: pathlib.Path, change: Dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        save_checkpoint(**{**dict(folder=tmp_path, model_name='UGATIT', step=1, tensors=SMALL), **change})
    assert files(tmp_path) == []


def test_a_folder_that_cannot_be_made(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'file').touch()
    with pytest.raises(UserError, match='could not be written'):
        save_checkpoint(tmp_path / 'file' / 'x', 'UGATIT', 1, SMALL)


def test_relative_folders_and_a_move(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    save_checkpoint('here', 'UGATIT', 1, SMALL)
    moved = (tmp_path / 'here').rename(tmp_path / 'there')
    assert tf.train.latest_checkpoint(str(moved)) == str(moved / 'UGATIT.model-1')


def test_golden_checkpoints_read_and_written_again(golden: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Bit for bit, names included, for plain TensorFlow and for an official Saver."""
    for folder in sorted((golden / 'checkpoints').iterdir()):
        reader = CheckpointReader(folder)
        name = reader.location.name.split('.model-')[0]
        location = save_checkpoint(tmp_path / folder.name, name, reader.location.step, reader.read(reader.variables()))
        ours, official = (tf.train.load_checkpoint(str(prefix)) for prefix in (location.prefix, reader.location.prefix))
        assert ours.get_variable_to_shape_map() == official.get_variable_to_shape_map()
        expected = {name: official.get_tensor(name) for name in official.get_variable_to_shape_map()}
        assert all(ours.get_tensor(name).tobytes() == value.tobytes() for name, value in expected.items())
        if folder.name.startswith('train_full'):  # a Saver takes seconds; another test has a light model for it
            assert_v1_saver_restores(str(location.prefix), expected)
