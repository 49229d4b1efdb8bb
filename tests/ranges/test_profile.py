"""The profile against NumPy on the recorded tensors themselves."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.ranges import support
from ugatit.nn.call import Call, Recorder
from ugatit.nn.policy import make_policy
from ugatit.numerics import FLOAT16
from ugatit.ranges import measure
from ugatit.ranges.kinds import INPUT, OPERAND, RESULT, SQUARE, VECTOR, WIDE, kind_of, stored_format


@pytest.fixture(scope='module')
def network():
    return support.generator(support.LIGHT, support.lively_values(support.LIGHT))


@pytest.fixture(scope='module')
def recorded(network):
    recorder = Recorder()
    network(tf.constant(support.pictures()), Call(tap=recorder))
    return {name: tensor.numpy() for name, tensor in recorder.tensors.items()}


@pytest.fixture(scope='module')
def profile(network):
    return measure(network, [support.pictures()])


def test_every_tensor_in_order_of_execution(profile, recorded):
    assert list(profile) == list(recorded)
    assert profile.pictures == 4


def test_statistics_are_those_of_the_tensors(profile, recorded):
    for name, found in profile.items():
        tensor = recorded[name]
        magnitude = np.abs(tensor)
        assert (found.min, found.max, found.amax) == (tensor.min(), tensor.max(), magnitude.max()), name
        assert found.mean == pytest.approx(tensor.mean(dtype=np.float64), abs=tolerances.PROFILE_MEAN * found.amax), (
            name
        )
        assert found.rms == pytest.approx(
            np.sqrt(np.mean(np.square(tensor, dtype=np.float64))), rel=tolerances.PROFILE_MEAN
        ), name
        assert found.subnormal_share == np.mean((magnitude > 0) & (magnitude < FLOAT16.smallest_normal)), name
        assert found.overflow_share == np.mean(magnitude > FLOAT16.max_finite), name


def test_amax_per_picture(profile, recorded):
    name = 'generator_B/up_conv_0/conv2d/Conv2D'
    assert profile[name].amax_per_picture == tuple(np.abs(recorded[name]).max(axis=(1, 2, 3)))
    assert profile[name].shape == (1, 16, 16, 8)


def test_batches_make_no_difference(network, profile):
    batch = support.pictures()
    parts = measure(network, [batch[:1], batch[1:]])
    for name, found in parts.items():
        assert found.amax == pytest.approx(profile[name].amax, rel=tolerances.PROFILE_BATCH), name
        assert len(found.amax_per_picture) == len(profile[name].amax_per_picture), name


@pytest.mark.parametrize(
    ('name', 'kind', 'mixed', 'everything'),
    [
        ('generator_B/up_conv_0/conv2d/Conv2D', RESULT, 'float16', 'float16'),
        ('generator_B/up_conv_0/conv2d/kernel', OPERAND, 'float16', 'float16'),
        ('generator_B/up_conv_0/conv2d/input', INPUT, 'float16', 'float16'),
        ('generator_B/MLP/gamma/dense/MatMul', RESULT, 'float16', 'float16'),
        ('generator_B/CAM_logit/MatMul', RESULT, 'float16', 'float16'),
        ('generator_B/CAM_logit_1/BiasAdd', OPERAND, 'float32', 'float16'),
        ('generator_B/layer_ins_norm_0/add_3', VECTOR, 'float32', 'float16'),
        ('generator_B/ins_norm/moments/SquaredDifference', SQUARE, 'float32', 'float16'),
        ('generator_B/ins_norm/moments/mean', VECTOR, 'float32', 'float16'),
        ('discriminator_A/local/CAM_logit/MatMul_4', RESULT, 'float16', 'float16'),
        ('discriminator_A/local/conv_0/MatMul_3', WIDE, 'float32', 'float32'),
        ('discriminator_A/local/conv_0/BiasAdd', RESULT, 'float16', 'float16'),
        ('generator_B/Tanh', WIDE, 'float32', 'float32'),
    ],
)
def test_kinds_and_the_format_each_policy_stores(name, kind, mixed, everything):
    assert kind_of(name) == kind
    assert stored_format(name, make_policy('mixed_float16')).name == mixed
    assert stored_format(name, make_policy('float16')).name == everything
    assert stored_format(name, make_policy()).name == 'float32'
