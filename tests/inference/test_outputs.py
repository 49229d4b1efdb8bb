"""Names of results: never the same for two, never an input, never somebody else's file."""

from __future__ import annotations

import os
import pathlib
from typing import Callable, List, Sequence

import pytest

from tests.data import odd_files as odd
from ugatit.data.convert import save_png
from ugatit.errors import UserError
from ugatit.inference import mark
from ugatit.inference.inputs import Input, find_inputs
from ugatit.inference.outputs import Assignment, assign_outputs
from ugatit.inference.settings import Settings

EVERYTHING = Settings(heatmap=True, arrays=True)


def _assign(folder: pathlib.Path, sources: Sequence[str] = ('in',), output: str = 'out', **options) -> Assignment:
    inputs = find_inputs([str(folder / source) for source in sources], recursive=options.pop('recursive', False)).inputs
    return assign_outputs(
        inputs, str(folder / output), options.pop('direction', 'a2b'), options.pop('settings', Settings())
    )


def _names(assignment: Assignment) -> List[str]:
    return [chosen.picture.relative_to(assignment.folder).as_posix() for _, chosen in assignment.files]


def _ours(path: pathlib.Path) -> None:
    save_png(path, odd.photo(), {mark.KEY: mark.VALUE})


def test_names_come_from_the_input_and_the_direction(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('b.png', 'a.jpg')
    assignment = _assign(tmp_path, settings=EVERYTHING)
    first = assignment.files[0][1]
    assert [path.name for path in (first.picture, first.heatmap, first.array)] == [
        'a_a2b.png', 'a_a2b_heatmap.png', 'a_a2b.npy',
    ]  # fmt: skip
    assert _names(_assign(tmp_path, direction='b2a')) == ['a_b2a.png', 'b_b2a.png']
    assert assignment.notes == ()


def test_one_stem_keeps_extensions(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('a.jpg', 'a.png', 'A.tif.png', 'c.png')
    assignment = _assign(tmp_path)
    assert _names(assignment) == ['A.tif_a2b.png', 'a.jpg_a2b.png', 'a.png_a2b.png', 'c_a2b.png']
    assert assignment.notes == ('2 results named with extension or number, because the plain name is taken',)


def test_names_that_some_file_systems_take_for_one(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('Ann.png', 'ann.png', 'caf\u00e9.png', 'cafe\u0301.png')
    names = [name.casefold() for name in _names(_assign(tmp_path))]
    assert len({name.replace('e\u0301', '\u00e9') for name in names}) == 4


def test_equal_names_from_two_folders_get_numbers(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('one/a.png', 'two/a.png', 'three/a.png')
    assignment = _assign(tmp_path, ('in/one', 'in/two', 'in/three'))
    assert _names(assignment) == ['a.png_a2b.png', 'a.png-2_a2b.png', 'a.png-3_a2b.png']


def test_subfolders_are_kept(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('one/a.png', 'two/a.png')
    assert _names(_assign(tmp_path, recursive=True)) == ['one/a_a2b.png', 'two/a_a2b.png']
    assert _names(_assign(tmp_path, ('in/*/a.png',))) == ['one/a_a2b.png', 'two/a_a2b.png']


def test_an_input_named_twice_is_one(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('a.png')
    assert _names(_assign(tmp_path, ('in', 'in/a.png', 'in/../in/*.png'))) == ['a_a2b.png']


def test_an_input_is_never_overwritten(tmp_path: pathlib.Path, photos: Callable) -> None:
    paths = photos('x.png', 'x_a2b.png')
    _ours(paths[1])
    assignment = _assign(tmp_path, ('in/x.png', 'in/x_a2b.png'), 'in')  # both named: both are inputs
    assert _names(assignment) == ['x-2_a2b.png', 'x_a2b_a2b.png']


def test_a_link_to_an_input_is_that_input(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('x_a2b.png', 'x.png')
    (tmp_path / 'out').symlink_to(tmp_path / 'in')
    assert 'x_a2b.png' not in _names(_assign(tmp_path))


def test_earlier_results_in_the_input_folder_are_no_inputs(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('x.png')
    for name in ('x_a2b.png', 'x_a2b_heatmap.png'):
        _ours(tmp_path / 'in' / name)
    assignment = _assign(tmp_path, output='in')
    assert _names(assignment) == ['x_a2b.png']
    assert [path.name for path in assignment.earlier] == ['x_a2b.png', 'x_a2b_heatmap.png']
    assert any('1 file of an earlier run will be replaced' in note for note in assignment.notes)
    assert any('2 results of an earlier run among the inputs left out' in note for note in assignment.notes)
    back = _assign(tmp_path, output='in', direction='b2a')  # translated back, they are inputs like any other
    assert _names(back) == ['x_b2a.png', 'x_a2b_b2a.png', 'x_a2b_heatmap_b2a.png']


@pytest.mark.parametrize('name', ['x_a2b.png', 'x_a2b_heatmap.png', 'x_a2b.npy'])
def test_a_file_that_is_not_ours_stays(tmp_path: pathlib.Path, photos: Callable, name: str) -> None:
    photos('x.png')
    (tmp_path / 'out').mkdir()
    (tmp_path / 'out' / name).write_bytes(odd.encode(odd.photo()))
    assert _names(_assign(tmp_path, settings=EVERYTHING)) == ['x-2_a2b.png']


def test_one_file(tmp_path: pathlib.Path, photos: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    photos('x.png')
    assignment = _assign(tmp_path, output='new/y.PNG', settings=EVERYTHING)
    assert _names(assignment) == ['y.PNG']
    assert assignment.files[0][1].heatmap == tmp_path / 'new' / 'y_heatmap.png'
    monkeypatch.chdir(tmp_path)
    bare = assign_outputs([Input(None, pathlib.PurePath('p.png'))], 'out.png', 'a2b', Settings())
    assert bare.files[0][1].picture == pathlib.Path('out.png')


@pytest.mark.parametrize(
    ('output', 'sentence'),
    [
        ('y.jpg', r'results are written as PNG, but --output=.*y.jpg asks for .jpg; write --output=.*y.png'),
        ('y.npy', r'results are written as PNG'),
        ('in/x.png', r'would overwrite the input'),
        ('other.png', r'other.png is there already and is no result of ours'),
        ('file', r'--output must be a folder or end in .png, but .*file is a file'),
        ('file/y', r'of --output cannot be made, because .*file is a file'),
        ('file/y.png', r'of --output cannot be made, because .*file is a file'),
    ],
)
def test_refused_outputs(tmp_path: pathlib.Path, photos: Callable, output: str, sentence: str) -> None:
    photos('x.png')
    (tmp_path / 'file').write_text('words')
    (tmp_path / 'other.png').write_bytes(odd.encode(odd.photo()))
    with pytest.raises(UserError, match=sentence):
        _assign(tmp_path, ('in/x.png',), output)


def test_two_inputs_do_not_fit_one_file(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('x.png', 'y.png')
    with pytest.raises(UserError, match=r'y.png is one file, but there are 2 inputs; name a folder'):
        _assign(tmp_path, output='y.png')


@pytest.mark.skipif(os.name == 'nt' or os.geteuid() == 0, reason='root may write everywhere')
def test_an_unwritable_folder_is_found_before_computing(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('x.png')
    (tmp_path / 'closed').mkdir(mode=0o500)
    with pytest.raises(UserError, match='permission denied'):
        _assign(tmp_path, output='closed/out')


def test_long_names_are_cut_so_that_they_can_be_written(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('写' * 80 + '.png', '写' * 80 + 'x.png')
    chosen = [files for _, files in _assign(tmp_path, settings=EVERYTHING).files]
    assert all(len(os.fsencode(path.name)) <= 255 for files in chosen for path in files.all())
    assert chosen[0].picture != chosen[1].picture


def test_the_mark(tmp_path: pathlib.Path) -> None:
    _ours(tmp_path / 'ours.png')
    (tmp_path / 'theirs.png').write_bytes(odd.encode(odd.photo()))
    (tmp_path / 'cut.png').write_bytes((tmp_path / 'ours.png').read_bytes()[:40])
    (tmp_path / 'words.png').write_text('Software ugatit')
    found = {path.name: mark.is_ours(path) for path in tmp_path.iterdir()}
    assert found == {'ours.png': True, 'theirs.png': False, 'cut.png': False, 'words.png': False}
    assert not mark.is_ours(tmp_path) and not mark.is_ours(tmp_path / 'missing')
