"""The benchmark runs, and a comparison's memory stays small."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != 'linux', reason='the unit of the peak memory differs')
@pytest.mark.parametrize('engine', ['numpy', 'numba'])
def test_memory_does_not_grow_with_the_dump(engine: str, tmp_path: pathlib.Path) -> None:
    pytest.importorskip(engine, reason='numba is not installed: pip install "ugatit[fast]"')
    peaks = []
    for size in (0.05, 0.5):
        words = [f'--size={size}', f'--engine={engine}', f'--json={tmp_path / "bench.json"}', f'--folder={tmp_path}']
        subprocess.run([sys.executable, 'benchmarks/bench_compare.py', *words], cwd=REPOSITORY, check=True)
        peaks.append(json.loads((tmp_path / 'bench.json').read_text())['peak_mb'])
    assert peaks[1] < 400 and peaks[1] < peaks[0] + 64
