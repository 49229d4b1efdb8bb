"""A slim checkpoint holds the generators alone, bit for bit, and what else decides the picture."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.checkpoints.conftest import FOLDER, LIGHT, Tensors, write
from ugatit.checkpoints import CheckpointReader, architecture_of, check_variables, naming, slim, slimming
from ugatit.errors import UserError
from ugatit.nn.blueprint import variable_specs

SCOPES = {'a2b': 'generator_B', 'b2a': 'generator_A'}


@pytest.mark.parametrize('directions', [('a2b',), ('b2a',), ('a2b', 'b2a')])
def test_generators_only(light: pathlib.Path, light_values: Tensors, tmp_path: pathlib.Path, directions: Any) -> None:
    location = slim(light, tmp_path / 'slim', directions)
    reader = CheckpointReader(location)
    names = [name for name in reader.variables() if not name.startswith('ugatit/')]
    assert {naming.scope_of(name) for name in names} == {SCOPES[direction] for direction in directions}
    for name, tensor in reader.read(names).items():
        np.testing.assert_array_equal(tensor.numpy(), light_values[name])
    for direction in directions:
        check_variables(variable_specs(LIGHT, SCOPES[direction]), reader)
    assert location.name == 'UGATIT_light.model-5'
    assert set(tf.train.load_checkpoint(str(tmp_path / 'slim')).get_variable_to_shape_map()) == set(reader.variables())


def test_what_was_known_stays_known(tmp_path: pathlib.Path, light_values: Tensors) -> None:
    """Smoothing was in the folder's name, depth in the discriminators: the new file says it itself, without JSON."""
    source = write(tmp_path / FOLDER.replace('_smoothing', ''), light_values)
    location = slim(source, tmp_path / 'slim', ['a2b'])
    told = json.loads(location.sidecar.read_text())
    assert (told['slimmed_from'], told['directions']) == ('UGATIT_light.model-5', ['a2b'])
    location.sidecar.unlink()
    found = architecture_of(CheckpointReader(location)).architecture
    assert found == dataclasses.replace(LIGHT, smoothing=False, image_size=256)


def test_project_state_goes_along_unless_it_is_anothers(tmp_path: pathlib.Path, light_values: Tensors) -> None:
    state = {
        'ugatit/exponents/generator_B/stream': np.int32(3),
        'ugatit/exponents/generator_A/stream': np.int32(4),
        'ugatit/exponents/discriminator_A/logits': np.int32(5),
        'ugatit/seed': np.int32(6),
    }
    source = write(tmp_path / 'x', {**light_values, **state})
    reader = CheckpointReader(slim(source, tmp_path / 'slim', ['a2b']))
    kept = [name for name in reader.groups()['project state'] if not name.startswith('ugatit/architecture/')]
    assert kept == ['ugatit/exponents/generator_B/stream', 'ugatit/seed']
    assert reader.read_one('ugatit/exponents/generator_B/stream').numpy() == 3


def test_what_the_json_said_goes_along(light: pathlib.Path, tmp_path: pathlib.Path) -> None:
    CheckpointReader(light).location.sidecar.write_text(
        json.dumps({'dataset': 'cats', 'architecture': {'image_size': 64}})
    )
    told = CheckpointReader(slim(light, tmp_path / 'slim')).sidecar()
    assert told['dataset'] == 'cats' and told['architecture']['image_size'] == 64


def test_one_generator_at_a_time(light: pathlib.Path) -> None:
    reader = CheckpointReader(light)
    names = {scope: slimming._names_of(scope, reader) for scope in SCOPES.values()}
    pieces = [list(piece) for piece in slimming._pieces(reader, names, {})]
    assert pieces == list(names.values())


def test_refusals(light: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match="a direction is one of a2b, b2a, but 'c' arrived"):
        slim(light, tmp_path / 'slim', ['c'])
    with pytest.raises(UserError, match='exists already and is left as it is'):
        slim(light, light.parent)
    one = slim(light, tmp_path / 'one', ['a2b'])
    with pytest.raises(UserError, match='direction b2a needs generator_A, which .* does not hold'):
        slim(one.prefix, tmp_path / 'two', ['b2a'])
    with pytest.raises(UserError, match='at least one direction'):
        slim(light, tmp_path / 'none', [])
