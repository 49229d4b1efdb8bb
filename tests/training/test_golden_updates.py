"""Losses, gradients, weights and slots of the official code, all six GAN losses, light and full, batch 1 and 2."""

from __future__ import annotations

import functools
import pathlib
from typing import Dict

import numpy as np
import pytest

from tests import tolerances
from tests.training import comparison
from tests.training.golden_runs import Case, Run, has_true_gradient_zero, run_converged

QUICK = ['lsgan_light_b1', 'wgan-gp_light_b1']
SLOW = ['dragan_light_b1', 'gan_light_b1', 'hinge_light_b1', 'lsgan_full_b1', 'lsgan_light_b2', 'wgan-lp_light_b1']
CASES = QUICK + [pytest.param(name, marks=pytest.mark.slow) for name in SLOW]


@functools.cache
def _case(golden: pathlib.Path, name: str) -> Case:
    return Case(golden, name)


@functools.cache
def _run(golden: pathlib.Path, name: str, moved_by: int = 0) -> Run:
    return run_converged(_case(golden, name), moved_by)


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, golden: pathlib.Path) -> Case:
    return _case(golden, request.param)


def _want_losses(case: Case, points: set) -> Dict[tuple, float]:
    records = {record['at']: record['losses'] for record in case.json['records']}
    return {(point, name): value for point in points for name, value in records[point].items()}


def _loss_tolerance(case: Case, name: str, value: float) -> float:
    relative = max(
        tolerances.TRAINING_LOSS, tolerances.SENSITIVITY_FACTOR * case.sensitivity['loss_relative'].get(name, 0.0)
    )
    return max(relative * abs(value), tolerances.TRAINING_LOSS_ABSOLUTE)


def test_all_named_losses_before_any_update(case: Case) -> None:
    """All 16 of them at both points of the first step, also those that this update does not use."""
    run = _run(case.golden, case.name)
    want = _want_losses(case, {'step0_beforeD'})
    assert len(want) == 16
    allowed = {key: _loss_tolerance(case, key[1], value) for key, value in want.items()}
    comparison.check('losses before any update', run.losses, want, allowed, comparison.no_rerun)


def test_named_losses_of_three_steps(case: Case) -> None:
    run = _run(case.golden, case.name)
    points = {record['at'] for record in case.json['records']}
    assert len(points) == 6
    want = {key: value for key, value in _want_losses(case, points).items() if key in run.losses}
    assert len(want) >= 3 * 14
    allowed = {key: _loss_tolerance(case, key[1], value) for key, value in want.items()}
    comparison.check('losses', run.losses, want, allowed, lambda seed: _run(case.golden, case.name, seed).losses)


@pytest.mark.parametrize('letter', ['D', 'G'])
def test_first_gradients(case: Case, letter: str) -> None:
    point = f'step0_before{letter}'
    scope = {'D': 'discriminator', 'G': 'generator'}[letter]
    recorded = {name: g for name, g in case.under(f'grad/{point}/').items() if name.startswith(scope)}
    want = {(point, name): g for name, g in recorded.items() if not has_true_gradient_zero(name)}
    allowed = {key: tolerances.TRAINING_GRADIENT * np.linalg.norm(g) for key, g in want.items()}
    got = _run(case.golden, case.name).gradients
    measure = comparison.norm_of_difference
    comparison.check(f'gradients of {letter}', got, want, allowed, comparison.no_rerun, measure)


def test_norm_of_every_first_gradient(case: Case) -> None:
    """Where only a selection of gradients is recorded in full, all their norms are."""
    run = _run(case.golden, case.name)
    want, got, allowed = {}, _norms(run), {}
    for letter, scope in (('D', 'discriminator'), ('G', 'generator')):
        point = f'step0_before{letter}'
        for name, norm in case.record(point)['grad_norms'].items():
            if name.startswith(scope) and not has_true_gradient_zero(name):
                want[point, name], allowed[point, name] = norm, tolerances.TRAINING_GRADIENT * norm
    assert len(want) == len(case.json['records'][0]['grad_norms']) - 22
    comparison.check('gradient norms', got, want, allowed, comparison.no_rerun)


def _norms(run: Run) -> Dict[tuple, float]:
    return {key: np.linalg.norm(g.astype(np.float64)) for key, g in run.gradients.items()}


@pytest.mark.parametrize('steps', [1, 3])
def test_weights_after(case: Case, steps: int) -> None:
    point = f'after{steps}'
    recorded = case.under(f'w/{point}/')
    want = {(point, name): w for name, w in recorded.items() if not has_true_gradient_zero(name)}
    assert len(want) == len(recorded) - 22
    moved = case.sensitivity[f'w_{point}_max_abs_diff']
    allowed = {key: weight_tolerance(w, case.json['lr'], moved[key[1]]) for key, w in want.items()}
    rerun = comparison.no_rerun if steps == 1 else lambda seed: _run(case.golden, case.name, seed).weights
    comparison.check(f'weights {point}', _run(case.golden, case.name).weights, want, allowed, rerun)


def weight_tolerance(weight: np.ndarray, rate: float, moved: float) -> float:
    """The largest of ten times the recorded sensitivity, four ulp and a thousandth of the learning rate."""
    ulp = float(np.spacing(np.max(np.abs(weight))))
    return max(
        tolerances.SENSITIVITY_FACTOR * moved,
        tolerances.TRAINING_WEIGHT_ULP * ulp,
        tolerances.TRAINING_WEIGHT_RATE * rate,
    )


def test_slots_and_beta_powers_after_three_steps(case: Case) -> None:
    want = {('after3', name): value for name, value in case.under('slot/after3/').items()}
    assert len(want) == 10
    allowed = {key: tolerances.TRAINING_SLOT * float(np.max(np.abs(value))) for key, value in want.items()}
    got = _run(case.golden, case.name).slots
    comparison.check('slots', got, want, allowed, lambda seed: _run(case.golden, case.name, seed).slots)
    for name in ('beta1_power', 'beta2_power', 'beta1_power_1', 'beta2_power_1'):
        assert got['after3', name] == want['after3', name]
