"""`Build.keep_float32`: statistics and spectral norms are computed inside the scope, and nothing else is."""

from __future__ import annotations

import contextlib
from typing import Iterator, Set

import pytest
import tensorflow as tf

from tests.nn.weights import well_scaled
from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.discriminator import Discriminator
from ugatit.nn.generator import Generator
from ugatit.nn.policy import make_policy
from ugatit.nn.presets import load_variants

TINY = Architecture(image_size=24, ch=2, n_res=1, n_dis=4, light=True)
MARK = '_keep'


@contextlib.contextmanager
def _marked() -> Iterator[None]:
    with tf.compat.v1.get_default_graph()._attr_scope({MARK: tf.compat.v1.AttrValue(i=1)}):
        yield


def _operators(network: tf.Module, inside: bool) -> Set[str]:
    """Types of the operators in or outside of the scope, when the network is called on a picture."""
    traced = tf.function(lambda x: tf.nest.flatten(network(x))[0]).get_concrete_function(
        tf.TensorSpec([1, 24, 24, 3], tf.float32)
    )
    return {node.op for node in traced.graph.as_graph_def().node if (MARK in node.attr) is inside}


@pytest.mark.parametrize(
    ('precision', 'variants', 'kept'),
    [
        ('mixed_float16', 'default', True),
        ('float16', 'default', False),
        ('float16', 'float32_statistics', True),
        ('float16', 'prescaled', False),
    ],
)
def test_statistics_are_inside_where_they_are_float32(precision: str, variants: str, kept: bool) -> None:
    build = Build(make_policy(precision), variants=load_variants(variants), factory=well_scaled(), keep_float32=_marked)
    network = Generator(TINY, 'generator_B', build)
    inside = _operators(network, True)
    assert {'Square', 'Sub', 'Sqrt', 'RealDiv', 'Mean'} <= inside if kept else not inside
    assert not {'Conv2D', 'MatMul', 'MirrorPad'} & inside
    assert {'Conv2D', 'MatMul'} <= _operators(network, False)


def test_spectral_norms_are_inside() -> None:
    network = Discriminator(TINY, 'discriminator_A', Build(factory=well_scaled(), keep_float32=_marked))
    assert 'MatMul' in _operators(network, True)
    iteration = tf.function(lambda: network.power_iterations()).get_concrete_function()
    products = [node for node in iteration.graph.as_graph_def().node if node.op == 'MatMul']
    assert products and all(MARK in node.attr for node in products)
