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
_MOST_WORKERS = 4  # each takes 1 to 2 GB


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


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Folders of tests run on all cores, single files in this process; `-n` decides otherwise, `-n0` for one process.

    Not `-n auto` in pyproject.toml, which would fail without pytest-xdist, and make one small test wait for workers.
    """
    option = config.option
    asked = getattr(option, 'numprocesses', 0) is not None  # also where pytest-xdist is missing
    alone = option.collectonly or option.usepdb or option.capture == 'no'
    if asked or alone or hasattr(config, 'workerinput') or not all(pathlib.Path(arg).is_dir() for arg in config.args):
        return
    option.numprocesses = min(os.cpu_count() or 1, _MOST_WORKERS)
    option.dist = 'worksteal'  # the few long tests are spread, whichever worker they began with


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
