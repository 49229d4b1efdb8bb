"""The benchmark's arithmetic, on runs that were made up: it trains nothing that is in its folder already."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Dict

import numpy as np
import pytest

from benchmarks import bench_float16_training as bench

STEPS = 40
OPTIONS = {'checkpoint': 'none', 'images': 'none', 'stress': False, 'steps': STEPS, 'size': 32, 'seed': 0}


def _write(folder: pathlib.Path, planned: float) -> None:
    """Runs whose losses lie this share above the reference's, and whose pictures are as far away."""
    for name, distance in {'float32': 0.0, 'noise_1': 0.01, 'noise_2': -0.03, 'planned': planned, 'plain': 0.5}.items():
        run: Dict[str, np.ndarray] = {term: np.full(STEPS, 2.0 * (1.0 + distance)) for term in bench.TERMS}
        run['pictures'] = np.full([2, 4, 4, 3], distance)
        if name in ('planned', 'plain'):
            run['loss_scale_generators'] = np.full(STEPS, 256.0)
            run['exponent_generator_B'] = np.full(STEPS, 3.0)
        np.savez(folder / f'{name}.npz', **run)
        scale = {} if name in ('float32', 'noise_1', 'noise_2') else {'loss_scale': 1024.0}
        (folder / f'{name}.json').write_text(json.dumps({**OPTIONS, **scale}))


@pytest.mark.parametrize(('planned', 'code'), [(0.025, 0), (0.04, 3)])
def test_distances_and_the_limit(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, planned: float, code: int
) -> None:
    _write(tmp_path, planned)
    words = ['bench', '--checkpoint=none', '--images=none', f'--output={tmp_path}', f'--steps={STEPS}']
    monkeypatch.setattr(sys, 'argv', words)
    assert bench.main() == code
    results = json.loads((tmp_path / 'results.json').read_text())
    assert results['chaos'] == pytest.approx({'losses': 0.02, 'pictures': 0.02})
    assert results['planned_over_chaos']['losses'] == pytest.approx(planned / 0.02)
    assert results['plain_over_chaos']['pictures'] == pytest.approx(25.0)
    assert results['numerics_at_the_end']['planned']['exponent_generator_B'] == 3.0
    assert (tmp_path / 'training.svg').read_text().startswith('<?xml')


def test_runs_of_other_options_are_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, 0.02)
    words = ['bench', '--checkpoint=none', '--images=none', f'--output={tmp_path}', f'--steps={STEPS}']
    monkeypatch.setattr(sys, 'argv', [*words, '--loss_scale=2'])
    with pytest.raises(
        SystemExit, match=r'planned.npz was made with other options \(--loss_scale was 1024.0, now 2.0\)'
    ):
        bench.main()
    (tmp_path / 'float32.json').unlink()  # of an earlier version: nobody knows
    monkeypatch.setattr(sys, 'argv', words)
    with pytest.raises(SystemExit, match='float32.npz was made with other options'):
        bench.main()
