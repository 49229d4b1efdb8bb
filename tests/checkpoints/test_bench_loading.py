"""The benchmark runs; its figure means something at full size only."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads the peak memory from /proc/self/status')
def test_the_benchmark_runs(tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    program = [sys.executable, '-m', 'benchmarks.bench_loading', f'--workdir={tmp_path}', '--ch=1', '--repeats=1']
    result = subprocess.run(program, cwd=repository, stdout=subprocess.PIPE)
    found = json.loads(result.stdout)
    assert found['generator_bytes'] > 0 and found['seconds']['load warm'] > 0
    fast = min(found['share_of_reading_speed'].values()) >= found['speed_limit']
    assert result.returncode == (0 if found['peak_ratio'] < found['limit'] and fast else 3)
    assert not list(tmp_path.iterdir())
