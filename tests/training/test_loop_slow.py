"""The compiled loop: exact across processes' programs, and flat in memory."""

from __future__ import annotations

import os
import pathlib
import shutil
from typing import Any, Dict

import pytest

from tests import tolerances
from tests.training.tiny_run import make_settings, run, same_run, write_pictures

psutil = pytest.importorskip('psutil')


@pytest.fixture(scope='module')
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_pictures(tmp_path_factory.mktemp('pictures') / 'tiny')


@pytest.mark.slow
@pytest.mark.parametrize('light', [True, False], ids=['light', 'full'])
def test_a_compiled_run_continues_with_the_same_bits(data: pathlib.Path, tmp_path: pathlib.Path, light: bool) -> None:
    """Eight steps against four of them, and four more with a program compiled anew."""
    settings = make_settings({'light': light}, save_every=4)
    whole, parts = tmp_path / 'whole', tmp_path / 'parts'

    def keep_the_middle(done: int) -> None:
        if done == 5:  # the checkpoint of step 4 is the newest
            shutil.copytree(whole, parts)

    assert run(settings, data, whole, keep_the_middle) == 0
    assert run(settings, data, parts) == 0
    same_run(whole, parts)


@pytest.mark.slow
def test_memory_stays_flat(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """500 steps with a save and samples every 50: the process is hardly larger at the end than after 100."""
    used: Dict[int, float] = {}

    def measure(done: int) -> Any:
        if done % 50 == 0:
            used[done] = psutil.Process(os.getpid()).memory_info().rss / 1e6

    settings = make_settings(epochs=10, steps_per_epoch=50, save_every=50, sample_every=50)
    assert run(settings, data, tmp_path, measure) == 0
    growth = (used[500] - used[100]) / 400
    print(f'\nMB after so many steps: {used}; {1000 * growth:.1f} kB a step', end='')
    assert used[500] < used[100] * (1 + tolerances.MEMORY_GROWTH)
