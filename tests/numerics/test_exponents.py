from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.numerics import reference
from ugatit.numerics import (
    floor_log2,
    floor_log2_numpy,
    pow2,
    power_of_two_near,
    power_of_two_near_bits,
    scale_by_pow2,
    scale_by_pow2_numpy,
)

VALUES = np.concatenate(
    [
        reference.powers_and_neighbours(),
        np.float32([1.2345678, -271823.0, 65504.0, 1 / 3, np.inf, -np.inf, np.nan]),
    ]
)


def test_pow2_is_exact():
    e = np.arange(-126, 128)
    expected = np.ldexp(1.0, e).astype(np.float32)
    assert reference.same_bits(pow2(tf.constant(e)).numpy(), expected)
    assert reference.same_bits(tf.function(lambda: pow2(tf.constant(e)), autograph=False)().numpy(), expected)


def test_pow2_out_of_range():
    assert pow2(tf.constant([-1000, -149, -127, 128, 1000])).numpy().tolist() == [0.0, 0.0, 0.0, np.inf, np.inf]


@pytest.mark.parametrize('known', [True, False], ids=['known', 'live'])
def test_scale_by_every_exponent(known):
    """-149..127 and far beyond; a live exponent takes another path than a known one and must give the same bits."""
    x = tf.constant(VALUES)
    live = tf.function(scale_by_pow2, autograph=False)
    for e in range(-310, 311, 1 if not known else 7):
        scaled = scale_by_pow2(x, e) if known else live(x, tf.constant(e))
        expected = reference.scale_by_pow2(VALUES, e)
        if e == 0:  # the optimiser may drop a multiplication by one, and keep the subnormals with it
            expected, scaled = expected[np.abs(VALUES) >= reference.TINY], scaled[tf.abs(x) >= reference.TINY]
        assert reference.same_bits(scaled.numpy(), expected), e


def test_scale_by_constants_in_a_graph():
    """Folded or merged constant factors would overflow where the result does not."""
    for e in (-252, -200, -127, 128, 200, 252):
        x = np.float32([1.5 * 2.0 ** (-e // 2), -1.25 * 2.0 ** min(127, max(-126, -e))])
        folded = _scaled_constant(x, e).numpy()
        assert np.all(folded != 0) and reference.same_bits(folded, reference.scale_by_pow2(x, e))


def _scaled_constant(x, e):
    return tf.function(lambda: scale_by_pow2(tf.constant(x), e), autograph=False)()


def test_scale_round_trip_is_the_identity():
    x = np.random.standard_normal(1000).astype(np.float32)
    for e in (-60, -1, 3, 17, 90):
        assert reference.same_bits(scale_by_pow2(scale_by_pow2(tf.constant(x), e), -e).numpy(), x)


def test_scale_broadcasts_a_variable_exponent_and_passes_gradients():
    x, e = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([[-1], [2]])

    @tf.function(autograph=False)
    def run():
        with tf.GradientTape() as tape:
            y = scale_by_pow2(x, e)
        return y, tape.gradient(y, x, output_gradients=tf.constant([[1.0, 0.1], [3.0, -5.0]]))

    y, gradient = run()
    assert y.numpy().tolist() == [[0.5, 1.0], [12.0, 16.0]]
    assert np.array_equal(gradient.numpy(), np.float32([[0.5, np.float32(0.1) / 2], [12.0, -20.0]]))
    e.assign([[0], [200]])  # no retracing
    assert run()[0].numpy().tolist() == [[1.0, 2.0], [np.inf, np.inf]]


def test_scale_twin():
    for e in (-300, -253, -127, -20, 1, 30, 128, 254, 300):
        assert reference.same_bits(scale_by_pow2_numpy(VALUES, e), reference.scale_by_pow2(VALUES, e)), e


def test_floor_log2():
    expected = np.int32([reference.floor_log2(float(value)) for value in VALUES])
    assert expected.min() == -150 and expected.max() == 128
    for run in (floor_log2, tf.function(floor_log2, autograph=False)):
        assert np.array_equal(run(tf.constant(VALUES)).numpy(), expected)
    assert np.array_equal(floor_log2_numpy(VALUES), expected)


def test_power_of_two_near():
    bits = power_of_two_near_bits(tf.constant(VALUES)).numpy()
    assert reference.same_bits(power_of_two_near(tf.constant(VALUES)).numpy(), bits)
    normal = np.isfinite(VALUES) & (np.abs(VALUES) >= reference.TINY)
    ratio = np.abs(VALUES[normal].astype(np.float64)) / bits[normal]
    assert np.all((ratio >= 1) & (ratio < 2)) and np.all(np.frexp(bits)[0] == 0.5)
    # Zero, a subnormal and NaN have nothing to scale; infinity is as large as it gets.
    special = power_of_two_near(tf.constant([0.0, -0.0, 2.0**-140, np.nan, np.inf])).numpy()
    assert special.tolist() == [1.0, 1.0, 1.0, 1.0, 2.0**127]


def test_power_of_two_near_keeps_within_its_limits():
    x = tf.constant([2.0**-24, 2.0**-14, 3.0, 65504.0, 1e6, 0.0])
    expected = [2.0**-14, 2.0**-14, 2.0, 2.0**15, 2.0**15, 1.0]
    assert power_of_two_near(x, low=-14, high=15).numpy().tolist() == expected
    assert power_of_two_near_bits(x, low=-14, high=15).numpy().tolist() == expected


def test_power_of_two_near_exports():
    graph = tf.function(power_of_two_near, autograph=False).get_concrete_function(tf.TensorSpec([2, 1, 1, 4])).graph
    types = {op.type for op in graph.get_operations()}
    assert 'GreaterEqual' in types and not types & {'Bitcast', 'BitwiseAnd', 'RightShift', 'LeftShift'}
