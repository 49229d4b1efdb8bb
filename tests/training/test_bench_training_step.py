"""The benchmark runs; its figures mean something at a real size only."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from tests.training.tiny import TINY


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads the peak memory from /proc/self/status')
def test_the_benchmark_runs(repository: pathlib.Path) -> None:
    sizes = [f'--{name}={getattr(TINY, name)}' for name in ('image_size', 'ch', 'n_res', 'n_dis')]
    program = [sys.executable, '-m', 'benchmarks.bench_training_step', *sizes, '--repeats=1']
    program += ['--kinds=fused,straightforward']  # each kind is traced twice, which takes longest
    result = subprocess.run(program, cwd=repository, stdout=subprocess.PIPE)
    found = json.loads(result.stdout)
    kinds = {'fused', 'straightforward'}
    for measure in ('seconds', 'gflop', 'cpu_seconds', 'peak_bytes', 'process_peak_bytes'):
        assert set(found[measure]) == kinds and min(found[measure].values()) > 0, measure
    assert result.returncode == (0 if found['straightforward_over_fused'] >= 1.0 else 3)
