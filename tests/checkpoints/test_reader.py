"""The reader gives what is stored, reads no more than asked for, and answers damage with one sentence."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import weakref

import numpy as np
import pytest
import tensorflow as tf

from tests.checkpoints.conftest import LIGHT, Tensors, write
from ugatit.checkpoints import CheckpointReader, naming
from ugatit.checkpoints.location import with_suffix
from ugatit.errors import UserError

LARGEST = 'generator_B/resblock_0/res1/conv_0/conv2d/kernel'


def data(prefix: pathlib.Path) -> pathlib.Path:
    return with_suffix(prefix, '.data-00000-of-00001')


def refusal(prefix: pathlib.Path) -> str:
    """The message of opening and reading one tensor; it must be one line and no traceback."""
    with pytest.raises(UserError) as caught:
        CheckpointReader(prefix).read([LARGEST])
    assert '\n' not in str(caught.value) and 'Op:' not in str(caught.value)
    return str(caught.value)


def test_variables_and_values(light: pathlib.Path, light_values: Tensors) -> None:
    reader = CheckpointReader(light)
    assert {name: tensor.shape for name, tensor in reader.variables().items()} == naming.official_names(LIGHT)
    assert {tensor.dtype for tensor in reader.variables().values()} == {tf.float32}
    for name, tensor in reader.read(light_values).items():
        np.testing.assert_array_equal(tensor.numpy(), light_values[name])


def test_groups(light: pathlib.Path) -> None:
    counts = {group: len(names) for group, names in CheckpointReader(light).groups().items()}
    trainable = 184 + 48  # of 2 generators, all 92 each; of 2 discriminators without their u
    assert counts == {
        'generators': 184,
        'discriminators': 68,
        'optimiser slots': 2 * trainable,
        'counters': 4,
        'project state': 0,
        'other': 0,
    }


def test_reading_needs_only_the_data_that_is_asked_for(light: pathlib.Path, light_values: Tensors) -> None:
    """Everything but one variable's data is overwritten: it must not matter for that one, and for another it must."""
    content, wanted = data(light).read_bytes(), light_values[LARGEST].tobytes()
    start = content.index(wanted)
    data(light).write_bytes(b'\xff' * start + wanted + b'\xff' * (len(content) - start - len(wanted)))
    np.testing.assert_array_equal(CheckpointReader(light).read_one(LARGEST).numpy(), light_values[LARGEST])
    with pytest.raises(UserError, match='data of beta1_power .* is damaged'):
        CheckpointReader(light).read_one('beta1_power')


def test_a_variable_shares_the_memory_of_the_tensor(light: pathlib.Path) -> None:
    tensor = CheckpointReader(light).read_one(LARGEST)
    variable = tf.Variable(tensor)
    pointers = [np.asarray(memoryview(value.numpy())).ctypes.data for value in (tensor, variable.read_value())]
    assert pointers[0] == pointers[1]


def test_reading_ahead_gives_the_same_tensors_once(light: pathlib.Path, light_values: Tensors) -> None:
    reader = CheckpointReader(light)
    reader.read_ahead(light_values)
    kept = weakref.ref(tensor := reader.read_one(LARGEST))
    np.testing.assert_array_equal(tensor.numpy(), light_values[LARGEST])
    del tensor
    assert kept() is None, 'the reader keeps what it handed over'
    for _ in range(2):  # from the threads, and then again from the file
        for name, value in reader.read(light_values).items():
            np.testing.assert_array_equal(value.numpy(), light_values[name])


def test_damage_is_told_of_the_right_tensor_when_reading_ahead(light: pathlib.Path, light_values: Tensors) -> None:
    """Several are read in one piece, and the sound ones are still given."""
    content, value = data(light).read_bytes(), light_values[LARGEST].tobytes()
    start = content.index(value)
    data(light).write_bytes(content[:start] + b'\xff' + content[start + 1 :])
    reader = CheckpointReader(light)
    reader.read_ahead(light_values)
    for name in light_values:
        if name == LARGEST:
            with pytest.raises(UserError, match=f'data of {LARGEST} .* is damaged'):
                reader.read_one(name)
        else:
            np.testing.assert_array_equal(reader.read_one(name).numpy(), light_values[name])


def test_reading_ahead_inside_a_graph_gives_values(light: pathlib.Path, light_values: Tensors) -> None:
    reader = CheckpointReader(light)

    @tf.function
    def ready() -> None:
        reader.read_ahead([LARGEST])
        np.testing.assert_array_equal(reader.read_one(LARGEST).numpy(), light_values[LARGEST])

    ready()


def test_truncated_data(light: pathlib.Path) -> None:
    with open(data(light), 'rb+') as file:
        file.truncate(data(light).stat().st_size - 1)
    assert re.search(r'cut off: the index asks for \d+ bytes of data, \d+ are there', refusal(light))


def test_empty_files(light: pathlib.Path) -> None:
    os.truncate(data(light), 0)
    assert ' 0 are there' in refusal(light)
    os.truncate(with_suffix(light, '.index'), 0)
    assert 'no index of a TensorFlow checkpoint' in refusal(light)


def test_missing_data(light: pathlib.Path) -> None:
    data(light).unlink()
    assert 'its data is missing' in refusal(light)


@pytest.mark.parametrize('damage', ['noise', 'one bit', 'cut'])
def test_damaged_index(light: pathlib.Path, damage: str) -> None:
    index = with_suffix(light, '.index')
    content = bytearray(index.read_bytes())
    if damage == 'noise':
        content[:] = os.urandom(len(content))
    elif damage == 'one bit':
        content[len(content) // 2] ^= 1
    index.write_bytes(content[: len(content) // 2] if damage == 'cut' else content)
    assert 'damaged' in refusal(light)


def test_a_picture_named_index(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'photo.index').write_bytes(b'\xff\xd8\xff\xe0' + bytes(2000))
    (tmp_path / 'photo.data-00000-of-00001').touch()
    assert 'no index of a TensorFlow checkpoint' in refusal(tmp_path / 'photo')


def test_unknown_name(light: pathlib.Path) -> None:
    with pytest.raises(UserError, match='holds no tensor generator_C'):
        CheckpointReader(light).read(['generator_C'])


@pytest.mark.parametrize('folder', ['model [final]', 'été *?', 'mit Leerzeichen'])
def test_folder_names_that_tensorflow_takes_for_patterns(
    tmp_path: pathlib.Path, light: pathlib.Path, folder: str
) -> None:
    moved = shutil.move(str(light.parent), str(tmp_path / folder))
    assert len(CheckpointReader(moved).read([LARGEST])) == 1


def test_reading_inside_a_graph_gives_values(light: pathlib.Path, light_values: Tensors) -> None:
    """Networks may be built inside a tf.function or a strategy's scope."""
    reader = CheckpointReader(light)
    inside = tf.function(lambda: reader.read_one(LARGEST))()
    np.testing.assert_array_equal(inside, light_values[LARGEST])


def test_sidecar(light: pathlib.Path) -> None:
    reader = CheckpointReader(light)
    assert reader.sidecar() is None
    reader.location.sidecar.write_text(json.dumps({'step': 5}))
    assert reader.sidecar() == {'step': 5}
    reader.location.sidecar.write_text('{"step":')
    assert reader.sidecar() is None


def test_several_data_files(tmp_path: pathlib.Path) -> None:
    parts = [write(tmp_path / 'parts', {name: np.ones(3, np.float32)}, name) for name in ('a', 'b')]
    merged = tmp_path / 'all-1'
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[str(p) for p in parts], destination_prefix=str(merged))
    assert set(CheckpointReader(tmp_path).read(['a', 'b'])) == {'a', 'b'}
    with_suffix(merged, '.data-00001-of-00002').unlink()
    with pytest.raises(UserError, match='data is missing.*00001-of-00002'):
        CheckpointReader(merged)
