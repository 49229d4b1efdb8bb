"""`ugatit.load(..., algebra=...)`: who gets the identities, who gets the plain network, and that nobody gets less."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import ugatit
import ugatit.translate as module
from tests import tolerances
from tests.nn.weights import deviation
from ugatit.nn.algebra import LEAST_CH
from ugatit.numerics import psnr
from ugatit.runners import Runner, bfloat16

SIZE = 32


@pytest.fixture(autouse=True)
def _small_networks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, 'LEAST_CH', 1)


def _images(count: int = 2) -> np.ndarray:
    return np.random.RandomState(0).uniform(-1, 1, (count, SIZE, SIZE, 3)).astype(np.float32)


def _products(**settings) -> object:
    return module.load_untrained(image_size=SIZE, device='cpu', **settings)._products


def test_both_algebras_give_one_picture_and_the_tensors_in_between_are_the_plain_ones() -> None:
    fast, plain = (ugatit.load(device='cpu', algebra=algebra) for algebra in module.ALGEBRAS)
    found, wanted = fast(_images()), plain(_images())
    for name, value in found._asdict().items():
        assert value.dtype == np.float32
        assert deviation(value, getattr(wanted, name)) <= tolerances.NETWORK_FLOAT32
    assert not np.array_equal(found.image, wanted.image)  # they are two programs
    eager = [np.asarray(t.generator(tf.constant(_images())).image) for t in (fast, plain)]
    assert np.array_equal(*eager)


def test_a_plan_changes_no_bit() -> None:
    translate = ugatit.load(device='cpu')
    assert translate._products == tf.float32
    exponents = {group: 3 + i % 5 for i, group in enumerate(translate.generator.registry.members)}
    planned = ugatit.load(device='cpu', ranges=ugatit.RangePlan({'generator_B': exponents}))
    assert planned._products == tf.float32
    for found, wanted in zip(planned(_images()), translate(_images())):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    'settings',
    [
        {'precision': 'mixed_float16'},
        {'precision': 'float16', 'overflow': 'saturate'},
        {'precision': 'float16_operands'},
        {'variants': 'prescaled'},
        {'variants': 'float32_statistics'},
        {'variants': 'batch_swap'},
    ],
)
def test_what_asks_for_other_arithmetic_or_layers_gets_the_plain_network(settings: dict) -> None:
    assert _products() == tf.float32
    assert _products(**settings) is None


def test_a_small_network_for_which_the_identities_do_not_pay_gets_the_plain_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, 'LEAST_CH', LEAST_CH)
    assert module.UNTRAINED.ch < LEAST_CH
    assert _products() is None


def test_other_devices_get_the_plain_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the identities pay there was not measured."""
    runner = Runner('gpu', '/CPU:0', 'a stand-in', native_float16=False)
    monkeypatch.setattr(module, 'open_runner', lambda name, *more: runner)
    assert _products() is None


@pytest.mark.parametrize('there', [False, True])
def test_bfloat16_is_the_cpus_own_where_it_has_one_and_right_everywhere(
    there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if there and not bfloat16.cpu_has_bfloat16():
        pytest.skip('this CPU or this TensorFlow has no bfloat16')
    monkeypatch.setattr(module, 'cpu_has_bfloat16', lambda: there)
    translate = ugatit.load(device='cpu', precision='mixed_bfloat16')
    assert translate._products == (tf.bfloat16 if there else None)
    found, wanted = translate(_images()), ugatit.load(device='cpu')(_images())
    assert [value.shape for value in found] == [value.shape for value in wanted]
    assert psnr(found.image, wanted.image, peak=2.0) >= tolerances.BFLOAT16_DB


def test_an_old_tensorflow_has_no_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf, '__version__', '2.6.5')
    assert not bfloat16.cpu_has_bfloat16()


def test_an_unknown_algebra_is_named() -> None:
    with pytest.raises(ugatit.UserError, match="one of auto, plain, but 'fast' arrived"):
        ugatit.load(algebra='fast')
