"""A kernel kept in float16 gives the emulated product, and is used only where weights change no more."""

from __future__ import annotations

from typing import Any, List

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from ugatit.nn import half_kernel, layers
from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.call import FROZEN_CALL, PLAIN_CALL, Call
from ugatit.nn.generator import Generator
from ugatit.nn.half_kernel import HalfKernel, worth_keeping
from ugatit.nn.policy import make_policy


def _operands(rows: int) -> Any:
    kernel = np.random.RandomState(0).normal(0.0, 0.02, [rows, 8]).astype(np.float32)
    x = np.random.RandomState(1).normal(0.0, 1.0, [3, rows]).astype(np.float16).astype(np.float32)
    return kernel, x


@pytest.mark.parametrize('rows', [64, 100, 37])
@pytest.mark.parametrize('overflow', ['ieee', 'saturate'])
def test_the_product_of_the_rounded_kernel(monkeypatch: pytest.MonkeyPatch, rows: int, overflow: str) -> None:
    """Against float64: only the order of float32 additions is its own."""
    monkeypatch.setattr(half_kernel, 'ROWS', 32)
    kernel, x = _operands(rows)
    product = tf.function(HalfKernel(tf.constant(kernel), make_policy('mixed_float16', overflow)))
    exact = x.astype(np.float64) @ kernel.astype(np.float16).astype(np.float64)
    error = np.abs(product(tf.constant(x)).numpy() - exact).max()
    assert error <= tolerances.HALF_KERNEL * (np.abs(x) @ np.abs(kernel)).max()
    assert np.abs(x.astype(np.float64) @ kernel.astype(np.float64) - exact).max() > 10 * error


def test_values_beyond_float16_overflow_as_the_policy_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half_kernel, 'ROWS', 4)
    kernel, x = tf.constant([[1e5], [1.0]]), tf.ones([1, 2])
    found = [float(HalfKernel(kernel, make_policy('float16', mode))(x)[0, 0]) for mode in ('ieee', 'saturate')]
    assert found == [float('inf'), 65505.0]


def test_only_large_kernels_of_emulated_float16() -> None:
    large, small = (tf.TensorSpec([1 << 10, columns]) for columns in (1 << 14, 1))
    assert worth_keeping(large, make_policy('mixed_float16')) and not worth_keeping(small, make_policy('mixed_float16'))
    for other in (make_policy(), make_policy('mixed_bfloat16'), make_policy('mixed_float16', native=True)):
        assert not worth_keeping(large, other)


def test_a_network_uses_it_for_frozen_calls_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: List[Any] = []
    monkeypatch.setattr(half_kernel, 'LARGE', 256 * 16)
    monkeypatch.setattr(layers, 'HalfKernel', lambda *words: made.append(words[0].shape) or HalfKernel(*words))
    architecture = Architecture(image_size=16, ch=4, n_res=1)
    generator = Generator(architecture, 'generator_B', Build(make_policy('mixed_float16')))
    images = tf.random.stateless_uniform([2, 16, 16, 3], [1, 2], -1.0, 1.0)
    images = {call: tf.function(lambda x, call=call: generator(x, call).image)(images).numpy()
              for call in (PLAIN_CALL, Call(), FROZEN_CALL, FROZEN_CALL)}  # fmt: skip
    assert made == [[256, 16]], 'linear_0 alone, once'
    assert np.abs(images[FROZEN_CALL] - images[PLAIN_CALL]).max() <= tolerances.HALF_KERNEL_IMAGE
