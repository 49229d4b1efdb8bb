"""What is decided once, when the page starts: which direction comes first, which examples, what stays in memory."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tests.diagnosis import tiny
from ugatit.checkpoints.slimming import slim
from ugatit.errors import UserError
from ugatit.inference.model import choose_model
from ugatit.inference.portrait import portrait
from ugatit.web import models as models_module
from ugatit.web.calibration import Calibration
from ugatit.web.models import Arithmetic, Models
from ugatit.web.run import _calibration, _examples, _first_direction


def _models(checkpoint: pathlib.Path, folder: pathlib.Path, **sources: str) -> Models:
    choice = choose_model(str(checkpoint), 'a2b', 'float32', 'ieee', 'default', 'cpu', tiny.SIZE)
    return Models(choice, Calibration(sources), folder / 'own')


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tiny.write_checkpoint(tmp_path_factory.mktemp('tiny') / 'model')


@pytest.mark.parametrize('direction', ['a2b', 'b2a'])
def test_a_checkpoint_of_one_direction_begins_with_it(
    checkpoint: pathlib.Path, tmp_path: pathlib.Path, direction: str
) -> None:
    slim(checkpoint, tmp_path / 'slim', (direction,))
    models = _models(tmp_path / 'slim', tmp_path)
    assert _first_direction(models) == direction
    with pytest.raises(UserError):
        models.translator({'a2b': 'b2a', 'b2a': 'a2b'}[direction])


def test_another_model_gets_the_portrait_and_stand_ins(checkpoint: pathlib.Path, tmp_path: pathlib.Path) -> None:
    ((path, direction),) = _examples(False, tmp_path)
    assert direction == 'a2b' and path.is_file()
    found = _calibration(False, (None, None)).of('a2b', 64)
    assert found.images.shape == (4, 64, 64, 3) and np.abs(found.images).max() <= 1.0
    assert found.headroom_bits == 2.0 and 'no pictures were named' in found.words
    assert portrait().shape == (256, 256, 3)


def test_the_demo_has_its_own_pictures_and_named_ones_come_first(tmp_path: pathlib.Path) -> None:
    examples = _examples(True, tmp_path)
    assert [direction for _, direction in examples] == 6 * ['a2b'] + 6 * ['b2a']
    pictures = tiny.write_pictures(tmp_path / 'mine', count=3)
    found = _calibration(True, (str(pictures), None))
    assert [found.of(direction, 16).words for direction in ('a2b', 'b2a')] == ['3 pictures', '6 pictures']


def test_memory_holds_few_sets_of_weights(
    checkpoint: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_module, '_MOST_LIGHT', 2)
    models = _models(checkpoint, tmp_path)
    image = np.linspace(-1, 1, 16 * 16 * 3, dtype=np.float32).reshape(1, 16, 16, 3)
    before = models.translator('a2b')(image).image
    for direction in ('b2a', 'a2b', 'b2a'):
        for kind in ('float32', 'planned'):
            models.translator(direction, Arithmetic(kind))
            assert len(models._weights) <= 2
    assert np.array_equal(models.translator('a2b')(image).image, before)


def test_arithmetics_without_a_plan_share_one_set(checkpoint: pathlib.Path, tmp_path: pathlib.Path) -> None:
    models = _models(checkpoint, tmp_path)
    for kind, overflow in (('float32', 'ieee'), ('plain', 'ieee'), ('plain', 'saturate')):
        translator = models.translator('a2b', Arithmetic(kind, overflow))
        assert translator is models.translator('a2b', Arithmetic(kind, overflow))
        assert translator.policy == Arithmetic(kind, overflow).policy()
    assert len(models._weights) == 1


def test_ranges_are_remembered_by_content(
    checkpoint: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_module, '_MOST_PROFILES', 2)
    models = _models(checkpoint, tmp_path)
    pictures = [np.full((1, 16, 16, 3), level, np.float32) * np.linspace(-1, 1, 16)[:, None] for level in (0.5, 0.7, 1)]
    first, other, third = (models.profile('a2b', False, picture.astype(np.float32)) for picture in pictures)
    assert len(models._profiles) == 2
    assert models.profile('a2b', False, pictures[2].astype(np.float32)) is third
    again = models.profile('a2b', False, pictures[0].astype(np.float32))
    assert again is not first and dict(again) == dict(first) and dict(first) != dict(other)
