"""A small checkpoint that overflows, run in float32 and as a 910 computes, dumped in both ways; made once."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tests.diagnosis import tiny
from ugatit.checkpoints.folding import fold_exponents
from ugatit.diagnosis.pictures import noise_pictures
from ugatit.dumps.capture import Capture, capture, write_npy
from ugatit.dumps.engines import NUMPY, Engine
from ugatit.dumps.fake_npu import write_tree
from ugatit.nn.policy import FLOAT32_POLICY, make_policy
from ugatit.translate import load


@pytest.fixture(scope='session', params=['numpy', 'numba'])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each in turn; both must find the same."""
    if request.param == 'numpy':
        return NUMPY
    pytest.importorskip('numba', reason='numba is not installed: pip install "ugatit[fast]"')
    from ugatit.dumps import fused

    return fused.ENGINE


@pytest.fixture(scope='session')
def overflowing(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of a checkpoint whose decoder leaves float16."""
    place = tmp_path_factory.mktemp('dumps')
    fold_exponents(tiny.write_checkpoint(place / 'healthy'), {'generator_B': {'decoder': -18, 'up_conv_0': -17}},
                   place / 'broken')  # fmt: skip
    return place / 'broken'


@pytest.fixture(scope='session')
def picture() -> np.ndarray:
    return noise_pictures(1, tiny.SIZE)


@pytest.fixture(scope='session')
def exact(overflowing: pathlib.Path, picture: np.ndarray) -> Capture:
    """In float32."""
    return capture(load(overflowing), FLOAT32_POLICY, picture)


@pytest.fixture(scope='session')
def saturated(overflowing: pathlib.Path, picture: np.ndarray) -> Capture:
    """As a 910 computes it."""
    return capture(load(overflowing), make_policy('mixed_float16', 'saturate'), picture)


@pytest.fixture(scope='session')
def npy(exact: Capture, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The right side: a folder of .npy with golden names."""
    folder = tmp_path_factory.mktemp('right') / 'npy'
    write_npy(folder, exact)
    return folder


@pytest.fixture(scope='session')
def npu(
    saturated: Capture, overflowing: pathlib.Path, picture: np.ndarray, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """The left side: a folder as an NPU leaves it, three graphs."""
    folder = tmp_path_factory.mktemp('left') / 'npu'
    other = capture(load(overflowing, 'b2a'), saturated.policy, picture)
    write_tree(folder, saturated, [other])
    return folder
