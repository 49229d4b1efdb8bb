"""What every test gets: a quiet TensorFlow on the CPU, fixed seeds, and the reference files where they exist."""

from __future__ import annotations

import os
import pathlib
import random
from typing import Any

# Set before the first TensorFlow import. The suite must give the same result on a machine with and without a GPU;
# tests of a GPU are run by naming one: CUDA_VISIBLE_DEVICES=0 python -m pytest.
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import numpy as np  # noqa: E402
import pytest  # noqa: E402

from tests import figures  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = REPOSITORY.parent / 'shared' / 'golden'


@pytest.fixture(autouse=True)
def _seeds() -> None:
    """The same Python and NumPy random numbers for a test, whichever tests ran before it."""
    random.seed(0)
    np.random.seed(0)


@pytest.fixture(scope='session')
def repository() -> pathlib.Path:
    """The checkout's root folder."""
    return REPOSITORY


@pytest.fixture(scope='session')
def golden() -> pathlib.Path:
    """The folder of tensors and checkpoints that the official code wrote; skips where it is not beside the checkout."""
    if not GOLDEN.is_dir():
        pytest.skip(f'the reference outputs are not here: no folder {os.path.join("..", "shared", "golden")}')
    return GOLDEN


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker process hands over the figures that its tests found."""
    output = getattr(session.config, 'workeroutput', None)
    if output is not None:
        output['figures'] = {what: list(found) for what, found in figures.FOUND.items()}


@pytest.hookimpl(optionalhook=True)  # pytest-xdist's
def pytest_testnodedown(node: Any) -> None:
    figures.merge({what: tuple(found) for what, found in getattr(node, 'workeroutput', {}).get('figures', {}).items()})


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if figures.FOUND:
        terminalreporter.section('figures')
    for what, (_, line) in sorted(figures.FOUND.items()):
        terminalreporter.write_line(f'{what}: {line}')
