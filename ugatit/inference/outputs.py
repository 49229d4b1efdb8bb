"""Which file each result becomes: no two the same, never an input, never a file that somebody else made.

    photo.jpg      -> photo_a2b.png, photo_a2b_heatmap.png, photo_a2b.npy
    a.jpg, a.png   -> a.jpg_a2b.png, a.png_a2b.png               two inputs with one stem keep their extensions
    x.png where x_a2b.png exists and is not a result of ours     -> x-2_a2b.png

Results of an earlier run are replaced; PNG files carry the mark by which they are known (`mark`).
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import os
import pathlib
import unicodedata
from typing import Iterable, Iterator, List, Optional, Sequence, Set, Tuple

from ugatit.data.names import printable
from ugatit.data.sniff import PICTURE_EXTENSIONS
from ugatit.errors import UserError
from ugatit.inference.inputs import Input
from ugatit.inference.mark import is_ours
from ugatit.inference.settings import Settings

_NO_FOLDERS = PICTURE_EXTENSIONS | frozenset(('.npy', '.html', '.htm', '.json', '.pdf', '.zip'))
_LONGEST_NAME = 255  # bytes, on all usual file systems


@dataclasses.dataclass(frozen=True)
class OutputFiles:
    """What is written for one input; None: was not asked for."""

    picture: pathlib.Path
    heatmap: Optional[pathlib.Path] = None
    array: Optional[pathlib.Path] = None

    def all(self) -> Tuple[pathlib.Path, ...]:
        return tuple(path for path in (self.array, self.heatmap, self.picture) if path is not None)


@dataclasses.dataclass(frozen=True)
class Assignment:
    """Every input with its files."""

    folder: pathlib.Path  # of all results
    files: Tuple[Tuple[Input, OutputFiles], ...]
    earlier: Tuple[pathlib.Path, ...]  # results of an earlier run that lay among the inputs: no inputs
    notes: Tuple[str, ...]  # what was done about names, a sentence each


def assign_outputs(inputs: Sequence[Input], output: str, direction: str, settings: Settings) -> Assignment:
    """Names all results before anything is computed.

    Args:
        inputs: from `find_inputs`.
        output: a folder, made when the first result is written; or for one input a file that ends in .png.
        direction: becomes a part of the names, so that both directions' results can share a folder.

    Raises:
        UserError: an output that can be neither, that is an input or somebody else's file, or cannot be written.
    """
    target = pathlib.Path(os.path.expanduser(output))
    if target.suffix.lower() in _NO_FOLDERS and not target.is_dir() and not output.endswith(('/', os.sep)):
        return _one_file(inputs, target, settings)
    if target.exists() and not target.is_dir():
        raise UserError(f'--output must be a folder or end in .png, but {printable(target)} is a file of another kind;'
                        ' name a folder.')  # fmt: skip
    require_writable(target)
    return _folder(inputs, target, direction, settings)


def require_writable(folder: pathlib.Path, flag: str = '--output') -> None:
    """UserError where the folder cannot be made or written, before time is spent on computing for it."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise UserError(f'the folder {printable(folder)} of {flag} cannot be made, because {printable(existing)} is a'
                        ' file; choose another place.')  # fmt: skip
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(f'the folder {printable(folder)} of {flag} cannot be written: permission denied for'
                        f' {printable(existing)}; check its permissions or choose another place.')  # fmt: skip


def require_report_path(report: str, assignment: Assignment) -> None:
    """UserError where the report of `--json` would overwrite an input or a result.

    What else may not be replaced, `ugatit.cli.output_files` knows without the list of pictures.
    """
    files = [file for source, chosen in assignment.files for file in (source.path, *chosen.all()) if file is not None]
    if key_of(pathlib.Path(report)) in {key_of(file) for file in files}:
        raise UserError(f'--json={printable(report)} would overwrite an input or a result; choose another name.')


def key_of(path: pathlib.Path) -> str:
    """Equal for two paths that some file system takes for one (letter case, accents, links)."""
    return unicodedata.normalize('NFC', os.path.realpath(path)).casefold()


def numbered(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """x.html, x-2.html, x-3.html, ..."""
    yield path
    for number in itertools.count(2):
        yield path.with_name(f'{path.stem}-{number}{path.suffix}')


def _one_file(inputs: Sequence[Input], target: pathlib.Path, settings: Settings) -> Assignment:
    if target.suffix.lower() != '.png':
        raise UserError(f'results are written as PNG, but --output={printable(target)} asks for {target.suffix};'
                        f' write --output={printable(target.with_suffix(".png"))}, or name a folder.')  # fmt: skip
    if len(inputs) != 1:
        raise UserError(f'--output={printable(target)} is one file, but there are {len(inputs)} inputs; name a folder.')
    require_writable(target.parent)
    files = _files(target.parent, target.stem, settings, target.suffix)
    sources = {key_of(source.path) for source in inputs if source.path is not None}
    for path in files.all():
        if key_of(path) in sources:
            raise UserError(f'--output={printable(target)} would overwrite the input; choose another name.')
    if not _is_free(files):
        raise UserError(f'{printable(target)} is there already and is no result of ours, so it is not replaced; choose'
                        ' another --output, or remove it.')  # fmt: skip
    return Assignment(target.parent, ((inputs[0], files),), (), _replaced([files]))


def _folder(inputs: Sequence[Input], folder: pathlib.Path, direction: str, settings: Settings) -> Assignment:
    earlier = _earlier(inputs, folder, direction, settings)
    remaining = [source for source in inputs if source not in earlier]
    taken = {key_of(source.path) for source in remaining if source.path is not None}
    files: List[Tuple[Input, OutputFiles]] = []
    renamed = 0
    for source, stem in zip(remaining, _stems(remaining)):
        chosen = _first_free(folder / source.name.parent, stem, f'_{direction}', settings, taken)
        taken.update(key_of(path) for path in chosen.all())
        renamed += chosen.picture.name != f'{_shortened(source.name.stem)}_{direction}.png'
        files.append((source, chosen))
    notes = [*_replaced(chosen for _, chosen in files)]
    if renamed:
        notes.append(f'{_count(renamed, "result")} named with extension or number, because the plain name is taken')
    if earlier:
        notes.append(f'{_count(len(earlier), "result")} of an earlier run among the inputs left out')
    return Assignment(folder, tuple(files), tuple(source.path for source in earlier), tuple(notes))


def _earlier(inputs: Sequence[Input], folder: pathlib.Path, direction: str, settings: Settings) -> List[Input]:
    """Inputs that a folder gave and that are just what another input's result is called, and marked as ours."""
    plain = dataclasses.replace(settings, heatmap=True)
    targets = {
        key_of(path)
        for source, stem in zip(inputs, _stems(inputs))
        for path in _files(folder / source.name.parent, f'{stem}_{direction}', plain).all()
    }
    return [source for source in inputs if source.listed and key_of(source.path) in targets and is_ours(source.path)]


def _stems(inputs: Sequence[Input]) -> List[str]:
    """The name without extension where that is unique in its folder, else with it."""
    plain = [_shortened(source.name.stem) for source in inputs]
    counts = collections.Counter(_same(source, stem) for source, stem in zip(inputs, plain))
    return [
        stem if counts[_same(source, stem)] == 1 else _shortened(source.name.name)
        for source, stem in zip(inputs, plain)
    ]


def _same(source: Input, stem: str) -> str:
    return unicodedata.normalize('NFC', str(source.name.parent / stem)).casefold()


def _shortened(stem: str) -> str:
    """Cut so that every ending and a number still fit."""
    room = _LONGEST_NAME - len('-99999_a2b_heatmap.png')
    return os.fsencode(stem)[:room].decode('utf-8', 'ignore') if len(os.fsencode(stem)) > room else stem


def _first_free(folder: pathlib.Path, stem: str, ending: str, settings: Settings, taken: Set[str]) -> OutputFiles:
    for number in itertools.count(1):
        files = _files(folder, f'{stem}{"" if number == 1 else f"-{number}"}{ending}', settings)
        if not any(key_of(path) in taken for path in files.all()) and _is_free(files):
            return files
    raise AssertionError('unreachable')


def _files(folder: pathlib.Path, stem: str, settings: Settings, suffix: str = '.png') -> OutputFiles:
    return OutputFiles(
        picture=folder / f'{stem}{suffix}',
        heatmap=folder / f'{stem}_heatmap.png' if settings.heatmap else None,
        array=folder / f'{stem}.npy' if settings.arrays else None,
    )


def _is_free(files: OutputFiles) -> bool:
    """Whether nothing would be lost. An array has no mark of its own and belongs to the picture of its name."""
    pictures = [path for path in (files.picture, files.heatmap) if path is not None]
    if not all(not os.path.lexists(path) or is_ours(path) for path in pictures):
        return False
    return files.array is None or not os.path.lexists(files.array) or is_ours(files.picture)


def _replaced(files: Iterable[OutputFiles]) -> Tuple[str, ...]:
    existing = sum(os.path.lexists(path) for chosen in files for path in chosen.all())
    return (f'{_count(existing, "file")} of an earlier run will be replaced',) if existing else ()


def _count(number: int, noun: str) -> str:
    return f'{number} {noun}{"" if number == 1 else "s"}'
