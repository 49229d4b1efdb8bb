from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.numerics import reference
from ugatit.errors import UserError
from ugatit.numerics import (
    BFLOAT16,
    FLOAT16,
    FLOAT16_UNBOUNDED,
    FLOAT32,
    OVERFLOW_MODES,
    round_both_ways,
    round_to,
    round_to_numpy,
)

FORMATS = [FLOAT16, BFLOAT16, FLOAT16_UNBOUNDED]
each_format = pytest.mark.parametrize('fmt', FORMATS, ids=lambda fmt: fmt.name)
each_overflow = pytest.mark.parametrize('overflow', OVERFLOW_MODES)


def _graph(fmt, overflow, **options):
    return tf.function(lambda x: round_to(x, fmt, overflow), autograph=False, **options)


@each_format
@each_overflow
def test_every_value_and_every_midpoint(fmt, overflow):
    x = reference.around(fmt)
    expected = reference.round_to(x, fmt, overflow)
    assert reference.same_bits(round_to(tf.constant(x), fmt, overflow).numpy(), expected)
    assert reference.same_bits(_graph(fmt, overflow)(tf.constant(x)).numpy(), expected)
    assert reference.same_bits(round_to_numpy(x, fmt, overflow), expected)


@each_format
def test_random_bit_patterns(fmt):
    x = np.random.randint(0, 2**32, 200_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    for overflow in OVERFLOW_MODES:
        expected = reference.round_to(x, fmt, overflow)
        assert reference.same_bits(round_to(tf.constant(x), fmt, overflow).numpy(), expected)
        assert reference.same_bits(round_to_numpy(x, fmt, overflow), expected)


@each_format
@each_overflow
def test_idempotent(fmt, overflow):
    once = reference.round_to(reference.around(fmt), fmt, overflow)
    assert reference.same_bits(round_to(tf.constant(once), fmt, overflow).numpy(), once)


@pytest.mark.parametrize(
    'value, ieee, saturated',
    [
        (65504.0, 65504.0, 65504.0),
        (65519.996, 65504.0, 65504.0),
        (65520.0, np.inf, 65504.0),  # the tie to a power of two that is not there
        (-271823.0, -np.inf, -65504.0),
        (np.inf, np.inf, 65504.0),
        (-np.inf, -np.inf, -65504.0),
        (np.nan, np.nan, 0.0),
        (2.0**-24, 2.0**-24, 2.0**-24),
        (2.0**-25, 0.0, 0.0),
        (-(2.0**-25), -0.0, -0.0),
        (1.0 + 2.0**-11, 1.0, 1.0),
        (1.0 + 3 * 2.0**-11, 1.0 + 2.0**-9, 1.0 + 2.0**-9),
    ],
)
def test_float16_by_hand(value, ieee, saturated):
    x = tf.constant([value], tf.float32)
    assert reference.same_bits(round_to(x, FLOAT16, 'ieee').numpy(), np.float32([ieee]))
    assert reference.same_bits(round_to(x, FLOAT16, 'saturate').numpy(), np.float32([saturated]))


@each_format
@each_overflow
def test_survives_graph_optimisation(fmt, overflow):
    """Constant folding, arithmetic rewrites and XLA leave the rounding in, also between other operations."""
    values = np.float32([1.0 + 2.0**-11, 3.14159274, 65519.996, 65520.0, 1e5, -1e30, np.inf, np.nan, 1e-6, 1e-8, -0.0])

    def chain(x):
        once = round_to(x, fmt, overflow)
        return once, round_to(round_to(once * 3.0, fmt, overflow) - 1.0, fmt, overflow)

    expected = [result.numpy() for result in chain(tf.constant(values))]
    assert not reference.same_bits(expected[0], values)
    foldable = tf.function(lambda: chain(tf.constant(values)), autograph=False)()
    traced = tf.function(chain, autograph=False)(tf.constant(values))
    compiled = tf.function(chain, autograph=False, jit_compile=True)(tf.constant(values))
    for results in (foldable, traced, compiled):
        assert all(reference.same_bits(r.numpy(), e) for r, e in zip(results, expected))


@each_format
@each_overflow
def test_gradient_passes_unchanged(fmt, overflow):
    values = np.float32([0.0, 1.0 + 2.0**-11, 1e-9, 65504.0, 65520.0, -3e5, 3e38, np.inf, np.nan])
    upstream = np.linspace(-1e6, 0.1, values.size, dtype=np.float32)  # what float16 could not hold

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = round_to(x, fmt, overflow)
        return tape.gradient(y, x, output_gradients=tf.constant(upstream))

    for run in (gradient, tf.function(gradient, autograph=False)):
        assert np.array_equal(run(tf.constant(values)).numpy(), upstream)


def test_gradient_of_a_variable_inside_a_function():
    weight = tf.Variable([1e5, 0.1])

    @tf.function(autograph=False)
    def gradient():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(round_to(weight, FLOAT16, 'saturate') * tf.constant([2.0, 3.0]))
        return tape.gradient(loss, weight)

    assert gradient().numpy().tolist() == [2.0, 3.0]


def test_float32_adds_no_operation():
    x = tf.constant([1e-45, 0.1])
    assert round_to(x, FLOAT32, 'saturate') is x
    graph = tf.function(lambda x: round_to(x, FLOAT32), autograph=False).get_concrete_function(x).graph
    assert {op.type for op in graph.get_operations()} <= {'Placeholder', 'Identity'}


def test_numpy_leaves_its_input_alone():
    x = np.float32([0.1, np.nan, 1e6])
    for fmt in (*FORMATS, FLOAT32):
        result = round_to_numpy(x, fmt, 'saturate')
        assert result is not x and np.isnan(x[1]) and x[2] == 1e6 and result[1] == 0


def test_empty_and_scalar():
    for fmt in FORMATS:
        assert round_to(tf.zeros([0, 3]), fmt, 'saturate').shape == (0, 3)
        assert round_to(tf.constant(2.0), fmt).numpy() == 2.0


def test_unknown_overflow_mode_lists_the_legal_ones():
    with pytest.raises(UserError, match='ieee, saturate.*clip'):
        round_to(tf.constant([1.0]), FLOAT16, 'clip')
    with pytest.raises(UserError, match='ieee, saturate'):
        round_to_numpy(np.float32([1.0]), FLOAT32, 'inf')


def test_only_float32_is_rounded():
    with pytest.raises(AssertionError, match='float64'):
        round_to(tf.constant([1.0], tf.float64), FLOAT16)


def _both_ways(overflow, upstream, x=(1.0, 2.0, 3.0, 4.0)):
    """Gradient and count of `round_both_ways` for an incoming gradient, eager and traced."""

    def gradient(x, alarm):
        with tf.GradientTape() as tape:
            tape.watch([x, alarm])
            y = round_both_ways(x, FLOAT16, overflow, alarm)
        return tape.gradient(y, [x, alarm], output_gradients=tf.constant(upstream, tf.float32))

    results = []
    for run in (gradient, tf.function(gradient, autograph=False)):
        found, count = run(tf.constant(x, tf.float32), tf.constant(0.0))
        results.append((found.numpy(), float(count)))
    assert reference.same_bits(results[0][0], results[1][0]) and results[0][1] == results[1][1]
    return results[0]


@each_overflow
def test_both_ways_rounds_the_gradient_and_counts_what_does_not_fit(overflow):
    upstream = np.float32([1.0 + 2.0**-12, 65503.0, -65504.0, 1e-9])
    found, count = _both_ways(overflow, upstream, x=[0.1, 1e6, 3.0, np.nan])
    assert reference.same_bits(found, round_to(tf.constant(upstream), FLOAT16, overflow).numpy())
    assert count == 1.0  # 65503 rounds to 65504, but did not come as that
    found, count = _both_ways(overflow, [1e6, np.nan, -np.inf, 1.0])
    assert count == 3.0
    assert reference.same_bits(found, round_to(tf.constant([1e6, np.nan, -np.inf, 1.0]), FLOAT16, overflow).numpy())


def test_both_ways_has_the_values_of_round_to_and_adds_counts_over_places():
    values = tf.constant([0.1, 1e6, -3e-6])
    with tf.GradientTape() as tape:
        alarm = tf.constant(0.0)
        tape.watch([values, alarm])
        once = round_both_ways(values, FLOAT16, 'saturate', alarm)
        twice = round_both_ways(once * 1e6, FLOAT16, 'saturate', alarm)
    assert reference.same_bits(once.numpy(), round_to(values, FLOAT16, 'saturate').numpy())
    found, count = tape.gradient(twice, [values, alarm])
    assert float(count) == 3.0 and found.numpy().tolist() == [65504.0] * 3  # 1 each here, 1e6 each there


def test_both_ways_rounds_gradients_of_gradients():
    """d2/dx2 of x^3 at 300: 1800 fits; the slope of the slope passes through both roundings, scaled by 100."""

    @tf.function(autograph=False)
    def second(x, alarm, scale):
        with tf.GradientTape() as outer:
            outer.watch([x, alarm])
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = round_both_ways(x, FLOAT16, 'saturate', alarm) ** 3
            slope = inner.gradient(y, x)
        return outer.gradient(slope, [x, alarm], output_gradients=scale)

    x = tf.constant(100.0)
    found, count = second(x, tf.constant(0.0), tf.constant(1.0))
    assert (float(found), float(count)) == (600.0, 0.0)
    found, count = second(x, tf.constant(0.0), tf.constant(1000.0))
    assert float(count) == 1.0 and float(found) == 65504.0  # 600,000 saturates on its way back


def test_both_ways_in_float32_adds_no_operation():
    x = tf.constant([1e-45, 0.1])
    assert round_both_ways(x, FLOAT32, 'saturate', tf.constant(0.0)) is x
