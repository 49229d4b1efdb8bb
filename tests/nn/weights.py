"""Weights for small networks in which everything matters: nothing is zero, one or off."""

from __future__ import annotations

import zlib
from typing import Dict, Sequence

import numpy as np
import tensorflow as tf

from ugatit.nn.network import Network
from ugatit.nn.variables import Initial, VariableFactory, named_variable


def value(name: str, shape: Sequence[int], seed: int = 0) -> np.ndarray:
    """Well scaled for the variable's kind; depends on name and seed only."""
    random = np.random.RandomState((zlib.crc32(name.encode()) + seed) % 2**32)
    normal = random.normal(size=shape)
    leaf = name.rpartition('/')[2]
    if leaf == 'kernel':
        return np.sqrt(2.0 / max(1, np.prod(shape[:-1]))) * normal
    if leaf == 'rho':  # in [0, 1], both ends and a value below smoothing's 0.1 included
        rho = random.uniform(size=shape)
        rho[:3] = [0.0, 1.0, 0.05][: len(rho)]
        return rho
    if leaf == 'moving_variance':
        return np.exp(normal)
    return {'u': 0.0, 'gamma': 1.0}.get(leaf, 0.0) + (1.0 if leaf == 'u' else 0.3) * normal


def well_scaled(seed: int = 0) -> VariableFactory:
    """The factory of these values; two networks made with one seed have equal weights."""

    def factory(name: str, shape: Sequence[int], initial: Initial, trainable: bool) -> tf.Variable:
        del initial
        return named_variable(name, tf.constant(value(name, shape, seed), tf.float32), trainable)

    return factory


def arrays(network: Network) -> Dict[str, np.ndarray]:
    """Official name -> the variable's present value."""
    return {name: variable.numpy() for name, variable in network.named_variables.items()}


def pictures(count: int, size: int, seed: int = 0) -> np.ndarray:
    """[count, size, size, 3] float32, uniform in [-1, 1]."""
    return np.random.RandomState(seed).uniform(-1.0, 1.0, [count, size, size, 3]).astype(np.float32)


def deviation(ours: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference as a share of the largest expected value; the goldens' `max_rel_to_absmax`."""
    # In two steps: a variable of TensorFlow 2.6 gives an array of its own type only.
    ours, expected = np.asarray(ours).astype(np.float64), np.asarray(expected).astype(np.float64)
    assert ours.shape == expected.shape, f'{ours.shape} instead of {expected.shape}'
    largest = np.abs(expected).max()
    difference = np.abs(ours - expected).max()  # NaN stays NaN, and no comparison with NaN is true
    return float(difference / largest if largest else difference)
