"""The benchmark runs, counts what the network computes, and knows machines by their matrix product, not by seconds."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from benchmarks import bench_inference as bench
from benchmarks import roofline, timing
from ugatit.nn.architecture import Architecture


@pytest.mark.slow
def test_the_benchmark_runs(tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    words = ['--small', f'--json={tmp_path / "found.json"}', f'--workdir={tmp_path}', '--device=cpu']
    program = [sys.executable, '-m', 'benchmarks.bench_inference', *words]
    done = subprocess.run(program, cwd=repository, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / 'found.json').read_text())
    refused = len(found['refused'])
    assert len(found['cases']) == (len(bench.PRECISIONS) - refused) * (2 * 2 + 1)  # models x batches, one more size
    assert all(row['gflop_per_picture'] > 0 and row['fraction_of_limit'] > 0 for row in found['cases'].values())
    assert found['matmul_gflop_per_second'] > 0 and found['read_gb_per_second'] > 0
    assert [path.name for path in tmp_path.iterdir()] == ['found.json']


def test_a_picture_costs_what_its_convolutions_multiply() -> None:
    """At 256 pixels and ch 64 a 3x3 convolution at 64 x 64 with 256 channels takes 4.83 GFLOP, sixteen of them 77.3."""
    architecture = Architecture(light=True)
    one = bench.convolution_gflop(Architecture(light=True, n_res=1), 256)
    assert bench.convolution_gflop(architecture, 256) - one == pytest.approx(12 * 4.8318, rel=1e-4)
    assert bench.convolution_gflop(architecture, 256) == pytest.approx(105.0, rel=1e-3)
    assert bench.convolution_gflop(architecture, 512) == pytest.approx(4 * 105.0, rel=1e-3)


def test_a_full_model_also_reads_its_weights() -> None:
    """linear_0 at 256 pixels: 64 * 64 * 256 * 256 float32 values, 1.07 GB; at 10 GB/s a tenth of a second."""
    light, full = (bench.limit_gflop(Architecture(light=light), 256, 1, 500.0, 10.0) for light in (True, False))
    assert full - light == pytest.approx(1.0737 / 10.0 * 500.0, rel=1e-4)


def test_the_cost_of_a_matrix_product_is_its_own_size() -> None:
    """Whatever the machine does meanwhile: a run that multiplies the same matrices costs what it computes."""
    found = timing.costs({'product': roofline.matmul(512)}, rounds=9, size=512)
    assert sorted(found.gflop['product'])[4] == pytest.approx(roofline.matmul_flops(512) / 1e9, rel=0.5)


def test_ratios_are_taken_within_a_round() -> None:
    """A machine that is twice as slow in one round does not move them."""
    slow = (1.0, 2.0, 9.0)
    seconds = {'plain': [1.0 * s for s in slow], 'other': [1.5 * s for s in slow]}
    assert timing.ratios(seconds, 'plain') == {'plain': [1.0] * 3, 'other': [1.5] * 3}
    assert timing.medians(seconds)['plain'] == 2.0


def test_every_run_takes_its_turn_in_every_round() -> None:
    calls = []
    runs = {name: (lambda name=name: calls.append(name)) for name in 'ab'}
    found = timing.interleaved(runs, rounds=2, warm=1)
    assert calls == ['a', 'b', 'a', 'b', 'b', 'a'] and [len(times) for times in found.values()] == [2, 2]
