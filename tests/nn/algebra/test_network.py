"""The whole generator by identities: the official code's outputs, the float64 reference, and range plans."""

from __future__ import annotations

import pathlib
from typing import Dict

import numpy as np
import pytest
import tensorflow as tf

from tests import reference, tolerances
from tests.nn.golden_cases import DIRECTIONS, float64_noise, golden_case
from tests.nn.weights import deviation
from tests.ranges import support
from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.fast_generator import FastGenerator, fits
from ugatit.nn.generator import Generator, GeneratorOutput
from ugatit.nn.scaling import Live

TAGS = ('light_i64_c4_d5_smooth', 'full_i32_c4_d4_nosmooth', 'overflow_light_i64_c16')
NO_CAM = Architecture(image_size=32, ch=4, n_res=2, n_dis=4, light=True, cam_generator=False)
ARCHITECTURES = {'light': support.LIGHT, 'full': support.FULL, 'without CAM': NO_CAM}


def _fast(generator: Generator) -> tf.types.experimental.GenericFunction:
    return tf.function(FastGenerator(generator), autograph=False)


def _arrays(output: GeneratorOutput) -> Dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in output._asdict().items() if value is not None}


@pytest.mark.parametrize('tag', TAGS)
def test_official_outputs_and_float64_within_the_limits_of_the_plain_network(tag: str, golden: pathlib.Path) -> None:
    case, noise = golden_case(golden, tag), float64_noise(golden, tag)
    direction, scope, domain = DIRECTIONS[0]
    fast = _fast(case.network(scope))
    for i, x in enumerate(case.inputs(domain)):
        exact = reference.generator(
            case.weights, scope, x, light=case.architecture.light, smoothing=case.architecture.smoothing
        )
        found = _arrays(fast(tf.constant(x)))
        for name, kind in (('image', 'image'), ('cam_logits', 'cam_logit'), ('heatmap', 'heatmap')):
            official = case.recorded[f'{direction}/{kind}/{i}']
            assert deviation(found[name].reshape(official.shape), official) <= tolerances.OFFICIAL_OUTPUT
            limit = max(tolerances.FLOAT64_OUTPUT, tolerances.FLOAT64_NOISE_FACTOR * noise[f'{direction}/{kind}'])
            assert deviation(found[name], getattr(exact, name)) <= limit


@pytest.mark.parametrize('kind', ARCHITECTURES)
def test_the_dull_twin_and_the_reference(kind: str) -> None:
    architecture = ARCHITECTURES[kind]
    values, images = support.lively_values(architecture), support.pictures(2)
    generator = support.generator(architecture, values)
    exact = reference.generator(
        values,
        'generator_B',
        images,
        light=architecture.light,
        n_res=architecture.n_res,
        cam=architecture.cam_generator,
    )
    fast, plain = _arrays(_fast(generator)(images)), _arrays(generator(tf.constant(images)))
    assert set(fast) == set(plain)
    for name, value in fast.items():
        assert value.dtype == np.float32 and deviation(value, getattr(exact, name)) <= tolerances.NETWORK_FLOAT32
        assert deviation(value, plain[name]) <= tolerances.NETWORK_FLOAT32


def test_another_size_and_a_batch_one_by_one() -> None:
    """A light model takes any multiple of 4: here maps of 5 x 11, which are no multiple of a tile."""
    generator = support.generator(support.LIGHT, support.lively_values(support.LIGHT))
    images = np.random.uniform(-1, 1, (3, 20, 44, 3)).astype(np.float32)
    fast = _fast(generator)
    together, plain = _arrays(fast(images)), _arrays(generator(tf.constant(images)))
    for name, value in together.items():
        assert deviation(value, plain[name]) <= tolerances.NETWORK_FLOAT32
        alone = np.concatenate([_arrays(fast(images[i : i + 1]))[name] for i in range(3)])
        assert deviation(value, alone) <= tolerances.TOGETHER


@pytest.mark.parametrize('kind', ['light', 'full'])
@pytest.mark.parametrize('seed', [7, 8])
def test_random_exponents_in_every_group_change_no_bit(kind: str, seed: int) -> None:
    architecture, images = ARCHITECTURES[kind], tf.constant(support.pictures(2))
    values = support.lively_values(architecture)
    generator = support.generator(architecture, values)
    random = np.random.RandomState(seed)
    exponents = {group: int(random.randint(-3, 9)) for group in generator.registry.members}
    plain = _arrays(_fast(generator)(images))
    for planned in (exponents, {}):  # and a second program of the same weights
        found = _arrays(_fast(support.generator(architecture, values, exponents=planned))(images))
        assert all(np.array_equal(found[name], plain[name]) for name in plain)


def test_the_control_an_epsilon_left_unscaled_changes_bits() -> None:
    values, images = support.lively_values(support.LIGHT), tf.constant(support.pictures(2))
    generator = support.generator(support.LIGHT, values)
    exponents = {group: 8 for group in generator.registry.members}
    unaware = support.generator(support.LIGHT, support.stressed(values, generator, exponents))
    assert not np.array_equal(_fast(unaware)(images).image, _fast(generator)(images).image)


def test_the_identities_are_for_the_papers_layers_and_for_settled_exponents() -> None:
    values = support.lively_values(support.LIGHT)
    assert fits(support.generator(support.LIGHT, values))
    assert fits(support.generator(support.LIGHT, values, exponents={'conv': 3}))
    assert not fits(support.generator(support.LIGHT, values, variants=support.PRESCALED))
    assert not fits(Generator(support.LIGHT, 'generator_B', Build(scaling=Live({'conv': 3}))))
