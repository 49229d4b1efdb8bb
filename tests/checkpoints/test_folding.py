"""Folding refuses what would make a checkpoint that nobody can use: damaged sources, exponents beyond float32."""

from __future__ import annotations

import pathlib
from typing import Any, Dict

import numpy as np
import pytest

from tests.checkpoints.conftest import write
from tests.diagnosis import tiny
from ugatit.checkpoints import CheckpointReader, slim
from ugatit.checkpoints.folding import fold_exponents, folded_exponents
from ugatit.errors import UserError

KERNEL = 'generator_B/up_conv_0/conv2d/kernel'


def _write(folder: pathlib.Path, **changed: Any) -> pathlib.Path:
    return write(folder, {**tiny.weights(), **{name.replace('__', '/'): value for name, value in changed.items()}})


@pytest.mark.parametrize(
    'value', [np.int32(10**9), np.int32(-201), np.zeros(0, np.int32), np.zeros([1, 2], np.int32), np.array(b'4')]
)
def test_damaged_exponents_are_named(tmp_path: pathlib.Path, value: Any) -> None:
    name = 'ugatit/folded/generator_B/decoder'
    reader = CheckpointReader(_write(tmp_path / 'x', **{name: value}))
    with pytest.raises(UserError, match=f'{name} in .* should be one whole number from -200 to 200'):
        folded_exponents(reader, 'generator_B')


@pytest.mark.parametrize(('value', 'said'), [(np.nan, 'NaN'), (np.inf, 'infinity')])
def test_a_damaged_source_is_named(tmp_path: pathlib.Path, value: float, said: str) -> None:
    broken: Dict[str, np.ndarray] = tiny.weights()
    broken[KERNEL].flat[3] = value
    source = write(tmp_path / 'x', broken)
    for make in (lambda to: fold_exponents(source, {'generator_B': {'decoder': 1}}, to, tiny.SIZE),
                 lambda to: slim(source, to)):  # fmt: skip
        with pytest.raises(UserError, match=f'the checkpoint is damaged: {said} in {KERNEL}'):
            make(tmp_path / 'out')
        assert not list((tmp_path / 'out').rglob('*.index'))


def test_exponents_add_up_within_float32(tmp_path: pathlib.Path) -> None:
    source = _write(tmp_path / 'x')
    fold_exponents(source, {'generator_B': {'decoder': -40}}, tmp_path / 'once', tiny.SIZE)
    with pytest.raises(UserError, match='within -60..60 .* decoder -80'):
        fold_exponents(tmp_path / 'once', {'generator_B': {'decoder': -40}}, tmp_path / 'twice')
    fold_exponents(tmp_path / 'once', {'generator_B': {'decoder': 40}}, tmp_path / 'back')
    assert folded_exponents(CheckpointReader(tmp_path / 'back'), 'generator_B') == {}
