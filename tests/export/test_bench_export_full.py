"""The benchmark of full-size exports runs; its figures mean something at full size only."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads the peak memory with os.wait4')
def test_the_benchmark_runs(tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    program = [sys.executable, '-m', 'benchmarks.bench_export_full', f'--workdir={tmp_path}', '--ch=1',
               '--image_size=16', '--files', 'frozen_graph float32']  # fmt: skip
    result = subprocess.run(program, cwd=repository, stdout=subprocess.PIPE, check=True)
    exported, translated = map(json.loads, result.stdout.splitlines())
    assert (exported['command'], translated['command']) == ('export', 'infer')
    for row in (exported, translated):
        assert row['exit_code'] == 0 and row['seconds'] > 0 and row['peak_bytes'] > row['bytes'] > 0
    assert not list(tmp_path.iterdir())
