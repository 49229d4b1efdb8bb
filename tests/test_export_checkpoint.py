"""`export.py --format=checkpoint`: the drop-in cure, as typed, in our hands and in those of code that knows nothing."""

from __future__ import annotations

import json
import pathlib
from typing import List

import numpy as np
import pytest
import tensorflow as tf

import export
from tests import tolerances
from tests.diagnosis import tiny
from ugatit.checkpoints.folding import fold_exponents
from ugatit.checkpoints.naming import PROJECT_STATE
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.cli.main import run
from ugatit.export.checkpoint import cure, plan_directions
from ugatit.nn.blueprint import variable_specs
from ugatit.planning import profile_ranges
from ugatit.ranges import RangePlan
from ugatit.ranges.kinds import INPUT, SQUARE
from ugatit.translate import load, load_as_official

BROKEN = {'generator_B': {'decoder': -18, 'up_conv_0': -17, 'encoder': -15, 'cam': -16}}
TAGS = ('overflow_light_i64_c16', 'overflow_full_i64_c8')


@pytest.fixture(scope='module')
def pictures(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with three pictures."""
    return tiny.write_pictures(tmp_path_factory.mktemp('pictures'))


@pytest.fixture(scope='module')
def broken(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A checkpoint, written as the official code would, whose a2b direction overflows float16 in four groups."""
    folder = tmp_path_factory.mktemp('broken')
    fold_exponents(tiny.write_checkpoint(folder / 'healthy'), BROKEN, folder / 'folded')
    reader = CheckpointReader(folder / 'folded')
    names = [name for name in reader.variables() if not name.startswith(f'{PROJECT_STATE}folded/')]
    (folder / 'plain').mkdir()
    tf.raw_ops.SaveV2(
        prefix=str(folder / 'plain' / 'UGATIT_light.model-7'), tensor_names=names, shape_and_slices=[''] * len(names),
        tensors=[reader.read_one(name) for name in names],
    )  # fmt: skip
    return folder / 'plain'


@pytest.fixture(scope='module')
def cured(broken: pathlib.Path, pictures: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """What the command made of it; `report.json` lies in the folder above."""
    output = tmp_path_factory.mktemp('cure') / 'cured'
    assert _run(f'--checkpoint={broken}', f'--output={output}', f'--calibration_a={pictures}',
                f'--calibration_b={pictures}', f'--json={output.parent / "report.json"}') == 0  # fmt: skip
    return output


def _run(*words: object) -> int:
    return run(export.main, export.FLAGS, [str(word) for word in words])


def _report(cured: pathlib.Path) -> dict:
    return json.loads((cured.parent / 'report.json').read_text('utf-8'))


def test_official_names_and_shapes_and_no_slots(cured: pathlib.Path) -> None:
    reader = CheckpointReader(cured)
    expected = {**variable_specs(tiny.TINY, 'generator_A'), **variable_specs(tiny.TINY, 'generator_B')}
    stored = {name: found for name, found in reader.variables().items() if not name.startswith(PROJECT_STATE)}
    assert {name: spec.shape for name, spec in expected.items()} == {name: s.shape for name, s in stored.items()}


def test_our_runtime_keeps_every_bit(broken: pathlib.Path, cured: pathlib.Path) -> None:
    images = _noise()
    for direction in ('a2b', 'b2a'):
        before, after = load(broken, direction)(images), load(cured, direction)(images)
        for found, wanted in zip(after, before):
            assert np.array_equal(found, wanted)


def test_code_that_knows_no_exponents_fits_float16(cured: pathlib.Path) -> None:
    official = load_as_official(cured)
    stored = {t.name: t.amax for t in profile_ranges(official, _noise()).values() if t.kind not in (SQUARE, INPUT)}
    assert max(stored.values()) < 65504.0


def test_the_report_is_what_official_code_does(
    broken: pathlib.Path, cured: pathlib.Path, pictures: pathlib.Path
) -> None:
    found = _report(cured)['generators']
    assert found['a2b']['our_runtime']['picture_bits'] and found['a2b']['our_runtime']['logit_bits']
    assert found['a2b']['over_65504'] == [] and set(found['a2b']['exponents']) >= {'decoder', 'up_conv_0'}
    assert found['b2a']['exponents'] == {} and found['b2a']['unaware_code']['picture_bits']
    assert found['b2a']['epsilon_effects'] == [] and found['b2a']['output_effect']['logits_kept']


def test_logits_of_unaware_code_are_scaled_as_announced(broken: pathlib.Path, cured: pathlib.Path) -> None:
    """cam_scale * (pooled . kernel) + bias_scale * bias, to float32 rounding."""
    effect = _report(cured)['generators']['a2b']['output_effect']
    assert not effect['logits_kept'], 'the control: the encoder and the CAM are scaled here'
    bias = CheckpointReader(broken).read_one('generator_B/CAM_logit/bias').numpy()[0]
    wanted = load(broken)(_noise()).cam_logits.astype(np.float64) - bias
    found = load_as_official(cured)(_noise()).cam_logits
    expected = effect['cam_scale'] * wanted + effect['bias_scale'] * bias
    np.testing.assert_allclose(found, expected, rtol=tolerances.CAM_SCALING, atol=tolerances.CAM_SCALING * abs(bias))


def test_an_epsilon_that_matters_is_announced(tmp_path: pathlib.Path) -> None:
    """A plan far larger than needed: variances shrink to the size of epsilon, and the picture of unaware code moves."""
    checkpoint = tiny.write_checkpoint(tmp_path / 'healthy')
    plan = RangePlan({'generator_B': {'up_conv_0': 9}})
    made = cure(checkpoint, plan, tmp_path / 'out', {'a2b': _noise()}).generators['a2b']
    assert made.proof.ours.picture_bits and not made.proof.official.picture_bits
    assert made.epsilons[0].norm == 'generator_B/layer_ins_norm_0' and not made.epsilons[0].rounds_away
    assert made.proof.official.picture_levels > 1.0


def test_a_plan_from_a_file(broken: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path,
                            capsys: pytest.CaptureFixture) -> None:  # fmt: skip
    plan = plan_directions(broken, {'a2b': _noise()}, headroom_bits=2.0)
    plan.save(tmp_path / 'plan.json')
    assert _run(f'--checkpoint={broken}', f'--output={tmp_path / "out"}', f'--ranges={tmp_path / "plan.json"}') == 0
    told = capsys.readouterr()
    assert 'tried out on seeded noise' in told.err and 'a2b: folded' in told.out and 'b2a' not in told.out


def test_the_size_that_is_measured_is_said(
    broken: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    _run(f'--checkpoint={broken}', f'--output={tmp_path / "out"}', f'--calibration_a={pictures}')
    told = capsys.readouterr().err
    assert 'a2b: measuring 3 pictures of 16x16' in told and told.count('architecture: ') == 1


def test_what_does_not_fit_is_exit_code_3(broken: pathlib.Path, tmp_path: pathlib.Path) -> None:
    RangePlan({'generator_B': {'up_conv_0': 1}}).save(tmp_path / 'plan.json')
    assert _run(f'--checkpoint={broken}', f'--output={tmp_path / "out"}', f'--ranges={tmp_path / "plan.json"}') == 3


@pytest.mark.parametrize('networks', [{}, {'discriminator_A': {}}])
def test_a_plan_for_nothing_there_is_refused(
    networks: dict, broken: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    RangePlan(networks).save(tmp_path / 'plan.json')
    assert _run(f'--checkpoint={broken}', f'--output={tmp_path / "out"}', f'--ranges={tmp_path / "plan.json"}') == 2
    assert 'A range plan for generator_A or generator_B is expected' in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--format=onnxx', '--checkpoint=CHECKPOINT', '--output=OUT'], '--format must be one of checkpoint'),
        (['--checkpoint=CHECKPOINT', '--output=OUT', f'--pictures={10**20}'], 'from 1 to 4096'),
        (['--output=OUT'], '--checkpoint is needed'),
        (['--checkpoint=CHECKPOINT'], '--output is needed'),
        (['--checkpoint=CHECKPOINT', '--output=OUT'], 'needs calibration pictures'),
        (['--checkpoint=CHECKPOINT', '--output=OUT', '--ranges=nowhere.json'], 'nowhere.json'),
        (['--checkpoint=CHECKPOINT', '--output=CHECKPOINT', '--calibration_a=PICTURES'], 'exists already'),
        (['--checkpoint=CHECKPOINT', '--output=OUT', '--calibration_a=nowhere'], 'nowhere'),
    ],
)
def test_mistakes_are_one_sentence(
    words: List[str], said: str, broken: pathlib.Path, pictures: pathlib.Path, tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    for name, place in {'CHECKPOINT': broken, 'PICTURES': pictures, 'OUT': tmp_path / 'out'}.items():
        words = [word.replace(name, str(place)) for word in words]
    assert _run(*words) == 2
    error = capsys.readouterr().err
    assert said in error and 'Traceback' not in error
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('tag', TAGS)
def test_golden_overflow(golden: pathlib.Path, tag: str, tmp_path: pathlib.Path) -> None:
    """The checkpoints whose numbers are those reported from the Ascend 910: cured, and the same bits for everyone."""
    size = 64 if 'light' in tag else None
    with np.load(golden / 'outputs' / f'{tag}.npz') as recorded:
        images = {
            direction: np.concatenate([recorded[f'in/{domain}/{i}'] for i in range(3)])
            for direction, domain in (('a2b', 'x_A'), ('b2a', 'x_B'))
        }
    checkpoint = golden / 'checkpoints' / tag
    made = cure(checkpoint, plan_directions(checkpoint, images, image_size=size), tmp_path / 'out', images, size)
    assert made.unfitted() == [] and made.plan.notes == ()
    for generator in made.generators.values():
        assert generator.proof.ours.picture_bits and generator.proof.official.picture_bits
        assert generator.proof.official.logit_bits and generator.outputs.logits_kept
        assert generator.proof.largest().amax <= 65504.0 / 2
    assert made.generators['a2b'].exponents['up_conv_0'] == 4 and made.generators['b2a'].exponents == {}
    assert all(effect.rounds_away for effect in made.generators['a2b'].epsilons)


def _noise() -> np.ndarray:
    random = np.random.RandomState(5)
    return random.uniform(-1, 1, (2, tiny.SIZE, tiny.SIZE, 3)).astype(np.float32)
