"""What lies beside an exported file: NAME.json says what it is, NAME.golden.npz has pictures to check it with."""

from __future__ import annotations

import hashlib
import json
import pathlib
from typing import Any, Dict, NamedTuple, Optional

import numpy as np

from ugatit.data.convert import PathLike
from ugatit.data.names import printable
from ugatit.data.reports import plain
from ugatit.errors import UserError
from ugatit.export.formats import format_of

KEY, VALUE, VERSION = 'ugatit', 'export', 1


class Golden(NamedTuple):
    """A pair to check the file with, anywhere."""

    images: np.ndarray  # float32 [N, H, W, 3] in [-1, 1]
    wanted: np.ndarray  # float32, what the source makes of them in float32, without a plan
    made: np.ndarray  # what this file made of them when it was written
    heatmap: Optional[np.ndarray]  # float32 [N, H / 4, W / 4] of the source; None: the file gives none


def named(path: pathlib.Path) -> pathlib.Path:
    """The path with a name that others can be made of: `.` and `..` have none; UserError for the root, which has none
    at all."""
    found = path.resolve() if path.name in ('', '..') else path
    if not found.name:
        raise UserError(f'the path of an exported file must have a name, but {printable(path)} arrived; write a file or'
                        ' a folder below it.')  # fmt: skip
    return found


def json_path(path: pathlib.Path) -> pathlib.Path:
    """a2b.onnx -> a2b.onnx.json"""
    path = named(path)
    return path.with_name(path.name + '.json')


def golden_path(path: pathlib.Path) -> pathlib.Path:
    """a2b.onnx -> a2b.onnx.golden.npz"""
    path = named(path)
    return path.with_name(path.name + '.golden.npz')


def checksum(path: pathlib.Path) -> str:
    """SHA-256 of a file, or of every file in a folder with its relative name, in sorted order."""
    digest = hashlib.sha256()
    for file in files_of(path):
        if path.is_dir():
            digest.update(file.relative_to(path).as_posix().encode() + b'\0')
        with file.open('rb') as stream:
            for block in iter(lambda stream=stream: stream.read(1 << 20), b''):
                digest.update(block)
    return digest.hexdigest()


def files_of(path: pathlib.Path) -> list:
    """The file, or all files of the folder, sorted."""
    return sorted(file for file in path.rglob('*') if file.is_file()) if path.is_dir() else [path]


def size_of(path: pathlib.Path) -> int:
    """Bytes of a file or a folder."""
    return sum(file.stat().st_size for file in files_of(path))


def write_golden(path: pathlib.Path, golden: Golden) -> None:
    """Writes the pair beside the file."""
    arrays = {key: value for key, value in golden._asdict().items() if value is not None}
    np.savez_compressed(golden_path(path), **arrays)


def write_json(path: pathlib.Path, facts: Dict[str, Any]) -> None:
    """Writes the facts beside the file."""
    text = json.dumps(plain({KEY: VALUE, 'version': VERSION, **facts}), indent=1, allow_nan=False)
    json_path(path).write_text(f'{text}\n', 'ascii')


def read_json(path: pathlib.Path) -> Optional[Dict[str, Any]]:
    """The facts, None where there is no JSON beside the file; UserError where it is none of ours."""
    file = json_path(path)
    if not file.exists():
        return None
    try:
        facts = json.loads(file.read_text('utf-8'))
    except (OSError, ValueError) as error:
        raise UserError(f'{file} should be the JSON that export.py wrote, but it cannot be read ({error}); export'
                        ' the model again, or move that file away.') from None  # fmt: skip
    if not isinstance(facts, dict) or facts.get(KEY) != VALUE or facts.get('version') != VERSION:
        raise UserError(f'{file} should be the JSON that export.py wrote beside the file, but it is another; export the'
                        ' model again, or move that file away.')  # fmt: skip
    return facts


def read_golden(path: pathlib.Path) -> Golden:
    """The pair; UserError where it is missing or damaged."""
    file = golden_path(path)
    try:
        with np.load(file, allow_pickle=False) as arrays:
            values = {key: arrays[key] for key in arrays.files}
        return Golden(values['images'], values['wanted'], values['made'], values.get('heatmap'))
    except FileNotFoundError:
        raise UserError(
            f'{file} is needed to check {path.name}, but it is not there; copy it along with the file.'
        ) from None
    except Exception as error:  # a damaged zip raises whatever comes
        raise UserError(
            f'{file} should hold pictures to check {path.name} with, but it cannot be read ({error}); copy it again.'
        ) from None


def stored_direction(path: PathLike, given: Optional[str]) -> str:
    """The file's direction by its JSON, else the given one, else a2b; before any runtime is imported.

    Raises:
        UserError: no exported file, or one of the other direction.
    """
    path = pathlib.Path(path)
    format_of(path)
    stored = (read_json(path) or {}).get('direction')
    if stored is not None and given not in (None, stored):
        raise UserError(f'{printable(path)} translates {stored}, but --direction={given} arrived; leave it out, or give'
                        ' the file of the other direction.')  # fmt: skip
    return stored or given or 'a2b'
