"""The benchmark runs, judges the right ratio and says so by its exit code."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks import bench_emulation as bench


@pytest.mark.slow
def test_a_small_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    monkeypatch.setattr(bench, 'POLICIES', {name: bench.POLICIES[name] for name in (bench.BASE, bench.JUDGED)})
    monkeypatch.setattr(sys, 'argv', ['bench', '--small'])
    code = bench.main()
    results = json.loads(capsys.readouterr().out)
    assert results['ratio'][bench.BASE] == 1.0 and results['seconds'][bench.JUDGED] > 0
    assert code == (0 if results['ratio'][bench.JUDGED] <= bench.LIMIT else 3)


def test_the_summary_takes_ratios_within_a_round():
    """A machine that is twice as slow in one round does not move them."""
    slow = (1.0, 2.0, 9.0)
    seconds = {name: [(1.0 if name == bench.BASE else 1.5) * s for s in slow] for name in bench.POLICIES}
    found = bench._summary(seconds)
    assert found['ratio'] == {name: 1.0 if name == bench.BASE else 1.5 for name in bench.POLICIES}
    assert found['seconds'][bench.BASE] == 2.0
