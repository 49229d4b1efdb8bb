"""Three steps as the official program runs them: `u` left to its power iterations, each update from its own batch."""

from __future__ import annotations

import functools
import pathlib

import numpy as np
import pytest

from tests import tolerances
from tests.training import comparison
from tests.training.golden_runs import STEPS, Case, Run, has_true_gradient_zero, run_natural
from tests.training.test_golden_updates import weight_tolerance


@functools.cache
def _case(golden: pathlib.Path, name: str) -> Case:
    return Case(golden, name)


@functools.cache
def _run(golden: pathlib.Path, name: str, moved_by: int = 0) -> Run:
    return run_natural(_case(golden, name), moved_by)


@pytest.fixture(params=['natural_lsgan_light_b1', pytest.param('natural_wgan-gp_light_b1', marks=pytest.mark.slow)])
def case(request: pytest.FixtureRequest, golden: pathlib.Path) -> Case:
    return _case(golden, request.param)


def _rerun(case: Case, kind: str):
    return lambda seed: getattr(_run(case.golden, case.name, seed), kind)


def test_losses_of_every_run(case: Case) -> None:
    """The first step continues an official checkpoint, slots and beta powers restored: nothing is excused there."""
    want = {}
    for record in case.json['records']:
        for run in ('D_run', 'G_run'):
            want.update({(f'step{record["step"]}_{run}', name): value for name, value in record[run].items()})
    assert len(want) == STEPS * 14
    allowed = {
        key: max(tolerances.TRAINING_LOSS * abs(value), tolerances.TRAINING_LOSS_ABSOLUTE)
        for key, value in want.items()
    }
    got = _run(case.golden, case.name).losses
    first = {key: value for key, value in want.items() if key[0].startswith('step0')}
    comparison.check('natural losses, first step', got, first, allowed, comparison.no_rerun)
    comparison.check('natural losses', got, want, allowed, _rerun(case, 'losses'))


def test_power_iterations_advance_once_an_update(case: Case) -> None:
    """Discriminators' and generators' updates alike."""
    want = {}
    for number in range(2 * STEPS):
        want.update({(f'run{number}', name): u for name, u in case.under(f'u/after_run{number}/').items()})
    assert len(want) == 2 * STEPS * 20
    allowed = dict.fromkeys(want, tolerances.TRAINING_SINGULAR_VECTOR)
    comparison.check('u', _run(case.golden, case.name).weights, want, allowed, _rerun(case, 'weights'))


def test_fakes_of_every_generator_run(case: Case) -> None:
    want = {(f'fakes{k}', letter): case.arrays[f'fake_{letter}/step{k}'] for k in range(STEPS) for letter in 'AB'}
    allowed = dict.fromkeys(want, tolerances.TRAINING_FAKE)
    comparison.check('fakes', _run(case.golden, case.name).losses, want, allowed, _rerun(case, 'losses'))


def test_weights_after_three_steps(case: Case) -> None:
    """Sensitivities were recorded for the other protocol; they hold for the same weights and loss."""
    moved = Case(case.golden, case.name[len('natural_') :]).sensitivity['w_after3_max_abs_diff']
    recorded = case.under('w/after3/')
    want = {('after3', name): w for name, w in recorded.items() if not has_true_gradient_zero(name)}
    allowed = {key: weight_tolerance(w, case.json['lr'], moved[key[1]]) for key, w in want.items()}
    comparison.check('natural weights', _run(case.golden, case.name).weights, want, allowed, _rerun(case, 'weights'))


def test_beta_powers_after_three_steps(case: Case) -> None:
    got = _run(case.golden, case.name).slots
    recorded = case.under('slot/after3/')
    assert len(recorded) == 4
    for name, value in recorded.items():
        assert np.array_equal(got['after3', name], value)
