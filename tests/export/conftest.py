"""One tiny checkpoint, its pictures, and one that overflows float16, for every test of exported files."""

from __future__ import annotations

import pathlib

import pytest

from tests.diagnosis import tiny
from tests.export.models import Model, overflowing


@pytest.fixture(scope='session')
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A light checkpoint for 16 x 16 pixels with both generators."""
    return tiny.write_checkpoint(tmp_path_factory.mktemp('tiny'))


@pytest.fixture(scope='session')
def broken_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The same with an AdaLIN stream, and what reads it, far above 65504."""
    return overflowing(tmp_path_factory.mktemp('broken'))


@pytest.fixture(scope='session')
def healthy(tiny_checkpoint: pathlib.Path) -> Model:
    """The tiny checkpoint, a2b."""
    return Model(tiny_checkpoint)


@pytest.fixture(scope='session')
def broken(broken_checkpoint: pathlib.Path) -> Model:
    """The overflowing one, a2b."""
    return Model(broken_checkpoint)
