"""Three steps as the official program runs them: `u` left to its power iterations, each update from its own batch."""

from __future__ import annotations

import functools
import pathlib

import numpy as np
import pytest

from tests import tolerances
from tests.training import comparison
from tests.training.comparison import Wanted
from tests.training.golden_runs import STEPS, Case, Run, has_true_gradient_zero, run_natural
from tests.training.test_golden_updates import weight_tolerance


@functools.cache
def _case(golden: pathlib.Path, name: str) -> Case:
    return Case(golden, name)


@functools.cache
def _run(golden: pathlib.Path, name: str, draw: int = 0) -> Run:
    return run_natural(_case(golden, name), draw)


@functools.cache
def _equal_run(golden: pathlib.Path, name: str) -> Run:
    case = _case(golden, name)
    wanted = [_losses(case), _vectors(case), _fakes(case), _weights(case)]
    runs = {f'input noise {draw}': functools.partial(_run, golden, name, draw) for draw in tolerances.KINK_DRAWS}
    return comparison.equal_run(name, runs, wanted)


@pytest.fixture(params=['natural_lsgan_light_b1', pytest.param('natural_wgan-gp_light_b1', marks=pytest.mark.slow)])
def case(request: pytest.FixtureRequest, golden: pathlib.Path) -> Case:
    return _case(golden, request.param)


def _losses(case: Case) -> Wanted:
    values = {}
    for record in case.json['records']:
        for run in ('D_run', 'G_run'):
            values.update({(f'step{record["step"]}_{run}', name): value for name, value in record[run].items()})
    assert len(values) == STEPS * 14
    allowed = {
        key: max(tolerances.TRAINING_LOSS * abs(value), tolerances.TRAINING_LOSS_ABSOLUTE)
        for key, value in values.items()
    }
    return Wanted('natural losses', 'losses', values, allowed)


def _vectors(case: Case) -> Wanted:
    values = {}
    for number in range(2 * STEPS):
        values.update({(f'run{number}', name): u for name, u in case.under(f'u/after_run{number}/').items()})
    assert len(values) == 2 * STEPS * 20
    return Wanted('u', 'weights', values, dict.fromkeys(values, tolerances.TRAINING_SINGULAR_VECTOR))


def _fakes(case: Case) -> Wanted:
    values = {(f'fakes{k}', letter): case.arrays[f'fake_{letter}/step{k}'] for k in range(STEPS) for letter in 'AB'}
    return Wanted('fakes', 'losses', values, dict.fromkeys(values, tolerances.TRAINING_FAKE))


def _weights(case: Case) -> Wanted:
    """Sensitivities were recorded for the other protocol; they hold for the same weights and loss."""
    moved = Case(case.golden, case.name[len('natural_') :]).sensitivity['w_after3_max_abs_diff']
    recorded = case.under('w/after3/')
    values = {('after3', name): w for name, w in recorded.items() if not has_true_gradient_zero(name)}
    allowed = {key: weight_tolerance(w, case.json['lr'], moved[key[1]]) for key, w in values.items()}
    return Wanted('natural weights', 'weights', values, allowed)


def test_losses_of_the_first_step(case: Case) -> None:
    """It continues an official checkpoint, slots and beta powers restored: the undisturbed run alone is asked."""
    wanted = _losses(case)
    first = {key: value for key, value in wanted.values.items() if key[0].startswith('step0')}
    wanted = wanted._replace(kind='natural losses, first step', values=first)
    comparison.check(wanted, _run(case.golden, case.name).losses)


def test_losses_of_every_run(case: Case) -> None:
    comparison.check(_losses(case), _equal_run(case.golden, case.name).losses)


def test_power_iterations_advance_once_an_update(case: Case) -> None:
    """Discriminators' and generators' updates alike."""
    comparison.check(_vectors(case), _equal_run(case.golden, case.name).weights)


def test_fakes_of_every_generator_run(case: Case) -> None:
    comparison.check(_fakes(case), _equal_run(case.golden, case.name).losses)


def test_weights_after_three_steps(case: Case) -> None:
    comparison.check(_weights(case), _equal_run(case.golden, case.name).weights)


def test_beta_powers_after_three_steps(case: Case) -> None:
    got = _equal_run(case.golden, case.name).slots
    recorded = case.under('slot/after3/')
    assert len(recorded) == 4
    for name, value in recorded.items():
        assert np.array_equal(got['after3', name], value)
