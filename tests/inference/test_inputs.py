"""From names to the network's squares."""

from __future__ import annotations

import ast
import os
import pathlib
from typing import Callable

import numpy as np
import pytest

from tests.data import odd_files as odd
from ugatit.data.convert import to_float
from ugatit.data.decode import decode_file
from ugatit.data.resize import resize
from ugatit.inference.inputs import find_inputs, prepare, sample, thumbnail
from ugatit.inference.portrait import SIZE, portrait
from ugatit.inference.settings import RESIZES, Settings


def test_without_sources_the_portrait_is_the_input() -> None:
    (source,) = find_inputs([]).inputs
    assert str(source) == 'portrait.png' and source.path is None
    assert source.decode(Settings()).pixels.shape == (SIZE, SIZE, 3)


def test_the_portrait_is_always_the_same_and_colourful() -> None:
    assert np.array_equal(portrait(), portrait())
    assert len(np.unique(portrait().reshape(-1, 3), axis=0)) > 1000


def test_files_folders_and_patterns_together(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('a.png', 'more/b.png', 'c.jpg')
    (tmp_path / 'in' / 'notes.txt').write_text('words')
    found = find_inputs([str(tmp_path / 'in' / 'c.jpg'), str(tmp_path / 'in'), str(tmp_path / 'in' / 'm*' / '*')])
    assert [source.path.name for source in found.inputs] == ['c.jpg', 'a.png', 'b.png']
    assert [source.listed for source in found.inputs] == [False, True, True]
    assert {path.name for path, _ in found.ignored} == {'notes.txt', 'more'}


def test_the_home_folder(tmp_path: pathlib.Path, photos: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    photos('a.png')
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.setenv('USERPROFILE', str(tmp_path))
    assert len(find_inputs([os.path.join('~', 'in')]).inputs) == 1


@pytest.mark.parametrize('mode', RESIZES)
def test_every_resize_gives_the_square_of_the_one_resizer(photos: Callable, mode: str) -> None:
    (path,) = photos('a.png')
    (source,) = find_inputs([str(path)]).inputs
    prepared = prepare(source, 16, Settings(resize=mode))
    expected = resize(decode_file(path).pixels, 16, *RESIZES[mode])
    assert np.array_equal(prepared.square, to_float(expected.pixels)) and prepared.geometry == expected.geometry
    assert prepared.square.shape == (16, 16, 3) and np.abs(prepared.square).max() <= 1.0


def test_samples_are_the_first_by_name_and_pass_over_broken_ones(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('b.png', 'd.png', 'a.png')
    (tmp_path / 'in' / 'c.png').write_bytes(b'')
    inputs = find_inputs([str(tmp_path / 'in' / name) for name in ('d.png', 'c.png', 'b.png', 'a.png')]).inputs
    by_name = {source.path.name: source for source in inputs}
    three = sample(inputs, 16, Settings(), 3)
    assert np.array_equal(three, np.stack([prepare(by_name[n], 16, Settings()).square for n in ('a.png', 'b.png')]))
    assert sample([by_name['c.png']], 16, Settings(), 3).shape == (0, 16, 16, 3)


def test_thumbnails_keep_the_aspect_and_never_grow() -> None:
    assert thumbnail(odd.photo(1000, 2000), 512).shape == (256, 512, 3)
    assert thumbnail(odd.photo(20, 30)).shape == (20, 30, 3)
    assert thumbnail(odd.photo(2000, 1)).shape == (512, 1, 3)


def test_nothing_but_the_one_decoder_opens_pictures(repository: pathlib.Path) -> None:
    """Training, inference and export cannot see a file differently while only ugatit/data/decode.py reads pixels."""
    openers = {'decode_jpeg', 'decode_png', 'decode_bmp', 'decode_gif', 'decode_webp', 'decode_and_crop_jpeg',
               'imread', 'imdecode', 'jpeg_factory'}  # fmt: skip
    wrong = []
    for path in sorted(repository.glob('ugatit/**/*.py')) + sorted(repository.glob('*.py')):
        if path == repository / 'ugatit' / 'data' / 'decode.py':
            continue
        for node in ast.walk(ast.parse(path.read_text('utf-8'))):
            opens = isinstance(node, ast.Attribute) and (
                node.attr in openers or (node.attr == 'open' and getattr(node.value, 'id', '') == 'Image')
            )
            if opens or (isinstance(node, ast.Attribute) and ast.unparse(node).endswith('io.decode_image')):
                wrong.append(f'{path.relative_to(repository)}:{node.lineno}')
    assert wrong == []
