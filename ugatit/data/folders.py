"""A data set's four folders: the official layout `dataset/NAME/{trainA,trainB,testA,testB}`, or named one by one."""

from __future__ import annotations

import difflib
import os
import pathlib
from typing import Dict, List, NamedTuple, Optional, Union

from ugatit.data.names import printable
from ugatit.errors import UserError

PARTS = ('trainA', 'trainB', 'testA', 'testB')
_OFFICIAL_PARENT = 'dataset'  # the official code looks for data sets here


class Folders(NamedTuple):
    """Where the pictures are; the test folders may be missing (None)."""

    name: str  # of the data set, as it appears in the checkpoint folder's name
    train_a: pathlib.Path
    train_b: pathlib.Path
    test_a: Optional[pathlib.Path] = None
    test_b: Optional[pathlib.Path] = None


def find_folders(
    dataset: Optional[Union[str, os.PathLike[str]]],
    name: Optional[str] = None,
    train_a: Optional[str] = None,
    train_b: Optional[str] = None,
    test_a: Optional[str] = None,
    test_b: Optional[str] = None,
) -> Folders:
    """The folders below `dataset`, each replaced by the explicit one where that is given.

    `dataset` is a folder, or a name below ./dataset as in the official code. UserError, with the absolute path and what
    is there instead, where a training folder or a folder that was named explicitly is missing.
    """
    explicit = dict(zip(PARTS, (train_a, train_b, test_a, test_b)))
    root = None if dataset is None else _root(pathlib.Path(dataset).expanduser())
    found = {part: _part(root, part, given) for part, given in explicit.items()}
    label = name or (root.absolute().name if root is not None else found['trainA'].absolute().parent.name)
    return Folders(label or 'data', *(found[part] for part in PARTS))


def _root(dataset: pathlib.Path) -> pathlib.Path:
    official = pathlib.Path(_OFFICIAL_PARENT) / dataset
    if not dataset.exists() and not dataset.is_absolute() and official.is_dir():
        return official
    if dataset.is_dir():
        return dataset
    kind = 'is a file' if dataset.exists() else 'does not exist'
    raise UserError(
        f'--dataset must be a folder with {", ".join(PARTS)}, but {printable(dataset.absolute())} {kind}'
        f'{_near(dataset)}; give the folder that holds them.'
    )


def _part(root: Optional[pathlib.Path], part: str, given: Optional[str]) -> Optional[pathlib.Path]:
    if given:
        folder = pathlib.Path(given).expanduser()
        if not folder.is_dir():
            raise UserError(
                f'{part} was given as {printable(folder.absolute())}, but there is no such folder{_near(folder)};'
                ' correct the path.'
            )
        return folder
    if root is not None and (root / part).is_dir():
        return root / part
    if part.startswith('test'):
        return None
    if root is None:
        raise UserError(f'{part} is needed, but neither --dataset nor a folder of its own arrived; give --dataset=DIR.')
    raise UserError(
        f'{printable(root.absolute())} must have the folders {", ".join(PARTS[:2])} (and testA, testB for samples), but'
        f' {part} is missing; found there: {_contents(root)}{_renamed(root, part)}.'
    )


def _contents(folder: pathlib.Path, limit: int = 8) -> str:
    entries = sorted(folder.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name))
    shown: List[str] = [printable(entry.name) + ('/' if entry.is_dir() else '') for entry in entries[:limit]]
    more = f' and {len(entries) - limit} more' if len(entries) > limit else ''
    return (', '.join(shown) or 'nothing') + more


def _renamed(root: pathlib.Path, part: str) -> str:
    """A hint for `traina`, `train_A`, `A`, ..."""
    names: Dict[str, str] = {_plain(entry.name): entry.name for entry in root.iterdir() if entry.is_dir()}
    close = difflib.get_close_matches(_plain(part), names, n=1, cutoff=0.8)
    taken = names.get(_plain(part)) or (names[close[0]] if close and close[0] not in map(_plain, PARTS) else None)
    return f'; rename {printable(taken)} to {part}' if taken else ''


def _plain(name: str) -> str:
    return name.lower().replace('_', '').replace('-', '').replace(' ', '')


def _near(folder: pathlib.Path) -> str:
    parent = folder.absolute().parent
    if not parent.is_dir():
        return f' (nor does {printable(parent)})'
    close = difflib.get_close_matches(folder.name, [entry.name for entry in parent.iterdir()], n=1)
    return f' (did you mean {printable(parent / close[0])}?)' if close else ''
