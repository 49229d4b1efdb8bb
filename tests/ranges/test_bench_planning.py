"""The planning benchmark runs, on a network so small that only its form is judged."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_it_measures_and_says_so(repository: pathlib.Path) -> None:
    command = [sys.executable, '-m', 'benchmarks.bench_planning', '--small']
    done = subprocess.run(command, capture_output=True, text=True, cwd=repository)
    found = json.loads(done.stdout)
    low, high = found['ratio_quartiles']
    assert 0 < low <= found['ratio_median'] <= high
    assert done.returncode == (3 if found['ratio_median'] > 1.02 else 0)
