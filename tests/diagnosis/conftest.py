"""One small checkpoint and one that overflows, made once for all tests here."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tests.diagnosis import tiny
from ugatit.checkpoints.folding import fold_exponents
from ugatit.diagnosis.pictures import read_pictures
from ugatit.diagnosis.report import RangeReport, make_report
from ugatit.planning import profile_ranges
from ugatit.translate import load

# Powers of two by which groups of the small checkpoint are made larger: results, a weight and the stream pass 65504.
BROKEN = {'generator_B': {'decoder': -18, 'up_conv_0': -17, 'conv': -16}}


@pytest.fixture(scope='session')
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A small healthy checkpoint."""
    return tiny.write_checkpoint(tmp_path_factory.mktemp('tiny') / 'healthy')


@pytest.fixture(scope='session')
def pictures(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with three pictures."""
    return tiny.write_pictures(tmp_path_factory.mktemp('pictures'))


@pytest.fixture(scope='session')
def images(pictures: pathlib.Path) -> np.ndarray:
    """The same three, as the network takes them."""
    return read_pictures([pictures], tiny.SIZE).images


@pytest.fixture(scope='session')
def broken(checkpoint: pathlib.Path) -> pathlib.Path:
    """The checkpoint with groups of generator_B beyond float16; generator_A is as it was."""
    output = checkpoint.parent / 'broken'
    fold_exponents(checkpoint, BROKEN, output)
    return output


@pytest.fixture(scope='session')
def report(broken: pathlib.Path, images: np.ndarray) -> RangeReport:
    """The report of the broken direction."""
    translate = load(broken)
    return make_report(translate, profile_ranges(translate, images))
