"""Which pictures a path means: one file, a folder, or a pattern such as photos/*.png."""

from __future__ import annotations

import collections
import difflib
import glob
import os
import pathlib
from dataclasses import dataclass
from typing import Iterator, List, Optional, Tuple, Union

from ugatit.data import sniff
from ugatit.data.names import printable
from ugatit.errors import UserError

_JUNK = frozenset(('thumbs.db', 'ehthumbs.db', 'desktop.ini'))
_FOLDER = 'a folder'

PathLike = Union[str, 'os.PathLike[str]']
Ignored = Tuple[pathlib.Path, str]


@dataclass(frozen=True)
class ImageListing:
    """paths: pictures to read, sorted by name. ignored: (path, reason) of everything else that was found.
    root: the folder that the paths' names are told relative to, so that results can keep subfolders."""

    paths: Tuple[pathlib.Path, ...]
    ignored: Tuple[Ignored, ...]
    root: pathlib.Path


def list_images(source: PathLike, recursive: bool = False) -> ImageListing:
    """The pictures of a file, folder or glob pattern, in the stable order of their names.

    A file named directly is taken as it is. In folders and patterns, junk (.DS_Store, ._x, Thumbs.db) is ignored; a
    file with a picture's extension is always listed, so that a broken one is reported when it is read; any other file
    is listed if its content is a picture. Links to folders are not followed below the source.
    Raises UserError if the source does not exist or holds no picture; it says where was looked and what was there.
    """
    path = pathlib.Path(source)
    if not os.fspath(source):
        raise UserError('expected a picture, a folder or a pattern, got an empty path: name one')
    if path.is_file():
        return ImageListing((path,), (), path.parent)
    if path.is_dir():
        found, root = list(_walk(path, recursive)), path
    elif glob.has_magic(os.fspath(source)):
        # A pattern is sorted out like a folder; what it matches is often a name with a bracket, so files went first.
        found = [pathlib.Path(name) for name in glob.glob(os.fspath(source), recursive=True)]
        root = _pattern_root(path)
    else:
        raise UserError(_missing(path))
    return _classify(found, path, root)


def _classify(found: List[pathlib.Path], source: pathlib.Path, root: pathlib.Path) -> ImageListing:
    found = sorted(found, key=lambda path: path.parts)
    reasons = [_reason_to_ignore(path) for path in found]
    paths = tuple(path for path, reason in zip(found, reasons) if reason is None)
    ignored = tuple((path, reason) for path, reason in zip(found, reasons) if reason is not None)
    if not paths:
        raise UserError(_nothing_found(source, ignored))
    return ImageListing(paths, ignored, root)


def _walk(folder: pathlib.Path, recursive: bool) -> Iterator[pathlib.Path]:
    """Everything in a folder; a subfolder itself is an entry only where it is not entered."""
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        raise UserError(f'expected a readable folder, but {printable(folder)}: {error.strerror}: check it') from error
    for entry in entries:
        if recursive and entry.is_dir() and not entry.is_symlink() and not _is_junk(entry):
            yield from _walk(entry, recursive)
        else:
            yield entry


def _pattern_root(pattern: pathlib.Path) -> pathlib.Path:
    fixed = []
    for part in pattern.parts[:-1]:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return pathlib.Path(*fixed)


def _is_junk(path: pathlib.Path) -> bool:
    return path.name.startswith('.') or path.name.lower() in _JUNK or '__MACOSX' in path.parts


def _reason_to_ignore(path: pathlib.Path) -> Optional[str]:
    """None for a picture to be read, else why it is left out."""
    if _is_junk(path):
        return 'system or hidden file'
    if path.is_dir():
        return _FOLDER
    if path.suffix.lower() in sniff.PICTURE_EXTENSIONS:
        return None
    try:
        if not path.is_file():  # opening a pipe would wait for ever
            return 'not a file' if path.exists() else 'a link to nothing'
        with path.open('rb') as file:
            head = file.read(sniff.HEAD_BYTES)
    except OSError as error:
        return f'not readable: {error.strerror}'
    return None if sniff.is_picture(sniff.identify(head)) else f'not a picture: {sniff.describe(head)}'


def _missing(path: pathlib.Path) -> str:
    return (
        f'expected a picture, a folder or a pattern, but there is no {printable(path.absolute())} '
        f'(current folder: {printable(pathlib.Path.cwd())}): {_suggestion(path)}'
    )


def _suggestion(path: pathlib.Path) -> str:
    parent = path.absolute().parent
    try:
        names = [entry.name for entry in parent.iterdir()]
    except OSError:
        return f'the folder {printable(parent)} does not exist either, check the path'
    close = difflib.get_close_matches(path.name, names, n=1)
    return f'did you mean {printable(close[0])}?' if close else 'check the path'


def _nothing_found(source: pathlib.Path, ignored: Tuple[Ignored, ...]) -> str:
    subfolders = [path.name for path, reason in ignored if reason == _FOLDER]
    hint = 'point to a folder with pictures'
    if subfolders:
        hint = f'point to one of its folders ({_some(sorted(subfolders))}), or read them all with --recursive'
    return (
        f'expected pictures ({sniff.FORMAT_LIST}), found 0 in {printable(source.absolute())} '
        f'(current folder: {printable(pathlib.Path.cwd())}; there: {_census(ignored)}): {hint}'
    )


def _census(ignored: Tuple[Ignored, ...]) -> str:
    """'3 .txt, 1 folder, 1 without extension', most frequent first; 'nothing' for an empty folder."""
    kinds = collections.Counter(_census_name(path, reason) for path, reason in ignored)
    ordered = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    return _some([f'{count} {kind}' for kind, count in ordered]) or 'nothing'


def _census_name(path: pathlib.Path, reason: str) -> str:
    if reason == _FOLDER:
        return 'folder(s)'
    if _is_junk(path):
        return 'hidden or system'
    return printable(path.suffix.lower()) or 'without extension'


def _some(names: List[str], limit: int = 5) -> str:
    shown = ', '.join(printable(name) for name in names[:limit])
    return shown + (f' and {len(names) - limit} more' if len(names) > limit else '')
