"""The benchmark runs; its share means something at a real size only."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_the_benchmark_runs(tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    words = ['--small', '--batch_size=2', f'--workdir={tmp_path}', '--device=cpu']
    done = subprocess.run(
        [sys.executable, '-m', 'benchmarks.bench_throughput', *words], cwd=repository, stdout=subprocess.PIPE
    )
    found = json.loads(done.stdout)
    assert found['pictures'] == 5 and found['pictures_per_second'] > 0
    assert done.returncode == (0 if found['share_of_pure_compute'] >= found['limit'] else 3)
    assert not list(tmp_path.iterdir())
