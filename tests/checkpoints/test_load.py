"""Loading succeeds fully, or fails with lists before anything is read."""

from __future__ import annotations

import pathlib
from typing import Any, Dict

import numpy as np
import pytest
import tensorflow as tf

from tests.checkpoints.conftest import FULL, LIGHT, Tensors, write
from ugatit.checkpoints import CheckpointReader, check_variables, checkpoint_factory
from ugatit.errors import UserError
from ugatit.nn.blueprint import VariableSpec, variable_specs
from ugatit.nn.variables import ONES, ZEROS, seeded

KERNEL = 'generator_B/conv/conv2d/kernel'


def generator_b(light: bool = True) -> Dict[str, VariableSpec]:
    return variable_specs(LIGHT if light else FULL, 'generator_B')


def load(specs: Dict[str, VariableSpec], reader: CheckpointReader) -> Dict[str, tf.Variable]:
    make = checkpoint_factory(reader)
    return {name: make(name, spec.shape, ONES, spec.trainable) for name, spec in specs.items()}


def changed(tmp_path: pathlib.Path, tensors: Tensors, **changes: Any) -> CheckpointReader:
    """The checkpoint with the tensors in `changes` replaced, or dropped where None."""
    tensors = {name: value for name, value in {**tensors, **changes}.items() if value is not None}
    return CheckpointReader(write(tmp_path / 'changed', tensors))


def test_variables_have_official_names_and_stored_values(light: pathlib.Path, light_values: Tensors) -> None:
    for scope in ('generator_A', 'generator_B', 'discriminator_A', 'discriminator_B'):
        specs = variable_specs(LIGHT, scope)
        variables = load(specs, CheckpointReader(light))
        assert [variable.name for variable in variables.values()] == [f'{name}:0' for name in specs]
        assert [v.trainable for v in variables.values()] == [spec.trainable for spec in specs.values()]
        for name, variable in variables.items():
            np.testing.assert_array_equal(variable.numpy(), light_values[name])


def test_the_report_counts_what_is_left_alone(light: pathlib.Path, caplog: Any) -> None:
    with caplog.at_level('INFO'):
        report = check_variables(generator_b(), CheckpointReader(light))
    assert report.loaded == list(generator_b())
    assert report.skipped == {
        'variables of other networks': 92 + 68,
        'optimiser slots': 464,
        'counters': 4,
        'project state': 0,
        'other': 0,
    }
    assert (
        '92 variables loaded; skipped: 160 variables of other networks, 464 optimiser slots, 4 counters' in caplog.text
    )


def test_all_networks_at_once(light: pathlib.Path) -> None:
    specs = {**variable_specs(LIGHT, 'generator_A'), **variable_specs(LIGHT, 'discriminator_B')}
    assert len(check_variables(specs, CheckpointReader(light)).loaded) == len(specs)


def test_three_lists(tmp_path: pathlib.Path, light_values: Tensors) -> None:
    changes: Dict[str, Any] = {
        KERNEL: None,
        'generator_B/MLP/gamma/dense/bias': np.zeros(9, np.float32),
        'generator_B/MLP/beta/dense/bias': np.zeros(8, np.float64),
        'generator_B/extra/kernel': np.zeros(1, np.float32),
        'generator_A/extra/kernel': np.zeros(1, np.float32),
    }
    with pytest.raises(UserError) as caught:
        check_variables(generator_b(), changed(tmp_path, light_values, **changes))
    assert f'missing (1): {KERNEL};' in str(caught.value)
    assert 'unexpected (1): generator_B/extra/kernel;' in str(caught.value)
    assert 'gamma/dense/bias (expected [8], found [9])' in str(caught.value)
    assert 'beta/dense/bias (expected float32, found float64)' in str(caught.value)


def test_full_weights_in_a_light_network(full: pathlib.Path) -> None:
    with pytest.raises(UserError, match=r'linear_0/dense/kernel \(expected \[8, 8\], found \[512, 8\]\)'):
        check_variables(generator_b(), CheckpointReader(full))


def test_a_long_list_is_shortened(tmp_path: pathlib.Path) -> None:
    reader = CheckpointReader(write(tmp_path / 'x', {KERNEL: np.zeros([7, 7, 3, 2], np.float32)}))
    with pytest.raises(UserError, match='missing .91.: .* and 79 more; unexpected .0.: none'):
        check_variables(generator_b(), reader)


def test_nothing_is_read_for_the_check(light: pathlib.Path, monkeypatch: Any) -> None:
    monkeypatch.delattr(tf.raw_ops, 'RestoreV2')
    check_variables(generator_b(), CheckpointReader(light))


def test_a_lost_power_iteration_vector_starts_anew(tmp_path: pathlib.Path, light_values: Tensors, caplog: Any) -> None:
    name = 'discriminator_A/local/conv_0/u'
    reader = changed(tmp_path, light_values, **{name: None})
    assert check_variables(variable_specs(LIGHT, 'discriminator_A'), reader).reinitialised == [name]
    assert f'lacks 1 spectral-norm vectors, which start anew: {name}' in caplog.text
    variable = checkpoint_factory(reader, fallback=seeded(0))(name, (1, 2), ZEROS, False)
    assert variable.numpy().tolist() == [[0, 0]]


def test_the_factory_checks_too(light: pathlib.Path) -> None:
    make = checkpoint_factory(CheckpointReader(light))
    with pytest.raises(UserError, match='holds no tensor'):
        make('generator_B/extra/kernel', (1,), ZEROS, True)
    with pytest.raises(UserError, match=r'expected \[3\], found \[7, 7, 3, 2\]'):
        make(KERNEL, (3,), ZEROS, True)


def test_golden_checkpoints_fit_their_architecture(golden: pathlib.Path) -> None:
    from ugatit.checkpoints import architecture_of, naming

    for folder in sorted((golden / 'checkpoints').iterdir()):
        reader = CheckpointReader(folder)
        scopes = {
            naming.scope_of(name) for group in ('generators', 'discriminators') for name in reader.groups()[group]
        }
        architecture = architecture_of(reader).architecture
        for scope in scopes:
            report = check_variables(variable_specs(architecture, scope), reader)
            assert not report.reinitialised and not report.skipped['other']
