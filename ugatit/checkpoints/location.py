"""From whatever path a user gives to one checkpoint: the prefix in front of `.index` and `.data-00000-of-00001`.

The text file `checkpoint` may come from another machine: of the path inside it only the base name counts, and where
that is missing, the newest checkpoint by number is taken.
"""

from __future__ import annotations

import logging
import os
import pathlib
import re
from typing import Iterator, List, NamedTuple, Optional, Union

from ugatit.errors import UserError

_log = logging.getLogger(__name__)

PathLike = Union[str, 'os.PathLike[str]']

STATE_FILE = 'checkpoint'  # the text file that names the latest checkpoint of its folder
_SUFFIX = re.compile(r'\.(index|data-\d{5}-of-\d{5}|meta|json)$')
_SHARD = re.compile(r'\.data-\d{5}-of-(\d{5})$')
_NUMBER = re.compile(r'-(\d+)$')
_NAMED = re.compile(r'^\s*model_checkpoint_path\s*:\s*["\'](.*)["\']\s*$', re.MULTILINE)
_DEPTH = 2  # how many levels below a given folder are searched: PARENT/model_dir, WORKDIR/checkpoints/model_dir
_LISTED = 20  # so many names at most in one error message


class Location(NamedTuple):
    """One checkpoint on disk."""

    prefix: pathlib.Path  # .../UGATIT.model-1000000, the path without `.index`
    step: Optional[int]  # 1000000; None where the name ends in no number
    how: str  # how it was found, for the log

    @property
    def folder(self) -> pathlib.Path:
        return self.prefix.parent

    @property
    def name(self) -> str:
        return self.prefix.name

    @property
    def index(self) -> pathlib.Path:
        return with_suffix(self.prefix, '.index')

    @property
    def sidecar(self) -> pathlib.Path:
        """Our JSON beside the checkpoint; official checkpoints have none."""
        return with_suffix(self.prefix, '.json')


def locate(path: PathLike) -> Location:
    """Finds the checkpoint that `path` means and logs how.

    Args:
      path: a model directory with any name, a parent directory of one, a prefix `.../UGATIT.model-1000000`, one of its
        files (`.index`, `.data-...`, `.meta`, `.json`), or the text file `checkpoint`.

    Raises:
      UserError: nothing found (names every folder tried), several model directories (lists them), no such path, or a
        file of another kind.
    """
    given = pathlib.Path(path).expanduser()
    found = _in_directory(given) if given.is_dir() else _from_file(given)
    _log.info('checkpoint %s (%s)', found.prefix, found.how)
    return found


def with_suffix(prefix: pathlib.Path, suffix: str) -> pathlib.Path:
    """Appends; `Path.with_suffix` would replace `.model-5`."""
    return prefix.parent / (prefix.name + suffix)


def prefix_of(path: pathlib.Path) -> pathlib.Path:
    """Of a checkpoint's file the path without `.index`, `.data-00000-of-00001`, ...; of another path itself."""
    return path.parent / _SUFFIX.sub('', path.name)


def step_of(prefix: pathlib.Path) -> Optional[int]:
    """The number at the end of `UGATIT.model-1000000`, None where there is none."""
    match = _NUMBER.search(prefix.name)
    return int(match.group(1)) if match else None


def prefixes_in(folder: pathlib.Path) -> List[pathlib.Path]:
    """Every prefix with an `.index` file in `folder`, oldest first by number; those without a number come first."""
    try:
        names = [entry.name[: -len('.index')] for entry in os.scandir(folder) if entry.name.endswith('.index')]
    except PermissionError:
        return []
    prefixes = [folder / name for name in names if not name.startswith('.')]
    return sorted(prefixes, key=lambda prefix: (-1 if step_of(prefix) is None else step_of(prefix), prefix.name))


def data_files(prefix: pathlib.Path) -> List[pathlib.Path]:
    """The data files that belong to `prefix`, whether they are there or not: usually `.data-00000-of-00001` alone."""
    start = prefix.name + '.data-'
    names = [entry.name for entry in os.scandir(prefix.parent) if entry.name.startswith(start)]
    count = max([int(match.group(1)) for match in map(_SHARD.search, names) if match], default=1)
    return [with_suffix(prefix, f'.data-{shard:05d}-of-{count:05d}') for shard in range(count)]


def is_complete(prefix: pathlib.Path) -> bool:
    """True where all data files of the checkpoint are there."""
    return all(path.is_file() for path in data_files(prefix))


def named_in_state_file(folder: pathlib.Path) -> Optional[str]:
    """The base name in the folder's `checkpoint` file, whatever path is in front of it; None where there is none."""
    try:
        text = (folder / STATE_FILE).read_text(encoding='utf-8', errors='replace')
    except OSError:
        return None
    match = _NAMED.search(text)
    return re.split(r'[/\\]', match.group(1))[-1] or None if match else None


def _from_file(given: pathlib.Path) -> Location:
    """`given` is no directory: a prefix, a file of a checkpoint, or something else."""
    if given.name == STATE_FILE and given.is_file():
        return _in_directory(given.parent)
    prefix = prefix_of(given)
    for candidate in (given, prefix):
        if with_suffix(candidate, '.index').is_file():
            return Location(candidate, step_of(candidate), 'as given')
    raise UserError(_why_no_file(given, prefix))


def _why_no_file(given: pathlib.Path, prefix: pathlib.Path) -> str:
    if given.parent.is_dir() and is_complete(prefix):
        return (
            f'a checkpoint is an .index and a .data file, but {with_suffix(prefix, ".index")} is missing;'
            ' copy or download it again, next to its .data file.'
        )
    if given.is_file():
        return (
            f'{given} is no TensorFlow checkpoint; give a model directory, a prefix such as UGATIT.model-1000000 or its'
            ' .index file (unpack an archive first).'
        )
    return (
        f'no checkpoint {given}: there is no such directory and no {prefix.name}.index in'
        f' {given.parent.absolute()}{"" if given.parent.is_dir() else " (which does not exist)"}; give the place where'
        ' yours lies (docs/official_checkpoint.md).'
    )


def _in_directory(folder: pathlib.Path) -> Location:
    """The one model directory at or below `folder`, searched level by level so that the nearest wins."""
    tried: List[pathlib.Path] = []
    level = [folder]
    for _ in range(_DEPTH + 1):
        tried += level
        hits = [candidate for candidate in level if prefixes_in(candidate)]
        if len(hits) > 1:
            raise UserError(
                f'one checkpoint expected, but {folder} holds {len(hits)} model directories; give one of them:'
                f' {_listed(hits)}.'
            )
        if hits:
            return _newest(hits[0])
        level = [child for candidate in level for child in _subdirectories(candidate)]
    raise UserError(
        f'no checkpoint (no *.index file) in {folder}; folders tried: {_listed(tried)}. Give the directory that holds'
        ' UGATIT.model-*.index and its .data file.'
    )


def _subdirectories(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Without hidden ones: those are unfinished saves or none of our business. Unreadable folders are passed over."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir() and not entry.name.startswith('.'):
            yield pathlib.Path(entry.path)


def _newest(folder: pathlib.Path) -> Location:
    """The checkpoint that `checkpoint` names, else the newest by number; one without its data only if alone."""
    prefixes = prefixes_in(folder)
    complete = [prefix for prefix in prefixes if is_complete(prefix)]
    candidates = complete or prefixes
    for prefix in set(prefixes) - set(candidates):
        _log.warning('%s has no .data file and is passed over', prefix)
    named = named_in_state_file(folder)
    if named and folder / named in candidates:
        return _named(folder / named, candidates)
    reason = f'the file {STATE_FILE} names {named}, which is not here' if named else f'no usable file {STATE_FILE}'
    return _newest_by_number(folder, candidates, reason)


def _named(prefix: pathlib.Path, candidates: List[pathlib.Path]) -> Location:
    if candidates[-1] != prefix:
        _log.info('%s is here too, but the file %s names %s', candidates[-1].name, STATE_FILE, prefix.name)
    return Location(prefix, step_of(prefix), f'named by the file {STATE_FILE}')


def _newest_by_number(folder: pathlib.Path, candidates: List[pathlib.Path], reason: str) -> Location:
    models = {_NUMBER.sub('', prefix.name) for prefix in candidates}
    if len(models) > 1:
        raise UserError(
            f'one model expected in {folder}, but it holds {len(models)} and {reason}; give one prefix:'
            f' {_listed(candidates)}.'
        )
    newest = candidates[-1]
    how = f'newest of {len(candidates)} by number' if len(candidates) > 1 else 'the only one'
    return Location(newest, step_of(newest), f'{how}; {reason}')


def _listed(paths: List[pathlib.Path]) -> str:
    more = len(paths) - _LISTED
    return ', '.join(str(path) for path in paths[:_LISTED]) + (f' and {more} more' if more > 0 else '')
