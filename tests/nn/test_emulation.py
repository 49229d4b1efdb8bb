"""Emulated float16 misses no rounding, agrees with native halves, and a policy is a value with clear errors."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.nn.weights import pictures, well_scaled
from ugatit.errors import UserError
from ugatit.nn.architecture import Architecture
from ugatit.nn.blueprint import network_class
from ugatit.nn.build import Build
from ugatit.nn.call import Call, Recorder
from ugatit.nn.policy import FLOAT32_POLICY, PRECISIONS, Policy, make_policy
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.numerics import psnr

SMALL = Architecture(image_size=24, ch=4, n_res=1, n_dis=4, light=True)
PRESCALED = Variants('prescaled', statistics=(('.*', 'prescaled'),))
MIXED, ALL = make_policy('mixed_float16', 'saturate'), make_policy('float16', 'saturate')
POWER_ITERATION = ('/MatMul', '/MatMul_1', '/MatMul_2', '/MatMul_3')  # and sigma: always float32


def _stored_wrongly(tensors: Dict[str, tf.Tensor], scope: str, everything: bool) -> List[str]:
    """Names of tensors that are not float16 values although their place stores float16."""
    results = ('/Conv2D', '/BiasAdd', '/MatMul', '/MatMul_4')
    wrong = []
    for name, value in tensors.items():
        value = value.numpy()
        power_iteration = scope.startswith('discriminator') and name.endswith(POWER_ITERATION)
        operand = name.endswith(('/kernel', '/bias', '/input'))  # shown before their operation rounds them
        attention = 'CAM_logit' in name and name.endswith('/BiasAdd') and not everything
        if power_iteration or operand or attention or not (everything or name.endswith(results)):
            continue
        if not np.array_equal(value, value.astype(np.float16).astype(np.float32)):
            wrong.append(name)
    return wrong


@pytest.mark.parametrize(
    'precision, scope, variants, traced',
    [
        ('mixed_float16', 'generator_B', DEFAULT_VARIANTS, True),
        ('float16', 'generator_B', PRESCALED, True),
        ('float16', 'generator_B', DEFAULT_VARIANTS, False),
        ('mixed_float16', 'discriminator_A', DEFAULT_VARIANTS, False),
        ('float16', 'discriminator_A', DEFAULT_VARIANTS, True),
    ],
)
def test_every_stored_value_is_a_float16_value(precision: str, scope: str, variants: Variants, traced: bool):
    """No rounding is left out by a layer, or folded away by the graph optimiser."""
    policy = make_policy(precision, 'saturate')
    network = network_class(scope)(SMALL, scope, Build(policy=policy, factory=well_scaled(), variants=variants))

    def run(x: tf.Tensor) -> Dict[str, tf.Tensor]:
        recorder = Recorder()
        network(x, Call(tap=recorder))
        return recorder.tensors

    tensors = (tf.function(run) if traced else run)(tf.constant(pictures(1, 24)))
    assert _stored_wrongly(tensors, scope, precision == 'float16') == []
    exact = network_class(scope)(SMALL, scope, Build(factory=well_scaled(), variants=variants))
    recorder = Recorder()
    exact(tf.constant(pictures(1, 24)), Call(tap=recorder))
    assert len(_stored_wrongly(recorder.tensors, scope, precision == 'float16')) > 10  # the control


def test_emulation_passes_gradients_straight_through():
    network = network_class('generator_B')(SMALL, 'generator_B', Build(policy=ALL, factory=well_scaled()))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(tf.constant(pictures(1, 24))).image - 0.5))
    gradients = tape.gradient(loss, network.trainable_variables)
    assert all(g is not None and np.isfinite(g.numpy()).all() and np.any(g.numpy()) for g in gradients)


@pytest.mark.skipif(tf.__version__.startswith('2.6'), reason="2.6's half convolutions accumulate in half")
@pytest.mark.parametrize('scope', ['generator_B', 'discriminator_A'])
@pytest.mark.parametrize('precision', ['mixed_float16', 'float16'])
def test_native_halves_agree_with_the_emulation(precision: str, scope: str):
    def outputs(policy: Policy) -> Any:
        network = network_class(scope)(SMALL, scope, Build(policy=policy, factory=well_scaled()))
        return tf.nest.flatten(network(tf.constant(pictures(2, 24))))

    native = make_policy(precision, native=True)
    assert native.native
    for value, expected in zip(outputs(native), outputs(make_policy(precision))):
        assert value.dtype == tf.float32
        peak = 2.0 * np.abs(expected).max()
        assert psnr(value.numpy(), expected.numpy(), peak) > tolerances.NATIVE_DB


def test_what_a_device_cannot_do_natively_is_emulated():
    assert not make_policy('mixed_float16', 'saturate', native=True).native
    assert not make_policy('float16_operands', native=True).native  # a half convolution gives halves
    assert make_policy('mixed_bfloat16', native=True).native is not tf.__version__.startswith('2.6')


def test_float32_adds_no_operation():
    x = tf.constant([1.0])
    assert all(method(x) is x for method in (FLOAT32_POLICY.operand, FLOAT32_POLICY.result, FLOAT32_POLICY.vector))


def test_policies_are_frozen_values():
    assert make_policy('float16') == make_policy('float16', 'ieee') and len({make_policy(p) for p in PRECISIONS}) == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        FLOAT32_POLICY.overflow = 'saturate'


@pytest.mark.parametrize(
    'arguments, words',
    [
        (('fp16',), ['fp16', 'mixed_float16', 'float16_operands']),
        (('float16', 'wrap'), ['wrap', 'ieee', 'saturate']),
        (('mixed_bfloat16', 'saturate'), ['mixed_bfloat16', 'ieee']),
    ],
)
def test_a_wrong_policy_is_one_sentence_with_what_is_legal(arguments: tuple, words: list):
    with pytest.raises(UserError) as raised:
        make_policy(*arguments)
    assert all(word in str(raised.value) for word in words)


def test_a_floor_has_float16s_bits_and_no_limit():
    floor = ALL.floor()
    x = tf.constant([1e9, 1.0 + 2.0**-11, 1e-9], tf.float32)
    assert np.array_equal(floor.vector(x), floor.result(x)) and np.allclose(
        floor.vector(x), x, rtol=tolerances.FLOAT16_UNIT_ROUNDOFF
    )
    assert floor.vector(x).numpy()[1] == 1.0
    assert MIXED.floor().vector(x) is x and FLOAT32_POLICY.floor().operand(x) is x
    with pytest.raises(UserError, match='bfloat16'):
        make_policy('mixed_bfloat16').floor()
