"""Any mistake: what infer.py says to it in one sentence, with which exit code, and that nothing half-written stays.

Kinds: flags, checkpoints, places, range plans and variants, and pictures (tests/bad_pictures.py).
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Dict, List, NamedTuple, Sequence, Tuple

import numpy as np
import pytest

import infer
from tests import bad_checkpoints, bad_pictures, bad_words
from tests.data import odd_files as odd
from tests.inference.tiny import SIZE, share_models, write_tiny
from ugatit.cli.main import run
from ugatit.data.convert import to_float
from ugatit.data.dataset import Loading
from ugatit.data.decode import decode_file
from ugatit.data.resize import resize
from ugatit.inference.inputs import find_inputs, prepare
from ugatit.inference.settings import Settings
from ugatit.nn.architecture import Architecture

pytestmark = pytest.mark.filterwarnings('ignore::UserWarning:PIL')


class Place(NamedTuple):
    """A folder to make mistakes in; `photo` is a good picture, `model` a good checkpoint."""

    root: pathlib.Path
    photo: pathlib.Path
    model: pathlib.Path


@pytest.fixture(scope='module')
def model(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_tiny(tmp_path_factory.mktemp('model'))


@pytest.fixture
def place(tmp_path: pathlib.Path, model: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    share_models(monkeypatch)
    monkeypatch.chdir(tmp_path)
    photo = tmp_path / 'photo.png'
    photo.write_bytes(odd.encode(odd.photo()))
    return Place(tmp_path, photo, model)


def _infer(place: Place, words: Sequence[str], capsys: pytest.CaptureFixture) -> Tuple[int, str]:
    """Exit code and stderr; braces in words are filled in. Checkpoint, input and output are good unless given."""
    filled = [word.format(**place._asdict(), root_name=place.root.name) for word in words]
    given = {word.partition('=')[0] for word in filled}
    usual = {'--checkpoint': place.model, '--input': place.photo, '--output': place.root / 'out', '--device': 'cpu'}
    if any(not word.startswith('-') for word in filled):
        del usual['--input']
    filled += [f'{name}={value}' for name, value in usual.items() if name not in given]
    code = run(infer.main, infer.FLAGS, filled)
    stdout, stderr = capsys.readouterr()
    assert 'Traceback' not in stderr and stdout == ''
    return code, stderr


def _tree(root: pathlib.Path) -> Dict[str, bytes]:
    """Every file below root with its content; folders and links as marks."""
    found = {}
    for path in sorted(root.rglob('*')):
        name = os.fsencode(path.relative_to(root)).decode('utf-8', 'backslashreplace')
        found[name] = path.read_bytes() if path.is_file() else b'<folder or link>'
    return found


def _check_refused(place: Place, words: Sequence[str], sentence: str, capsys: pytest.CaptureFixture) -> None:
    """Exit code 2, the sentence alone on the last line, and nothing on disk is different."""
    before = _tree(place.root)
    code, stderr = _infer(place, words, capsys)
    last = stderr.rstrip('\n').split('\n')[-1]
    assert re.search(sentence, last), stderr
    assert last.startswith('error: ') and stderr.count('error: ') == 1
    assert code == 2
    assert _tree(place.root) == before


@pytest.mark.parametrize('case', bad_words.FLAGS)
def test_flags(place: Place, case: str, capsys: pytest.CaptureFixture) -> None:
    words, sentence = bad_words.FLAGS[case]
    _check_refused(place, words.split(), sentence, capsys)


def test_a_gpu_that_is_not_there(place: Place, capsys: pytest.CaptureFixture) -> None:
    import tensorflow as tf

    if tf.config.list_physical_devices('GPU'):
        pytest.skip('this machine has a GPU')
    _check_refused(place, ['--device=gpu'], r'--device=gpu needs a GPU that TensorFlow can use, but', capsys)


@pytest.mark.parametrize('case', bad_checkpoints.CHECKPOINTS)
def test_checkpoints(place: Place, case: str, capsys: pytest.CaptureFixture) -> None:
    make, sentence = bad_checkpoints.CHECKPOINTS[case]
    _check_refused(place, [f'--checkpoint={make(place.root)}'], sentence, capsys)


def test_a_full_models_size_is_fixed(place: Place, capsys: pytest.CaptureFixture) -> None:
    full = Architecture(image_size=SIZE, ch=2, n_res=1, n_dis=4)
    words = [f'--checkpoint={bad_checkpoints.copy(place.root, full)}', '--image_size=32']
    sentence = (
        r'image_size 32 was asked for, but .* full model, whose MLP fixes it to 16; use that size, or a light model'
    )
    _check_refused(place, words, sentence, capsys)


@pytest.mark.parametrize('path', ['/home/author/UGATIT_light.model-5', r'C:\work\UGATIT_light.model-5', 'model-9'])
def test_a_moved_checkpoint_is_found(place: Place, path: str, capsys: pytest.CaptureFixture) -> None:
    folder = bad_checkpoints.copy(place.root)
    (folder / 'checkpoint').write_text(f'model_checkpoint_path: "{path}"\n')
    for given in (
        folder,
        folder.parent / 'model',
        folder / 'UGATIT_light.model-5',
        folder / 'UGATIT_light.model-5.index',
    ):
        code, stderr = _infer(place, [f'--checkpoint={given}', '--input={root}/photo.png'], capsys)
        assert code == 0 and 'step 5' in stderr
    assert list((place.root / 'out').iterdir()) == [place.root / 'out' / 'photo_a2b.png']


@pytest.fixture
def places(place: Place) -> Place:
    for name in ('empty', 'words', 'nested/deep'):
        (place.root / name).mkdir(parents=True)
    for name in ('a.txt', 'b.txt', '.hidden'):
        (place.root / 'words' / name).write_text('words')
    (place.root / 'nested' / 'deep' / 'a.png').write_bytes(odd.encode(odd.photo()))
    (place.root / 'taken.png').write_bytes(odd.encode(odd.photo()))
    (place.root / 'link.png').symlink_to(place.photo)
    if hasattr(os, 'mkfifo'):
        os.mkfifo(place.root / 'pipe')
    return place


@pytest.mark.parametrize('case', bad_words.PLACES)
def test_places(places: Place, case: str, capsys: pytest.CaptureFixture) -> None:
    words, sentence = bad_words.PLACES[case]
    _check_refused(places, words.split(), sentence, capsys)


@pytest.mark.parametrize('case', bad_words.PLANS)
def test_range_plans(place: Place, case: str, capsys: pytest.CaptureFixture) -> None:
    content, sentence = bad_words.PLANS[case]
    if content is not None:
        (place.root / 'given').write_text(content)
    _check_refused(place, ['--ranges={root}/given'], sentence, capsys)


@pytest.mark.parametrize('case', bad_words.VARIANTS)
def test_variants(place: Place, case: str, capsys: pytest.CaptureFixture) -> None:
    given, content, sentence = bad_words.VARIANTS[case]
    if content is not None:
        (place.root / 'mine.py').write_text(content)
    _check_refused(place, [f'--variants={given}'], sentence, capsys)


def _write(place: Place, file: bad_pictures.File) -> pathlib.Path:
    folder = place.root / 'given'
    folder.mkdir()
    (folder / file.name).write_bytes(file.content())
    return folder / file.name


@pytest.mark.parametrize('case', bad_pictures.BROKEN)
def test_broken_pictures(place: Place, case: str, capsys: pytest.CaptureFixture) -> None:
    """Alone: exit code 2 and no folder. In company: exit code 1, named at the end, and the others are done."""
    file, sentence = bad_pictures.BROKEN[case]
    path = _write(place, file)
    code, stderr = _infer(place, [f'--input={path}', '--heatmap', '--arrays', '--html'], capsys)
    *_, before_last, last = stderr.rstrip('\n').split('\n')
    assert code == 2 and before_last == '1 failed:'
    assert re.search(sentence, last) and last.startswith(f'  {path}: ')
    assert not (place.root / 'out').exists()
    code, stderr = _infer(place, ['--input={root}/given', '--input={photo}', '--json={root}/out/r.json'], capsys)
    assert code == 1 and stderr.rstrip('\n').split('\n')[-1] == last
    assert sorted(_tree(place.root / 'out')) == ['photo_a2b.png', 'r.json']
    report = json.loads((place.root / 'out' / 'r.json').read_text())
    assert [entry['outcome'] for entry in report['inputs']] == ['failed', 'done']


def test_heic_without_the_package(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, 'pillow_heif', None)
    _write(place, bad_pictures.File('phone.heic', bad_pictures._media(b'heic')))
    code, stderr = _infer(place, ['--input={root}/given'], capsys)
    assert code == 2 and 'an HEIC file: convert it to JPEG or PNG, or: pip install pillow-heif' in stderr


@pytest.mark.parametrize('kind', ['folder', 'link to nothing', 'no permission'])
def test_entries_of_a_folder_that_are_no_files(place: Place, kind: str, capsys: pytest.CaptureFixture) -> None:
    entry = place.root / 'given' / 'b.png'
    entry.parent.mkdir()
    (entry.parent / 'a.png').write_bytes(place.photo.read_bytes())
    if kind == 'folder':
        entry.mkdir()
    elif kind == 'link to nothing':
        entry.symlink_to('nowhere.png')
    else:
        if os.name == 'nt' or os.geteuid() == 0:
            pytest.skip('root may read everything')
        entry.write_bytes(place.photo.read_bytes())
        entry.chmod(0)
    code, stderr = _infer(place, ['--input={root}/given'], capsys)
    assert code == (0 if kind == 'folder' else 1)
    expected = {
        'folder': '1 ignored: b.png (a folder)',
        'link to nothing': 'b.png: expected a readable file, but: No such',
    }
    assert expected.get(kind, 'b.png: expected a readable file, but: Permission denied') in stderr
    assert sorted(_tree(place.root / 'out')) == ['a_a2b.png']


@pytest.mark.parametrize('case', bad_pictures.ODD)
def test_odd_pictures_just_work(place: Place, case: str, capsys: pytest.CaptureFixture) -> None:
    """And what the network sees is what any other command's network sees: one decoder, one resizer."""
    file, warning = bad_pictures.ODD[case]
    path = _write(place, file)
    code, stderr = _infer(place, [f'--input={path.parent}', '--heatmap', '--html'], capsys)
    assert code == 0, stderr
    if warning == '':
        assert 'warning' not in stderr
    elif warning is not None:
        assert re.search(f'^warning: .*{warning}', stderr, re.MULTILINE)
    stem = path.stem if path.suffix else path.name
    assert {entry.name for entry in (place.root / 'out').iterdir()} == {
        f'{stem}_a2b.png', f'{stem}_a2b_heatmap.png', 'gallery_a2b.html',
    }  # fmt: skip
    (source,) = find_inputs([str(path.parent)]).inputs
    expected = to_float(resize(decode_file(path).pixels, SIZE, 'stretch').pixels)
    square = prepare(source, SIZE, Settings()).square
    assert np.array_equal(square, expected)
    assert np.array_equal(to_float(Loading(SIZE).load(path)), square)  # training rounds to uint8: no change here


def test_one_oversized_picture_does_not_stop_the_others(place: Place, capsys: pytest.CaptureFixture) -> None:
    (place.root / 'large.png').write_bytes(odd.encode(odd.photo(100, 100)))
    code, stderr = _infer(place, ['{root}/*.png', '--max_pixels=5000'], capsys)
    assert code == 1 and '1 of 2 pictures translated' in stderr
    assert re.search(r'large.png: expected at most 5000 pixels, found 10000 \(100 x 100\)', stderr)


def test_the_table_is_long_enough() -> None:
    refused = [
        *bad_words.FLAGS,
        *bad_checkpoints.CHECKPOINTS,
        *bad_words.PLACES,
        *bad_words.PLANS,
        *bad_words.VARIANTS,
        *bad_pictures.BROKEN,
    ]
    assert len(refused) >= 60
    assert len(refused) + len(bad_pictures.ODD) >= 120


SUBPROCESSES: List[Tuple[List[str], int, str]] = [
    (['--heatmaps'], 2, r'^error: infer.py has no flag --heatmaps; did you mean --heatmap\?\n$'),
    (['--batch_size=0'], 2, r'^error: --batch_size=0: expected a whole number from 1 to 4096\.\n$'),
    (['nowhere.png'], 2, r'error: expected a picture, a folder or a pattern, but there is no .*nowhere.png'),
    (['--checkpoint=nowhere'], 2, r'error: no checkpoint nowhere: there is no such directory'),
    (['empty.png', '--image_size=8', '--device=cpu'], 2, r'\n1 failed:\n  empty.png: expected a picture .* empty file'),
]


@pytest.mark.parametrize(('words', 'code', 'sentence'), SUBPROCESSES)
def test_as_users_start_it(
    repository: pathlib.Path, tmp_path: pathlib.Path, words: List[str], code: int, sentence: str
) -> None:
    """From another folder, with everything that reaches the terminal."""
    (tmp_path / 'empty.png').write_bytes(b'')
    environment = {name: value for name, value in os.environ.items() if not name.startswith('TF_')}
    program = [sys.executable, str(repository / 'infer.py'), *words]
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, '')
    assert re.search(sentence, done.stderr) and 'Traceback' not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ['empty.png']
