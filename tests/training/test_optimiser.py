"""Adam against a float64 twin written from TF1's formula, and what happens around an update."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from ugatit.nn.variables import named_variable
from ugatit.training.optimiser import Adam

RATE = 1e-2


def _variables() -> dict:
    values = {'x/kernel': [[1.0, -2.0], [3.0, 0.5]], 'x/norm/rho': [0.995, 0.003], 'x/bias': [0.0, 0.0]}
    return {name: named_variable(name, tf.constant(value), True) for name, value in values.items()}


def test_five_updates_against_float64() -> None:
    variables = _variables()
    adam, kernel = Adam('generators', variables), variables['x/kernel']
    w, m, v = kernel.numpy().astype(np.float64), np.zeros([2, 2]), np.zeros([2, 2])
    draw = np.random.RandomState(3)
    for t in range(1, 6):
        g = draw.normal(size=[2, 2]) * 10.0 ** draw.uniform(-9, 3, [2, 2])  # down to where epsilon matters
        m, v = 0.5 * m + 0.5 * g, 0.999 * v + 0.001 * g**2
        w -= RATE * np.sqrt(1 - 0.999**t) / (1 - 0.5**t) * m / (np.sqrt(v) + 1e-8)
        adam.apply([tf.constant(g, tf.float32), None, None], tf.constant(RATE))
        np.testing.assert_allclose(kernel, w, rtol=tolerances.ADAM_FORMULA)
    np.testing.assert_allclose(adam.named_variables['x/kernel/Adam'], m, rtol=tolerances.ADAM_FORMULA)
    np.testing.assert_allclose(adam.named_variables['x/kernel/Adam_1'], v, rtol=tolerances.ADAM_FORMULA)


def test_rho_is_clipped_and_its_moments_are_not() -> None:
    variables = _variables()
    adam = Adam('generators', variables)
    slope = tf.constant([-1e3, 1e3])
    adam.apply([None, slope, None], tf.constant(RATE))
    assert np.array_equal(variables['x/norm/rho'], [1.0, 0.0])
    assert np.array_equal(adam.named_variables['x/norm/rho/Adam'], 0.5 * slope)


def test_a_variable_without_gradient_keeps_its_value_and_moments() -> None:
    variables = _variables()
    adam = Adam('discriminators', variables)
    before = {name: value.numpy() for name, value in {**variables, **adam.named_variables}.items()}
    adam.apply([None, tf.ones([2]), tf.ones([2])], tf.constant(RATE))
    after = {**variables, **adam.named_variables}
    for name in ('x/kernel', 'x/kernel/Adam', 'x/kernel/Adam_1'):
        assert np.array_equal(before[name], after[name])


@pytest.mark.parametrize(
    ('owner', 'powers'),
    [('generators', ('beta1_power', 'beta2_power')), ('discriminators', ('beta1_power_1', 'beta2_power_1'))],
)
def test_names_order_and_powers(owner: str, powers: tuple) -> None:
    adam = Adam(owner, _variables())
    slots = [f'x/{leaf}/{slot}' for leaf in ('kernel', 'norm/rho', 'bias') for slot in ('Adam', 'Adam_1')]
    assert list(adam.named_variables) == [*powers, *slots]
    assert [variable.name for variable in adam.named_variables.values()] == [f'{name}:0' for name in (*powers, *slots)]
    first, second = (adam.named_variables[name] for name in powers)
    assert (first.numpy(), second.numpy()) == (np.float32(0.5), np.float32(0.999))
    adam.apply([None, None, None], tf.constant(RATE))
    assert (first.numpy(), second.numpy()) == (np.float32(0.25), np.float32(0.999) * np.float32(0.999))
