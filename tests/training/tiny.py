"""The smallest training there is: quick enough to be traced in a test."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.variables import seeded
from ugatit.training.networks import build_networks
from ugatit.training.objective import Objective
from ugatit.training.optimiser import make_optimisers
from ugatit.training.state import official_state
from ugatit.training.update import Batch, Training

TINY = Architecture(image_size=24, ch=2, n_res=1, n_dis=4, light=True)


def make_training(
    architecture: Architecture = TINY,
    gan_type: str = 'lsgan',
    make_build: Callable[[str], Build] = lambda scope: Build(factory=seeded(5)),
) -> Training:
    networks = build_networks(architecture, make_build)
    return Training(networks, make_optimisers(networks), Objective(gan_type))


def make_images(seed: int = 0, count: int = 1, size: int = 24) -> Tuple[tf.Tensor, tf.Tensor]:
    """A batch of each domain."""
    draw = np.random.RandomState(seed)
    return tuple(tf.constant(draw.uniform(-1, 1, [count, size, size, 3]), tf.float32) for _ in 'AB')


def make_batch(images: Tuple[tf.Tensor, tf.Tensor], steps_done: int = 0, rate: float = 1e-4) -> Batch:
    return Batch(*images, tf.constant(rate), tf.constant(steps_done))


def snapshot(training: Training) -> Dict[str, np.ndarray]:
    """Every variable's value."""
    return {name: variable.numpy() for name, variable in official_state(training).items()}


def differing(left: Dict[str, np.ndarray], right: Dict[str, np.ndarray]) -> list:
    """Names whose bits differ."""
    assert list(left) == list(right)
    return [name for name in left if left[name].tobytes() != right[name].tobytes()]
