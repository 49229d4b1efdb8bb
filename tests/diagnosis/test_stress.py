"""A healthy checkpoint made to overflow: the same float32 picture, and values where they were asked for."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tests import tolerances
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.diagnosis.stress import Stressed, bits_to_reach, group_amax, matching_groups, stress, stress_text
from ugatit.errors import UserError
from ugatit.planning import profile_ranges
from ugatit.translate import load

GROUPS = ('conv', 'encoder', 'decoder', 'up_conv_0', 'up_conv_1')


@pytest.fixture(scope='module')
def stressed(checkpoint: pathlib.Path, images: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """(folder, what was done to a2b) with the default groups and reach."""
    folder = tmp_path_factory.mktemp('stress') / 'out'
    _, done = stress(checkpoint, folder, {'a2b': images})
    return folder, done[0]


def test_float32_keeps_every_bit_and_float16_loses_the_picture(stressed: tuple, images: np.ndarray) -> None:
    folder, done = stressed
    assert done.proof.ours.picture_bits and done.proof.ours.logit_bits
    assert done.proof.official.picture_levels < tolerances.STRESS_LEVELS
    assert len(done.proof.over()) > 5 and done.findings[0].result is not None
    wanted = load(folder)(images).image
    saturated = load(folder, precision='mixed_float16', overflow='saturate')(images).image
    healthy = load(folder, 'b2a', precision='mixed_float16', overflow='saturate')(images).image
    assert np.abs(saturated - wanted).max() > tolerances.DESTROYED_PICTURE
    assert np.abs(healthy - load(folder, 'b2a')(images).image).max() < tolerances.DESTROYED_PICTURE  # the control


def test_the_chosen_groups_reach_what_was_asked(stressed: tuple, images: np.ndarray) -> None:
    folder, done = stressed
    translate = load(folder)
    reached = group_amax(profile_ranges(translate, images), translate.generator.range_members())
    assert set(done.bits) == {'decoder', 'up_conv_0', 'up_conv_1'}
    assert all(271823.0 <= reached[group] < 2 * 271823.0 for group in done.bits)
    assert reached['encoder'] < 1000.0


def test_the_other_generator_is_copied_bit_for_bit(checkpoint: pathlib.Path, stressed: tuple) -> None:
    before, after = CheckpointReader(checkpoint), CheckpointReader(stressed[0])
    names = [name for name in before.variables() if name.startswith('generator_A/')]
    assert names and all(np.array_equal(before.read_one(name), after.read_one(name)) for name in names)


def test_stress_text(stressed: tuple) -> None:
    text = stress_text(stressed[1])
    assert 'the same float32 picture bit for bit' in text and 'decoder 2**' in text and 'max ' in text


def test_nothing_to_do_says_so(stressed: tuple) -> None:
    done: Stressed = stressed[1]
    assert 'nothing changed' in stress_text(Stressed(done.direction, {'decoder': 0}, done.proof, done.findings))


@pytest.mark.parametrize(
    ('amax', 'reach', 'bits'),
    [(1.0, 1.0, 0), (1.0, 1.5, 1), (1.0, 2.0, 1), (3.0, 271823.0, 17), (5.0, 1.0, 0), (0.0, 9.0, 0)],
)
def test_bits_to_reach(amax: float, reach: float, bits: int) -> None:
    assert bits_to_reach(amax, reach) == bits


def test_groups_by_name_and_by_pattern() -> None:
    legal = dict.fromkeys(GROUPS)
    assert matching_groups('encoder, conv', legal) == ['encoder', 'conv']
    assert matching_groups(r'up_conv_\d', legal) == ['up_conv_0', 'up_conv_1']


@pytest.mark.parametrize(('groups', 'said'), [('nosuch', 'there are conv, encoder'), ('(', 'does not compile')])
def test_wrong_groups(groups: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        matching_groups(groups, dict.fromkeys(GROUPS))


def test_beyond_float32_is_refused_before_anything_is_written(
    checkpoint: pathlib.Path, images: np.ndarray, tmp_path: pathlib.Path
) -> None:
    """Squares first, which are twice as many powers of two larger; then the exponents themselves."""
    stress(checkpoint, tmp_path / 'once', {'a2b': images}, 'up_conv_0', bits=30)
    with pytest.raises(UserError, match='too large for float32'):
        stress(tmp_path / 'once', tmp_path / 'twice', {'a2b': images}, 'up_conv_0', bits=30)
    with pytest.raises(UserError, match='too large for float32|within -60..60'):
        stress(tmp_path / 'once', tmp_path / 'twice', {'a2b': images}, 'up_conv_0', bits=40)
    assert not (tmp_path / 'twice').exists()


def test_a_spoiled_result_does_not_stay(
    checkpoint: pathlib.Path, images: np.ndarray, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 3 in the command; nothing is left that somebody could take for a stressed checkpoint."""
    monkeypatch.setattr('ugatit.diagnosis.stress.spoiled', lambda stressed: ['a2b'])
    stress(checkpoint, tmp_path / 'out', {'a2b': images}, 'decoder', bits=1)
    assert not (tmp_path / 'out').exists()
    (tmp_path / 'mine').mkdir()
    (tmp_path / 'mine' / 'notes.txt').write_text('mine')
    stress(checkpoint, tmp_path / 'mine', {'a2b': images}, 'decoder', bits=1)
    assert [path.name for path in (tmp_path / 'mine').iterdir()] == ['notes.txt']
