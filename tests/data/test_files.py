"""Which files a path means, and what is said when it means none."""

from __future__ import annotations

import os
import pathlib
from typing import Tuple

import pytest

from tests.data import odd_files as odd
from ugatit.data.files import list_images
from ugatit.errors import UserError

PICTURE = odd.encode(odd.photo(4, 4))


@pytest.fixture
def folder(tmp_path) -> pathlib.Path:
    """Pictures, broken pictures, junk and a subfolder."""
    names = ('b.png', 'a.JPG', 'c', '写真 café.webp', '.hidden.png', '._a.JPG', '.DS_Store', 'Thumbs.db', 'desktop.ini')
    for name in names:
        (tmp_path / name).write_bytes(PICTURE)
    (tmp_path / 'page.jpg').write_bytes(b'<html>')
    (tmp_path / 'empty.png').write_bytes(b'')
    (tmp_path / 'notes.txt').write_text('words')
    (tmp_path / 'picture.dat').write_bytes(PICTURE)
    (tmp_path / 'phone.heic').write_bytes(b'\0\0\0\x18ftypheic')
    for name in ('sub/d.png', 'sub/deep/e.png', 'sub/.cache/f.png', '__MACOSX/g.png'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(PICTURE)
    return tmp_path


def names(listing, root: pathlib.Path) -> Tuple[str, ...]:
    return tuple(path.relative_to(root).as_posix() for path in listing.paths)


FLAT = ('a.JPG', 'b.png', 'c', 'empty.png', 'page.jpg', 'phone.heic', 'picture.dat', '写真 café.webp')


def test_a_folder_is_listed_in_order_without_junk(folder) -> None:
    listing = list_images(folder)
    assert names(listing, folder) == FLAT  # broken pictures are listed: they are reported when they are read
    assert listing.root == folder
    reasons = {path.name: reason for path, reason in listing.ignored}
    assert reasons.pop('sub') == 'a folder' and reasons.pop('notes.txt') == 'not a picture: a text file'
    assert set(reasons.values()) == {'system or hidden file'}
    assert set(reasons) == {'.hidden.png', '._a.JPG', '.DS_Store', 'Thumbs.db', 'desktop.ini', '__MACOSX'}


def test_subfolders_on_request(folder) -> None:
    assert names(list_images(folder, recursive=True), folder) == FLAT[:7] + ('sub/d.png', 'sub/deep/e.png') + FLAT[7:]


def test_links_to_folders_are_not_followed_into_a_circle(folder) -> None:
    (folder / 'sub' / 'up').symlink_to(folder, target_is_directory=True)
    (folder / 'sub' / 'dangling').symlink_to(folder / 'nowhere')
    listing = list_images(folder, recursive=True)
    assert len(listing.paths) == 10
    assert (folder / 'sub' / 'dangling', 'a link to nothing') in listing.ignored


def test_a_linked_source_folder_works(folder, tmp_path_factory) -> None:
    link = tmp_path_factory.mktemp('links') / 'photos'
    link.symlink_to(folder, target_is_directory=True)
    assert names(list_images(link), link) == FLAT


@pytest.mark.parametrize('name', ['b.png', '.hidden.png', 'notes.txt'])
def test_a_file_named_directly_is_taken_as_it_is(folder, name) -> None:
    assert list_images(folder / name).paths == (folder / name,)
    assert list_images(str(folder / name)).root == folder


def test_patterns(folder) -> None:
    assert names(list_images(folder / '*.png'), folder) == ('b.png', 'empty.png')
    everywhere = list_images(str(folder / '**' / '*.png'))
    assert names(everywhere, folder) == ('b.png', 'empty.png', 'sub/d.png', 'sub/deep/e.png')
    assert list_images(str(folder / 's*' / '*.png')).root == folder
    with pytest.raises(UserError, match=r'found 0 in .*\*\.bmp.*there: nothing'):
        list_images(folder / '*.bmp')


def test_brackets_in_a_name_are_no_pattern(tmp_path) -> None:
    (tmp_path / 'a[1].png').write_bytes(PICTURE)
    (tmp_path / 'photos [best]').mkdir()
    (tmp_path / 'photos [best]' / 'x.png').write_bytes(PICTURE)
    assert list_images(tmp_path / 'a[1].png').paths == (tmp_path / 'a[1].png',)
    assert len(list_images(tmp_path / 'photos [best]').paths) == 1


def test_a_name_relative_to_the_current_folder(folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    assert list_images('b.png').paths == (pathlib.Path('b.png'),)
    assert list_images('*.JPG').paths == (pathlib.Path('a.JPG'),)
    assert len(list_images('.').paths) == len(FLAT)


def test_an_empty_folder_says_where_and_what(tmp_path, monkeypatch) -> None:
    (tmp_path / 'in').mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        list_images('in')
    assert f'found 0 in {tmp_path / "in"} (current folder: {tmp_path}; there: nothing)' in str(caught.value)


def test_a_folder_without_pictures_says_what_is_there(tmp_path) -> None:
    for name in ('a.txt', 'b.txt', 'c.zip', 'd', '.DS_Store', 'trainA/x.png', 'trainB/x.png'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('words')
    census = r'there: 2 .txt, 2 folder\(s\), 1 .zip, 1 hidden or system, 1 without extension'
    with pytest.raises(UserError, match=census) as caught:
        list_images(tmp_path)
    assert 'trainA, trainB' in str(caught.value) and '--recursive' in str(caught.value)


def test_a_missing_path_suggests_the_nearest_name(folder) -> None:
    with pytest.raises(UserError, match=r'there is no .*/b\.pgn .*current folder: .*did you mean b\.png\?'):
        list_images(folder / 'b.pgn')
    with pytest.raises(UserError, match='does not exist either'):
        list_images(folder / 'no' / 'such' / 'folder')
    with pytest.raises(UserError, match='empty path'):
        list_images('')


@pytest.mark.skipif(not hasattr(os, 'mkfifo'), reason='needs named pipes, which this system lacks')
def test_a_pipe_does_not_hang(tmp_path) -> None:
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'a.png').write_bytes(PICTURE)
    assert list_images(tmp_path).ignored == ((tmp_path / 'pipe', 'not a file'),)
