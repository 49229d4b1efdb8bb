"""The demo faces: seeded, of two kinds, none both learned from and tested on, and a command that says what is wrong."""

from __future__ import annotations

import itertools
import pathlib
import sys
from typing import Dict, List

import numpy as np
import pytest

from tests import tolerances
from ugatit.checkpoints.demo import demo_pictures
from ugatit.data.__main__ import main
from ugatit.data.avatars import STYLES, drawer, faces_of
from ugatit.data.decode import decode_file

SIZE = 32


def _draw(folder: pathlib.Path, *words: str) -> Dict[str, bytes]:
    """Every file that the command wrote, below the folder."""
    assert main([f'--output={folder}', f'--size={SIZE}', '--train=3', '--test=2', *words]) == 0
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob('*.png'))}


def _faces(domain: str, split: str, count: int, seed: int = 0) -> List[str]:
    return [str(face) for face in itertools.islice(faces_of(domain, split, seed), count)]


@pytest.mark.parametrize('domain', STYLES)
def test_no_test_face_is_a_training_face(domain: str) -> None:
    train, test = set(_faces(domain, 'train', 2000)), set(_faces(domain, 'test', 300))
    assert len(train) > 1500 and len(test) > 200
    assert not train & test


@pytest.mark.parametrize('domain', STYLES)
def test_faces_depend_on_the_seed_and_on_nothing_else(domain: str) -> None:
    assert _faces(domain, 'train', 20) == _faces(domain, 'train', 30)[:20]
    assert _faces(domain, 'train', 20) != _faces(domain, 'train', 20, seed=1)


def test_the_licences_are_recorded() -> None:
    assert all(style.licence.startswith('CC0 1.0') and style.source.startswith('https://') for style in STYLES.values())


def test_the_same_seed_gives_the_same_bytes(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip('dicebear', reason='dicebear has no release for Python 3.9')
    first, second = _draw(tmp_path / 'a'), _draw(tmp_path / 'b')
    assert first == second and len(set(first.values())) == len(first) == 10
    assert sorted({name.partition('/')[0] for name in first}) == ['testA', 'testB', 'trainA', 'trainB']
    assert not set(first.values()) & set(_draw(tmp_path / 'c', '--seed=1').values())
    printed = capsys.readouterr().out
    assert '3 in trainA' in printed and 'A: open-peeps, CC0 1.0' in printed and 'B: pixel-art, CC0 1.0' in printed


def test_both_kinds_are_pictures_and_differ(tmp_path: pathlib.Path) -> None:
    pytest.importorskip('dicebear', reason='dicebear has no release for Python 3.9')
    _draw(tmp_path / 'faces')
    a, b = (
        np.stack([decode_file(path).pixels for path in sorted((tmp_path / 'faces' / folder).iterdir())]).astype(float)
        for folder in ('trainA', 'trainB')
    )
    assert a.shape == b.shape == (3, SIZE, SIZE, 3)
    block = SIZE // 16  # a block of domain B is one colour, a line of domain A is none
    assert np.ptp(b.reshape(3, 16, block, 16, block, 3), axis=(2, 4)).max() == 0
    assert np.ptp(a.reshape(3, 16, block, 16, block, 3), axis=(2, 4)).max() > tolerances.AVATAR_LINE_LEVELS
    for pixels in (a, b):
        for share in ((pixels < tolerances.AVATAR_INK).mean(), (pixels == 255).mean()):
            assert share > tolerances.AVATAR_SHARE


@pytest.mark.parametrize('domain', STYLES)
def test_the_pictures_that_come_with_the_demo_model_are_drawn_again(domain: str) -> None:
    pytest.importorskip('dicebear', reason='dicebear has no release for Python 3.9')
    stored = sorted(demo_pictures('a2b' if domain == 'A' else 'b2a').iterdir())
    draw = drawer(STYLES[domain], 64)
    assert len(stored) >= 4
    for path, face in zip(stored, faces_of(domain, 'test', 0)):
        assert draw(face) == path.read_bytes(), path.name


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ([], '--output is needed'),
        (['--output=FULL'], 'exists already and is left as it is'),
        (['--output=OUT', '--size=4'], 'from 8 to 4096'),
        (['--output=OUT', '--train=-1'], 'from 0 to 99999'),
        (['--output=OUT', '--seed=x'], '--seed'),
        (['--outptu=OUT'], 'did you mean --output?'),
    ],
)
def test_mistakes(words: List[str], said: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / 'full' / 'trainB').mkdir(parents=True)
    (tmp_path / 'full' / 'trainB' / 'mine.txt').write_text('mine')
    filled = [word.replace('FULL', str(tmp_path / 'full')).replace('OUT', str(tmp_path / 'out')) for word in words]
    pytest.importorskip('dicebear', reason='dicebear has no release for Python 3.9')
    assert main(filled) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / 'out').exists() and not (tmp_path / 'full' / 'trainA').exists()


def test_without_the_libraries_it_says_what_to_install(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, 'dicebear', None)
    assert main([f'--output={tmp_path / "out"}']) == 2
    assert "pip install -e '.[demo]' (Python 3.10 or newer)" in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()
