"""Every tensor that the official code recorded, and the same outputs against float64."""

from __future__ import annotations

import json
import pathlib
from typing import Dict, List, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import reference, tolerances
from tests.nn.golden_cases import DIRECTIONS, TAGS, GoldenCase, float64_noise, golden_case
from tests.nn.weights import deviation
from ugatit.nn.call import Call, Recorder
from ugatit.nn.discriminator import Discriminator, DiscriminatorOutput
from ugatit.nn.generator import GeneratorOutput

Tensors = Dict[str, np.ndarray]
LETTERS = ('A', 'B')
_LARGEST: Dict[str, float] = {}


@pytest.fixture(params=TAGS)
def case(request: pytest.FixtureRequest, golden: pathlib.Path) -> GoldenCase:
    return golden_case(golden, request.param)


@pytest.fixture(scope='module', autouse=True)
def _print_the_largest_deviation_of_each_kind():
    yield
    for kind, value in sorted(_LARGEST.items()):
        print(f'\nlargest deviation, {kind}: {value:.2e}', end='')


def _measured(kind: str, value: float) -> float:
    _LARGEST[kind] = max(_LARGEST.get(kind, 0.0), value)
    return value


def _generator_outputs(output: GeneratorOutput) -> Tensors:
    return {'image': output.image, 'cam_logit': output.cam_logits, 'heatmap': output.heatmap}


def _discriminator_outputs(output: DiscriminatorOutput) -> Tensors:
    return {
        f'{branch}_{kind}': value
        for branch, result in (('local', output.local), ('global', output.global_))
        for kind, value in (
            ('logit', result.logits),
            ('cam_logit', result.cam_logits),
            ('heatmap', result.heatmap),
        )
    }


def _check(kind: str, ours: Tensors, official: Tensors) -> None:
    """The official heat maps have lost their batch axis, so shapes are compared through the official one."""
    for name, expected in official.items():
        value = np.asarray(ours[name])
        assert value.size == expected.size, name
        found = _measured(f'{kind} against the official code', deviation(value.reshape(expected.shape), expected))
        assert found <= tolerances.OFFICIAL_OUTPUT, f'{name}: {found:.2e}'


def _recorded(case: GoldenCase, prefix: str) -> Tensors:
    """Recorded tensors below a prefix, by their name without it and without TensorFlow's `:0`."""
    return {
        name[len(prefix) :].partition(':')[0]: value for name, value in case.recorded.items() if name.startswith(prefix)
    }


def test_the_list_of_cases_is_complete(golden: pathlib.Path):
    assert set(TAGS) == {path.stem for path in (golden / 'outputs').glob('*.npz')}
    assert set(TAGS) == {path.name for path in (golden / 'checkpoints').iterdir()}


def _run_generators(case: GoldenCase) -> List[Tuple[str, int, Tensors, Tensors]]:
    """(direction, number of the input, outputs, tensors) of every recorded input."""
    runs = []
    for direction, scope, domain in DIRECTIONS:
        generator = case.network(scope)
        for i, x in enumerate(case.inputs(domain)):
            recorder = Recorder()
            output = generator(tf.constant(x), Call(tap=recorder))
            runs.append((direction, i, _generator_outputs(output), recorder.tensors))
    return runs


def test_generators(case: GoldenCase, golden: pathlib.Path):
    noise = float64_noise(golden, case.tag)
    light, smoothing = case.architecture.light, case.architecture.smoothing
    for direction, i, outputs, tensors in _run_generators(case):
        official = {kind: case.recorded[f'{direction}/{kind}/{i}'] for kind in outputs}
        _check('picture, cam logits, heat map', outputs, official)
        if direction == 'a2b' and i == 0:
            _check('activation', tensors, _recorded(case, 'act/'))
        scope, domain = next((scope, domain) for name, scope, domain in DIRECTIONS if name == direction)
        x = case.inputs(domain)[i]
        exact = reference.generator(case.weights, scope, x, light=light, smoothing=smoothing)
        for kind, value in (('image', exact.image), ('cam_logit', exact.cam_logits), ('heatmap', exact.heatmap)):
            _check_against_float64(kind, outputs[kind], value, noise[f'{direction}/{kind}'])


def _check_against_float64(kind: str, ours: np.ndarray, exact: np.ndarray, noise: float) -> None:
    found = _measured(f'{kind} against float64', deviation(np.asarray(ours), exact))
    assert found <= max(tolerances.FLOAT64_OUTPUT, tolerances.FLOAT64_NOISE_FACTOR * noise), f'{kind}: {found:.2e}'


def test_the_reference_has_the_recorded_distance_to_the_official_code(case: GoldenCase, golden: pathlib.Path):
    """So that the reference and the measure are those behind fp64_crosscheck.json, to the digits that float64 keeps."""
    noise = float64_noise(golden, case.tag)
    light, smoothing = case.architecture.light, case.architecture.smoothing
    for direction, scope, domain in DIRECTIONS:
        exact = [
            reference.generator(case.weights, scope, x, light=light, smoothing=smoothing) for x in case.inputs(domain)
        ]
        for kind, field in (('image', 'image'), ('cam_logit', 'cam_logits'), ('heatmap', 'heatmap')):
            values = [getattr(result, field) for result in exact]
            official = [case.recorded[f'{direction}/{kind}/{i}'] for i in range(len(exact))]
            found = max(deviation(o.reshape(v.shape), v) for o, v in zip(official, values))
            assert found == pytest.approx(noise[f'{direction}/{kind}'], rel=tolerances.CROSSCHECK_DIGITS)


def test_discriminators(case: GoldenCase, golden: pathlib.Path):
    if not _recorded(case, 'D/'):
        pytest.skip('this checkpoint was saved without discriminators')
    noise = float64_noise(golden, case.tag)
    for letter in LETTERS:
        scope = f'discriminator_{letter}'
        discriminator = case.network(scope)
        weights = dict(case.weights)
        for call in (0, 1):
            tensors, outputs = _call(discriminator, case, letter, call)
            _check('discriminator output', outputs, _official_outputs(case, letter, call))
            if call == 0 and letter == 'A':
                _check('discriminator activation', tensors, _recorded(case, 'D/call0/act/'))
            exact = reference.discriminator(
                weights, scope, case.inputs(f'x_{letter}')[0], n_dis=case.architecture.n_dis
            )
            for kind, value in _discriminator_outputs(exact).items():
                _check_against_float64(kind, outputs[kind], value, noise[kind])
            for name, value in exact.u_after.items():
                u = discriminator.named_variables[name].numpy()
                _check_against_float64('u_after', u, value, noise['u_after'])
            weights.update(exact.u_after)


def _official_outputs(case: GoldenCase, letter: str, call: int) -> Tensors:
    found = _recorded(case, f'D/call{call}/{letter}/')
    assert len(found) == 6
    return found


def _call(discriminator: Discriminator, case: GoldenCase, letter: str, call: int) -> Tuple[Tensors, Tensors]:
    """One call as the official code makes it: `u` advances. Checks `u` before and after."""
    _check_u(discriminator, _recorded(case, f'D/call{call}/u_before/'), 'u before')
    recorder = Recorder()
    output = discriminator(tf.constant(case.inputs(f'x_{letter}')[0]), Call(tap=recorder))
    discriminator.store(discriminator.power_iterations())
    _check_u(discriminator, _recorded(case, f'D/call{call}/u_after/'), 'u after')
    return recorder.tensors, _discriminator_outputs(output)


def _check_u(discriminator: Discriminator, official: Tensors, kind: str) -> None:
    own = {name: v.numpy() for name, v in discriminator.named_variables.items() if name.endswith('/u')}
    _check(kind, own, {name: value for name, value in official.items() if name in own})
    assert set(own) <= set(official)


def test_shared_vectors_give_the_same_bits(golden: pathlib.Path):
    """Computing the power iterations once for all passes of an update is what each pass would compute itself."""
    case = golden_case(golden, 'light_i64_c4_d5_smooth')
    discriminator = case.network('discriminator_A')
    x = tf.constant(case.inputs('x_A')[0])
    alone = _discriminator_outputs(discriminator(x))
    shared = _discriminator_outputs(discriminator(x, Call(vectors=discriminator.power_iterations())))
    assert all(np.array_equal(alone[name], shared[name]) for name in alone)


@pytest.mark.parametrize('tag', ['light_i32_c4_d4_plain', 'full_i32_c4_d4_nosmooth'])
def test_the_traced_network_gives_the_official_pictures_too(tag: str, golden: pathlib.Path):
    case = golden_case(golden, tag)
    generator = tf.function(case.network('generator_B'))
    for i, x in enumerate(case.inputs('x_A')):
        outputs = _generator_outputs(generator(tf.constant(x)))
        official = {kind: case.recorded[f'a2b/{kind}/{i}'] for kind in outputs}
        _check('traced picture, cam logits, heat map', outputs, official)


@pytest.mark.parametrize('tag', ['light_i64_c4_d5_smooth', 'full_i32_c4_d4_nosmooth'])
def test_a_batch_of_four_equals_four_of_one(tag: str, golden: pathlib.Path):
    case = golden_case(golden, tag)
    generator, noise = case.network('generator_B'), float64_noise(golden, tag)
    x = np.concatenate([*case.inputs('x_A'), *case.inputs('x_B')])[:4]
    assert len(x) == 4
    together = _generator_outputs(generator(tf.constant(x)))
    for i in range(4):
        alone = _generator_outputs(generator(tf.constant(x[i : i + 1])))
        for kind, value in alone.items():
            found = _measured('batch of four against one', deviation(together[kind][i : i + 1], value))
            # Where these weights themselves are known to be noisier: two float32 results are apart by both distances.
            assert found <= max(tolerances.TOGETHER, 2 * noise[f'a2b/{kind}'])


def test_two_runs_give_the_same_bits_and_inference_leaves_u_alone(case: GoldenCase):
    for scope in ('generator_B', 'discriminator_A') if _recorded(case, 'D/') else ('generator_B',):
        network, x = case.network(scope), tf.constant(case.inputs('x_A')[0])
        before = {name: variable.numpy() for name, variable in network.named_variables.items()}
        first, second = (tf.nest.flatten(network(x)) for _ in range(2))
        assert all(np.array_equal(a, b) for a, b in zip(first, second))
        assert all(np.array_equal(before[name], v.numpy()) for name, v in network.named_variables.items())


def test_what_a_change_of_a_thousandth_does_is_seen(golden: pathlib.Path):
    """The control: the comparison fails for a network that is a little wrong."""
    case = golden_case(golden, 'light_i32_c4_d4_plain')
    generator = case.network('generator_B')
    kernel = generator.named_variables['generator_B/resblock_0/res1/conv_0/conv2d/kernel']
    kernel.assign(kernel * (1.0 + 1e-3 * np.random.RandomState(0).normal(size=kernel.shape)))
    image = generator(tf.constant(case.inputs('x_A')[0])).image.numpy()
    assert deviation(image, case.recorded['a2b/image/0']) > tolerances.OFFICIAL_OUTPUT


def test_every_crosschecked_case_is_compared(golden: pathlib.Path):
    assert set(json.loads((golden / 'fp64_crosscheck.json').read_text())) == set(TAGS)
