"""The weights that come with the project: small, whole, found, and drawing what they drew when they were stored."""

from __future__ import annotations

import pathlib
import shutil

import numpy as np
import pytest

import ugatit
import ugatit.checkpoints.demo as demo
from benchmarks.demo_model import check_faces
from tests import tolerances
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.data.avatars import make_avatars
from ugatit.data.convert import to_float, to_uint8
from ugatit.data.decode import decode_file
from ugatit.errors import UserError
from ugatit.nn.architecture import GENERATORS

STORED = pathlib.Path(__file__).resolve().parent / 'demo_model'  # what the model drew of the first picture of each kind
LARGEST = 6_000_000  # bytes of weights that a clone may be asked to carry


def test_generators_alone_and_no_more_than_six_megabytes() -> None:
    reader = CheckpointReader(demo.demo_checkpoint())
    assert sum(path.stat().st_size for path in demo.demo_checkpoint().glob('*.data-*')) <= LARGEST
    assert {name.partition('/')[0] for name in reader.variables()} - {'ugatit'} == set(GENERATORS)


@pytest.mark.parametrize(('direction', 'name'), [('a2b', 'line_1'), ('b2a', 'block_1')])
def test_it_draws_what_it_drew(direction: str, name: str) -> None:
    translate = ugatit.load(direction=direction, device='cpu')
    assert (translate.image_size, translate.architecture.light, translate.architecture.ch) == (64, True, 16)
    pictures = demo.demo_pictures(direction)
    inputs = np.stack([to_float(decode_file(pictures / f'{name[:-1]}{i}.png').pixels) for i in (1, 2)])
    first, second = to_uint8(translate(inputs).image).astype(int)
    wanted = decode_file(STORED / f'{name}_{direction}.png').pixels.astype(int)
    assert np.abs(first - wanted).max() <= tolerances.DEMO_LEVELS
    assert np.abs(second - wanted).max() > tolerances.DEMO_ANOTHER_FACE  # another face is another picture
    assert np.abs(first - to_uint8(inputs[0])).mean() > tolerances.DEMO_NO_COPY  # and a translation is no copy


def test_a_wheel_has_the_same_folder_inside(repository: pathlib.Path) -> None:
    inside = repository / 'ugatit' / '_demo'
    assert inside.is_symlink() and inside.resolve() == (repository / 'checkpoints' / 'demo').resolve()


def test_a_folder_that_is_gone_is_one_sentence(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, '_FOLDERS', (tmp_path / 'checkpoints' / 'demo', tmp_path / '_demo'))
    with pytest.raises(UserError, match='the demo model should be in .*, but it is missing; install ugatit again'):
        ugatit.load()
    shutil.copytree(demo.__file__.replace('checkpoints/demo.py', '_demo'), tmp_path / '_demo')
    assert demo.demo_pictures('b2a') == tmp_path / '_demo' / 'pictures' / 'B'


def test_directions_of_pictures() -> None:
    assert {path.name[:5] for path in demo.demo_pictures('a2b').iterdir()} == {'line_'}
    with pytest.raises(UserError, match='direction must be one of'):
        demo.demo_pictures('both')


def test_what_is_kept_is_measured_on_the_known_faces_only(tmp_path: pathlib.Path) -> None:
    """Skin and clothes of a test face are known from its number and the seed: with another seed they are another's."""
    with pytest.raises(UserError, match='testA should hold the demo faces, but it is empty or missing'):
        check_faces(tmp_path)
    pytest.importorskip('dicebear', reason='dicebear has no release for Python 3.9')
    for seed in (0, 1):
        make_avatars(tmp_path / str(seed), train=0, test=1, size=32, seed=seed)
    check_faces(tmp_path / '0')
    with pytest.raises(UserError, match='should be the first test face of seed 0, .* another picture; draw them with'):
        check_faces(tmp_path / '1')
