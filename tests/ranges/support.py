"""Small networks, pictures and measures that the range tests share. Everything runs eagerly: tracing costs seconds."""

from __future__ import annotations

from typing import Dict, Mapping, Optional

import numpy as np
import tensorflow as tf

from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.generator import Generator
from ugatit.nn.policy import FLOAT32_POLICY, Policy
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.nn.scaling import UNPLANNED, Folded, Scaling
from ugatit.nn.variables import VariableFactory, named_variable, seeded
from ugatit.numerics import psnr
from ugatit.ranges import folding_factory, shifts

LIGHT = Architecture(image_size=32, ch=4, n_res=2, n_dis=4, light=True)
FULL = Architecture(image_size=32, ch=4, n_res=2, n_dis=4)
PRESCALED = Variants('prescaled', statistics=(('.*', 'prescaled'),))


def pictures(count: int = 4, size: int = 32, seed: int = 1) -> np.ndarray:
    """Smooth random pictures in [-1, 1]."""
    random = np.random.RandomState(seed)
    coarse = random.uniform(-1, 1, (count, size // 8, size // 8, 3)).astype(np.float32)
    fine = np.asarray(tf.image.resize(coarse, (size, size)))
    return np.clip(fine + random.normal(0, 0.05, fine.shape), -1, 1).astype(np.float32)


def values_factory(values: Mapping[str, np.ndarray]) -> VariableFactory:
    """A factory that gives these values under their names."""
    return lambda name, shape, initial, trainable: named_variable(name, tf.constant(values[name]), trainable)


def lively_values(architecture: Architecture, scope: str = 'generator_B', seed: int = 3) -> Dict[str, np.ndarray]:
    """Weights with which every path matters: kernels that keep the variance, random norms, rho and biases."""
    made = Generator(architecture, scope, Build(factory=seeded(seed))).named_variables
    random = np.random.RandomState(seed)
    values = {}
    for name, variable in made.items():
        shape, leaf = variable.shape.as_list(), name.rpartition('/')[2]
        if leaf == 'kernel':
            values[name] = random.normal(0, np.prod(shape[:-1]) ** -0.5, shape)
        elif leaf == 'gamma':
            values[name] = random.uniform(0.5, 1.5, shape)
        elif leaf == 'rho':
            values[name] = random.uniform(0, 1, shape)
        else:
            values[name] = random.normal(0, 0.2, shape)
    return {name: value.astype(np.float32) for name, value in values.items()}


def stressed(
    values: Mapping[str, np.ndarray], network: Generator, exponents: Mapping[str, int]
) -> Dict[str, np.ndarray]:
    """The values with `exponents` folded in; negative ones make the groups' tensors larger."""
    powers = shifts(network.registry, exponents)
    return {name: value * np.float32(2.0) ** powers.get(name, 0) for name, value in values.items()}


def generator(
    architecture: Architecture,
    values: Mapping[str, np.ndarray],
    policy: Policy = FLOAT32_POLICY,
    exponents: Optional[Mapping[str, int]] = None,
    variants: Variants = DEFAULT_VARIANTS,
    before: Optional[Mapping[str, int]] = None,
    scope: str = 'generator_B',
) -> Generator:
    """A generator with these values and, on top, `exponents` folded in; `before` says what was folded in already."""
    factory = values_factory(values)
    plain = Generator(architecture, scope, Build(factory=factory, variants=variants))
    scaling: Scaling = UNPLANNED
    if exponents is not None or before:
        exponents, before = exponents or {}, before or {}
        total = {group: exponents.get(group, 0) + before.get(group, 0) for group in {**exponents, **before}}
        factory, scaling = folding_factory(factory, plain.registry, exponents), Folded(total)
    return Generator(architecture, scope, Build(policy, scaling, variants, factory))


def picture_db(found: tf.Tensor, reference: tf.Tensor) -> float:
    """PSNR over all pictures together, peak 2."""
    return psnr(np.asarray(found), np.asarray(reference), peak=2.0)
