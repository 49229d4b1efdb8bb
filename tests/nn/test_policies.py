"""What float16 hardware does to the network: the reported fault, and which half of float16 it comes from."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Optional, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.nn.golden_cases import OVERFLOW, GoldenCase, golden_case
from tests.nn.weights import pictures, well_scaled
from ugatit.nn.architecture import Architecture
from ugatit.nn.blueprint import network_class
from ugatit.nn.build import Build
from ugatit.nn.call import Call, Recorder
from ugatit.nn.generator import Generator
from ugatit.nn.network import Network
from ugatit.nn.policy import FLOAT32_POLICY, Policy, make_policy
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.numerics import FLOAT16, psnr

SMALL = Architecture(image_size=24, ch=4, n_res=1, n_dis=4, light=True)
PRESCALED = Variants('prescaled', statistics=(('.*', 'prescaled'),))
MIXED, ALL = make_policy('mixed_float16', 'saturate'), make_policy('float16', 'saturate')
OPERANDS = make_policy('float16_operands', 'saturate')
FLOAT16_POLICIES = {
    f'{name}, {overflow}': make_policy(name, overflow)
    for name in ('mixed_float16', 'float16', 'float16_operands')
    for overflow in ('ieee', 'saturate')
}


@pytest.fixture(params=OVERFLOW)
def case(request: pytest.FixtureRequest, golden: pathlib.Path) -> GoldenCase:
    return golden_case(golden, request.param)


def _db(image: tf.Tensor, expected: tf.Tensor) -> float:
    return psnr(image.numpy(), expected.numpy())


def _image(case: GoldenCase, scope: str, policy: Policy, variants: Variants = DEFAULT_VARIANTS) -> tf.Tensor:
    domain = 'x_A' if scope == 'generator_B' else 'x_B'
    return case.network(scope, policy=policy, variants=variants)(case.batch(domain)).image


def _twin(network: Network, policy: Policy) -> Generator:
    """The same variables and variants under another policy."""
    variables = network.named_variables
    build = dataclasses.replace(
        network.build,
        policy=policy,
        factory=lambda name, *_: variables[name],
        registry=type(network.registry)(),
    )
    return type(network)(network.architecture, network.scope, build)


# ------------------------------------------------------------------------------------ the golden overflow


def test_the_reported_fault(case: GoldenCase):
    """Plain float16 that saturates gives a plainly wrong picture, and all-float16 a worse one."""
    exact = _image(case, 'generator_B', FLOAT32_POLICY)
    mixed, everything = (_db(_image(case, 'generator_B', policy), exact) for policy in (MIXED, ALL))
    floors = [_db(_image(case, 'generator_B', policy.floor()), exact) for policy in (MIXED, ALL)]
    print(f'{case.tag}: mixed {mixed:.1f} dB, all {everything:.1f} dB; floors {floors[0]:.1f}, {floors[1]:.1f} dB')
    assert everything < mixed < tolerances.BROKEN_PICTURE_DB
    assert min(floors) > 2 * tolerances.BROKEN_PICTURE_DB  # so it is the range and not the precision


@pytest.mark.parametrize('precision', ['mixed_float16', 'float16'])
def test_ieee_overflow_is_not_finite_somewhere_inside(case: GoldenCase, precision: str):
    recorder = Recorder()
    network = case.network('generator_B', policy=make_policy(precision, 'ieee'))
    network(case.batch('x_A'), Call(tap=recorder))
    broken = [name for name, value in recorder.tensors.items() if not np.isfinite(value).all()]
    assert broken and all('generator_B/' in name for name in broken)


@pytest.mark.parametrize('precision', ['mixed_float16', 'float16'])
def test_saturation_is_finite_everywhere(case: GoldenCase, precision: str):
    """Which is why a check of finiteness never finds it."""
    recorder = Recorder()
    network = case.network('generator_B', policy=make_policy(precision, 'saturate'))
    network(case.batch('x_A'), Call(tap=recorder))
    assert all(np.isfinite(value).all() for value in recorder.tensors.values())
    largest = max(np.abs(value).max() for name, value in recorder.tensors.items() if name.endswith('/Conv2D'))
    assert largest == FLOAT16.max_finite


def test_the_healthy_generator_is_unharmed_by_every_policy(case: GoldenCase):
    exact = _image(case, 'generator_A', FLOAT32_POLICY)
    for name, policy in FLOAT16_POLICIES.items():
        floor = _db(_image(case, 'generator_A', policy.floor()), exact)
        found = _db(_image(case, 'generator_A', policy), exact)
        print(f'{case.tag} generator_A, {name}: {found:.1f} dB, floor {floor:.1f} dB')
        assert found >= floor - tolerances.FLOOR_DB
    assert _db(_image(case, 'generator_A', make_policy('mixed_bfloat16')), exact) > tolerances.BFLOAT16_DB


def test_bfloat16_does_not_overflow(case: GoldenCase):
    exact = _image(case, 'generator_B', FLOAT32_POLICY)
    assert _db(_image(case, 'generator_B', make_policy('mixed_bfloat16')), exact) > tolerances.BFLOAT16_DB


def test_better_statistics_alone_do_not_help(case: GoldenCase):
    """Whatever the norms do with it, the value is lost before they see it."""
    exact = _image(case, 'generator_B', FLOAT32_POLICY)
    for statistics in ('float32', 'prescaled'):
        variants = Variants(statistics, statistics=(('.*', statistics),))
        assert _db(_image(case, 'generator_B', ALL, variants), exact) < tolerances.BROKEN_PICTURE_DB


def test_wide_results_do_not_help_where_operands_overflow_too(case: GoldenCase):
    """Here the AdaLIN stream itself passes 65504 (300,077 and 515,721), and convolutions read it in float16."""
    recorder = Recorder()
    exact = case.network('generator_B')(case.batch('x_A'), Call(tap=recorder)).image
    assert np.abs(recorder.tensors['generator_B/ResizeNearestNeighbor']).max() > 4 * FLOAT16.max_finite
    assert _db(_image(case, 'generator_B', OPERANDS), exact) < tolerances.BROKEN_PICTURE_DB


# --------------------------------------------------------------------- where only a convolution's result overflows


def _only_the_result_overflows(case: GoldenCase, variants: Variants = DEFAULT_VARIANTS) -> Generator:
    """The healthy generator with up_conv_0's kernel and bias times a power of two, and nothing else.

    The LIN behind it takes the power out again (up to epsilon), so the float32 picture stays.
    """
    return _scaled_up_conv(case.network('generator_A', variants=variants), 2.0**14)


def _scaled_up_conv(network: Network, scale: float) -> Network:
    for leaf in ('kernel', 'bias'):
        variable = network.named_variables[f'generator_A/up_conv_0/conv2d/{leaf}']
        variable.assign(variable * scale)
    return network


def _seeded_network_whose_result_overflows() -> Network:
    network = network_class('generator_A')(SMALL, 'generator_A', Build(factory=well_scaled()))
    return _scaled_up_conv(network, 2.0**16)


@pytest.mark.parametrize('tag', [None, *OVERFLOW], ids=str)
def test_wide_results_are_right_where_only_results_overflow(tag: Optional[str], request: pytest.FixtureRequest):
    """`float16_operands`, the vendor's force_fp32 on chips that can: shows that the output format is the problem."""
    if tag is None:
        network, x = _seeded_network_whose_result_overflows(), tf.constant(pictures(3, 24))
    else:
        found = golden_case(request.getfixturevalue('golden'), tag)
        network, x = _only_the_result_overflows(found), found.batch('x_B')
    recorder = Recorder()
    exact = network(x, Call(tap=recorder)).image
    over = [name for name, value in recorder.tensors.items() if np.abs(value).max() > FLOAT16.max_finite]
    assert over and all('/up_conv_0/conv2d/' in name or '/layer_ins_norm_0/' in name for name in over)
    found = {policy.name: _db(_twin(network, policy)(x).image, exact) for policy in (MIXED, ALL, OPERANDS)}
    floor = _db(_twin(network, OPERANDS.floor())(x).image, exact)
    print(f'{tag or "seeded"}: { ({name: round(db, 1) for name, db in found.items()}) }, floor {floor:.1f} dB')
    assert max(found['mixed_float16'], found['float16']) < tolerances.BROKEN_PICTURE_DB
    assert found['float16_operands'] >= floor - tolerances.FLOOR_DB


# ------------------------------------------------------------------------ a BatchNorm after the convolution


def _norm_after(layers: str, folded: bool) -> Variants:
    variant = 'norm_after:folded' if folded else 'norm_after'
    return Variants(variant, guard=((layers, variant), ('.*', 'planned')))


def _calibrated_db(network: Network, x: tf.Tensor) -> Tuple[float, float]:
    """(mixed float16, its floor) against the same network in float32, running statistics measured on `x`."""
    network(x, Call(batch_momentum=0.0))
    exact = network(x).image
    return tuple(_db(_twin(network, policy)(x).image, exact) for policy in (MIXED, MIXED.floor()))


@pytest.mark.parametrize('layers', [r'.*/up_conv_0', r'.*/(adaptive_resblock\d+/res[12]/conv_0|up_conv_[01])'])
@pytest.mark.parametrize('folded', [False, True])
def test_a_batch_norm_after_the_convolution_is_too_late(case: GoldenCase, folded: bool, layers: str):
    """What the reporter asked. Unfolded: the convolution overflowed before the norm saw it. Folded: the convolution's
    result is small, but on these checkpoints the stream that it reads has overflowed already.
    """
    network = case.network('generator_B', variants=_norm_after(layers, folded))
    found, floor = _calibrated_db(network, case.batch('x_A'))
    print(f'{case.tag}, {layers}, folded {folded}: {found:.1f} dB, floor {floor:.1f} dB')
    assert found < tolerances.BROKEN_PICTURE_DB and floor > 2 * tolerances.BROKEN_PICTURE_DB


@pytest.mark.parametrize('folded', [False, True])
def test_folding_the_batch_norm_helps_where_only_the_result_overflows(case: GoldenCase, folded: bool):
    network = _only_the_result_overflows(case, _norm_after(r'.*/up_conv_0', folded))
    found, floor = _calibrated_db(network, case.batch('x_B'))
    print(f'{case.tag}, only the result overflows, folded {folded}: {found:.1f} dB, floor {floor:.1f} dB')
    if folded:
        assert found >= floor - tolerances.FLOOR_DB
    else:
        assert found < tolerances.BROKEN_PICTURE_DB


def test_a_batch_norm_changes_the_function(case: GoldenCase):
    """In float32: another network, so the paper's numbers no longer apply."""
    network = case.network('generator_B', variants=_norm_after(r'.*/up_conv_0', True))
    network(case.batch('x_A'), Call(batch_momentum=0.0))
    exact = _image(case, 'generator_B', FLOAT32_POLICY)
    assert _db(network(case.batch('x_A')).image, exact) < tolerances.BROKEN_PICTURE_DB
