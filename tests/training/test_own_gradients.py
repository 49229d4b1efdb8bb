"""Updates whose slow gradients are written out, against TensorFlow's own, at widths where they are used."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.training.tiny import make_batch, make_images, make_training, snapshot
from ugatit.nn import gradients
from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.variables import seeded
from ugatit.training.update import update_discriminators, update_generators

WIDE = Architecture(image_size=32, ch=16, n_res=1, n_dis=4, light=True)


@pytest.fixture(autouse=True)
def _eager() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def _moments(update: Callable[..., Any], gan_type: str, own: bool) -> Dict[str, np.ndarray]:
    """First moments after one update from the same weights: half of the gradients."""
    training = make_training(WIDE, gan_type, lambda scope: Build(factory=seeded(5), own_gradients=own))
    update(training, make_batch(make_images(size=32)))
    return {name: value for name, value in snapshot(training).items() if name.endswith('/Adam') and value.any()}


@pytest.mark.parametrize(
    ('update', 'gan_type'), [(update_discriminators, 'wgan-gp'), (update_generators, 'lsgan')]
)  # the first differentiates gradients again
def test_the_gradients_are_those_of_tensorflow(
    monkeypatch: pytest.MonkeyPatch, update: Callable[..., Any], gan_type: str
) -> None:
    used = []
    slope = gradients.kernel_slope
    monkeypatch.setattr(gradients, 'kernel_slope', lambda *args: used.append(1) or slope(*args))
    found, expected = _moments(update, gan_type, True), _moments(update, gan_type, False)
    assert used and set(found) == set(expected) and len(found) > 20
    kernels = [name for name in expected if name.endswith('/kernel/Adam')]
    off = {name: np.linalg.norm(found[name] - expected[name]) / np.linalg.norm(expected[name]) for name in kernels}
    assert max(off.values()) < tolerances.TRAINING_GRADIENT, max(off, key=off.get)
