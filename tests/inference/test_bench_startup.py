"""The benchmark runs; its figures mean something at a real size only."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_the_benchmark_runs(tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    program = [sys.executable, '-m', 'benchmarks.bench_startup', '--small', f'--workdir={tmp_path}']
    found = json.loads(subprocess.run(program, cwd=repository, stdout=subprocess.PIPE, check=True).stdout)
    steps = ['import tensorflow', 'import the project', 'load the checkpoint', 'first picture', 'second picture']
    assert list(found['step_seconds']) == steps and all(seconds > 0 for seconds in found['step_seconds'].values())
    assert found['whole_process_seconds']['infer.py'] > 0 and not list(tmp_path.iterdir())
