"""Updates by the identities of `ugatit.nn.algebra`: the official code's numbers, and who trains with them."""

from __future__ import annotations

import dataclasses
import pathlib
import signal
from typing import Any, Callable, Iterator, List

import numpy as np
import pytest

from tests import tolerances
from tests.training import comparison
from tests.training.golden_runs import Case, Run, has_true_gradient_zero, run_converged
from tests.training.tiny_run import CPU, make_settings, run, stored, write_pictures
from ugatit.errors import UserError
from ugatit.nn import norm
from ugatit.nn.algebra import LEAST_CH, trained
from ugatit.runners import Runner
from ugatit.training import start
from ugatit.training.settings import NumericsSettings


@pytest.fixture(autouse=True)
def used(monkeypatch: pytest.MonkeyPatch) -> Iterator[List[str]]:
    """Which identities were used."""
    names: List[str] = []
    monkeypatch.setattr(trained, 'convolve', _noted(names, 'convolve', trained.convolve))
    monkeypatch.setattr(norm, 'standardized', _noted(names, 'standardized', norm.standardized))
    yield names


def _noted(names: List[str], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def noting(*args: Any) -> Any:
        names.append(name)
        return function(*args)

    return noting


@pytest.mark.parametrize('name', ['lsgan_light_b1', 'wgan-gp_light_b1'])  # the second differentiates gradients again
def test_first_losses_and_gradients_are_those_of_the_official_code(
    name: str, golden: pathlib.Path, used: List[str]
) -> None:
    case = Case(golden, name)
    ours = run_converged(case, algebra=True)
    assert set(used) == {'convolve', 'standardized'}
    for record in case.json['records'][:2]:
        point, found = record['at'], {key[1]: value for key, value in ours.all_losses.items() if key[0] == record['at']}
        assert len(found) >= 16
        for loss, value in record['losses'].items():
            assert abs(found[loss] - value) <= max(
                tolerances.TRAINING_LOSS * abs(value), tolerances.TRAINING_LOSS_ABSOLUTE
            ), (point, loss)
    for letter, scope in (('D', 'discriminator'), ('G', 'generator')):
        _check_gradients(case, ours, f'step0_before{letter}', scope)


def _check_gradients(case: Case, ours: Run, point: str, scope: str) -> None:
    recorded = {n: g for n, g in case.under(f'grad/{point}/').items() if n.startswith(scope)}
    compared = {n: g for n, g in recorded.items() if not has_true_gradient_zero(n)}
    assert compared
    for variable, expected in compared.items():
        off = comparison.norm_of_difference(ours.gradients[point, variable], expected)
        assert off <= tolerances.TRAINING_GRADIENT * np.linalg.norm(expected), variable


@pytest.mark.parametrize(
    ('ch', 'wanted', 'runner', 'uses'),
    [
        (LEAST_CH, 'auto', CPU, True),
        (LEAST_CH // 2, 'auto', CPU, False),
        (LEAST_CH, 'plain', CPU, False),
        (LEAST_CH, 'auto', Runner('gpu', '/CPU:0', 'gpu', True), False),
        (LEAST_CH, 'auto', Runner('cpu', '/CPU:0', 'cpu', False, xla=True), False),
    ],
)
def test_who_trains_with_them(tmp_path: pathlib.Path, ch: int, wanted: str, runner: Runner, uses: bool) -> None:
    settings = make_settings({'ch': ch}, algebra=wanted)
    training = start.make_training(settings, start.Start(tmp_path, 0, None), runner)
    networks = training.networks
    assert [network.build.algebra for network in networks.generators + networks.discriminators] == [uses] * 4


def test_emulated_float16_trains_without_them(tmp_path: pathlib.Path) -> None:
    settings = dataclasses.replace(make_settings({'ch': LEAST_CH}), numerics=NumericsSettings('mixed_float16'))
    training = start.make_training(settings, start.Start(tmp_path, 0, None), CPU)
    assert not training.networks.generator_b.build.algebra


@pytest.mark.slow
def test_a_run_that_was_stopped_continues_with_the_same_bits(tmp_path: pathlib.Path) -> None:
    data = write_pictures(tmp_path / 'tiny')
    settings = make_settings({'ch': LEAST_CH}, epochs=2)

    def stop(step: int) -> None:
        if step == 2:
            signal.raise_signal(signal.SIGTERM)

    assert run(settings, data, tmp_path / 'whole') == 0
    assert run(settings, data, tmp_path / 'parts', stop) == 128 + signal.SIGTERM
    assert run(settings, data, tmp_path / 'parts') == 0
    assert stored(tmp_path / 'whole') == stored(tmp_path / 'parts')


def test_an_unknown_algebra_is_refused() -> None:
    with pytest.raises(UserError, match="training.algebra must be one of auto, plain, but 'fast' arrived"):
        make_settings(algebra='fast')
