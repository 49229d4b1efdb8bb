"""infer.py --face_crop, in this process: which part is translated, what the results are called, what is said."""

from __future__ import annotations

import json
import pathlib
import sys
import threading
from typing import List

import numpy as np
import pytest
from PIL import Image

import infer
from tests import tolerances
from ugatit.cli.main import run
from ugatit.data import faces
from ugatit.data.decode import decode_file
from ugatit.data.face_crop import find_crop, find_crops

pytestmark = pytest.mark.usefixtures('shared_models')


def _infer(*words: object) -> int:
    return run(infer.main, infer.FLAGS, [str(word) for word in words])


@pytest.fixture
def command(tiny_checkpoint: pathlib.Path, tmp_path: pathlib.Path) -> List[str]:
    return [f'--checkpoint={tiny_checkpoint}', f'--output={tmp_path / "out"}', '--device=cpu', str(tmp_path / 'in')]


@pytest.fixture
def folder(tmp_path: pathlib.Path, golden: pathlib.Path) -> pathlib.Path:
    """one.jpg with a face, two.png with two, none.png without: 480 x 360 pixels each."""
    cv2 = pytest.importorskip('cv2')
    if not hasattr(cv2, 'CascadeClassifier'):
        pytest.skip('this OpenCV has no cascades')
    left, right = (
        Image.open(golden / 'images' / name).resize((180, 180)) for name in ('female_222.jpg', 'female_2321.jpg')
    )
    noise = np.random.default_rng(2).integers(60, 200, (6, 8, 3)).astype(np.uint8)
    where = tmp_path / 'in'
    where.mkdir()
    for name, placed in (('one.jpg', [(right, 250)]), ('two.png', [(left, 20), (right, 260)]), ('none.png', [])):
        canvas = Image.fromarray(noise).resize((480, 360), Image.BICUBIC)
        for picture, x in placed:
            canvas.paste(picture, (x, 90))
        canvas.save(where / name)
    return where


def _names(folder: pathlib.Path) -> List[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_largest_face_of_every_picture(command, folder: pathlib.Path, tmp_path: pathlib.Path, capsys) -> None:
    report = tmp_path / 'report.json'
    assert _infer(*command, '--face_crop=auto', '--keep_size', '--html', '--heatmap', f'--json={report}') == 0
    said = capsys.readouterr().err
    assert f'warning: {folder / "none.png"}: no face was found, so the centre is used' in said
    assert f'warning: {folder / "two.png"}: 2 faces were found, and the largest is used' in said
    entries = {pathlib.Path(entry['input']).name: entry for entry in json.loads(report.read_text())['inputs']}
    assert entries['none.png']['face'] is None and entries['none.png']['crop'] == {'top': 0, 'left': 60, 'side': 360}
    assert (entries['one.jpg']['height'], entries['one.jpg']['width']) == (360, 480)
    crop = entries['one.jpg']['crop']
    assert max(abs(crop['left'] - 250), abs(crop['top'] - 90), abs(crop['side'] - 180)) <= 180 * tolerances.FACE_FRAMING
    for end in ('', '_heatmap'):
        assert decode_file(tmp_path / 'out' / f'one_a2b{end}.png').pixels.shape == (crop['side'], crop['side'], 3)


def test_a_crop_is_translated_as_if_it_had_been_cut_out_before(command, folder, tmp_path: pathlib.Path) -> None:
    assert _infer(*command, '--face_crop=auto', '--arrays') == 0
    pixels = decode_file(folder / 'one.jpg').pixels
    top, left, side = find_crop(pixels).window
    for path in folder.iterdir():
        path.unlink()
    Image.fromarray(pixels[top : top + side, left : left + side]).save(folder / 'cut.png')
    assert _infer(*command, '--arrays') == 0
    assert np.array_equal(np.load(tmp_path / 'out' / 'one_a2b.npy'), np.load(tmp_path / 'out' / 'cut_a2b.npy'))


def test_every_face_has_a_result_of_its_own(command, folder: pathlib.Path, tmp_path: pathlib.Path, capsys) -> None:
    (folder / 'broken.png').write_bytes(b'\x89PNG\r\n\x1a\n')
    assert _infer(*command, '--face_crop=all', '--html') == 1
    assert '4 of 5 pictures translated' in capsys.readouterr().err
    named = ['gallery_a2b.html', 'none_a2b.png', 'one_a2b.png', 'two_face1_a2b.png', 'two_face2_a2b.png']
    assert _names(tmp_path / 'out') == named
    left, right = (decode_file(tmp_path / 'out' / f'two_face{number}_a2b.png').pixels for number in (1, 2))
    assert not np.array_equal(left, right)


def test_a_result_is_put_back_into_its_photograph(command, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert _infer(*command, '--face_crop=auto', '--paste_back') == 0
    before = decode_file(folder / 'two.png').pixels
    after = decode_file(tmp_path / 'out' / 'two_a2b.png').pixels
    top, left, side = find_crop(before).window
    inside = np.zeros(before.shape[:2], bool)
    inside[top : top + side, left : left + side] = True
    assert np.array_equal(after[~inside], before[~inside])
    centre = np.s_[top + side // 3 : top + 2 * side // 3, left + side // 3 : left + 2 * side // 3]
    assert (np.abs(after[centre].astype(int) - before[centre]).max(axis=-1) > 0).mean() > 0.9


def test_every_face_is_put_back_into_one_photograph(command, folder, tmp_path: pathlib.Path, capsys) -> None:
    report = tmp_path / 'report.json'
    for _ in range(2):  # the second time over the first one's
        assert _infer(*command, '--face_crop=all', '--paste_back', f'--json={report}') == 0
    expected = ['none_a2b.png', 'one_a2b.png', 'one_pasted_a2b.png', 'two_face1_a2b.png', 'two_face2_a2b.png',
                'two_pasted_a2b.png']  # fmt: skip
    assert _names(tmp_path / 'out') == expected
    assert [pathlib.Path(path).name for path in json.loads(report.read_text())['pasted']] == expected[2::3]
    before, after = (decode_file(path).pixels for path in (folder / 'two.png', tmp_path / 'out' / 'two_pasted_a2b.png'))
    changed = np.abs(before.astype(int) - after).max(axis=-1) > 0
    for crop in find_crops(before):
        top, left, side = crop.window
        assert changed[top + side // 3 : top + side // 2, left + side // 3 : left + side // 2].mean() > 0.9
        changed[top : top + side, left : left + side] = False
    assert not changed.any()


def test_putting_back_needs_faces(command, tmp_path: pathlib.Path, capsys) -> None:
    (tmp_path / 'in').mkdir()
    assert _infer(*command, '--paste_back') == 2
    assert 'needs --face_crop=auto or --face_crop=all, but neither arrived' in capsys.readouterr().err


def test_without_opencv_nothing_begins(command, tmp_path: pathlib.Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(faces, '_LOCAL', threading.local())
    faces._opencv.cache_clear()
    monkeypatch.setitem(sys.modules, 'cv2', None)
    assert _infer(*command, '--face_crop=auto') == 2
    faces._opencv.cache_clear()
    assert capsys.readouterr().err.strip() == (
        "error: finding faces needs OpenCV, which is not installed; pip install -e '.[faces]'"
    )
