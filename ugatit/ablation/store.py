"""The folder of an ablation: what is finished stays finished, whatever stops the run.

OUTPUT/rows/NAME.json      one finished row, with the fingerprint of everything that it depends on
OUTPUT/images/NAME/*.png   its pictures
OUTPUT/reference.npz       the reference's results, float32
OUTPUT/table.csv, results.json, report.html
"""

from __future__ import annotations

import io
import json
import pathlib
import zipfile
from typing import Any, Dict, Mapping, Optional

import numpy as np

from ugatit.ablation.identity import digest
from ugatit.data.convert import save_png, write_file
from ugatit.data.names import printable
from ugatit.data.reports import JSON_KEY, JSON_VALUE, write_json_report
from ugatit.errors import UserError
from ugatit.inference.outputs import require_writable

VERSION = 2  # grows when rows are measured differently, so that old ones are measured again
_MARK = 'ablation.json'


class Store:
    """One output folder; a row of another fingerprint does not count."""

    def __init__(self, folder: pathlib.Path, kind: str) -> None:
        """UserError for a folder that holds something else; nothing is written before `begin`."""
        self.folder, self.kind = folder, kind
        _require_ours(folder, kind)

    def begin(self) -> None:
        """Makes the folder, with the mark by which it is known again."""
        require_writable(self.folder)
        (self.folder / 'rows').mkdir(parents=True, exist_ok=True)
        write_json_report(self.folder / _MARK, {'kind': self.kind, 'version': VERSION})

    def finished(self, name: str, depends_on: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """The row, if it is finished and nothing that it depends on has changed."""
        try:
            stored = json.loads((self.folder / 'rows' / f'{name}.json').read_text())
        except (OSError, ValueError):
            return None
        return stored['row'] if stored.get('fingerprint') == fingerprint(depends_on) else None

    def save(self, name: str, depends_on: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        """Written last, whole or not at all: a row that is there is finished."""
        stored = {'fingerprint': fingerprint(depends_on), 'row': dict(row)}
        write_file(self.folder / 'rows' / f'{name}.json', json.dumps(stored, indent=1).encode())

    def reference(self, depends_on: Mapping[str, Any]) -> Optional[np.ndarray]:
        """The reference's results of an earlier session."""
        try:
            with np.load(self.folder / 'reference.npz') as stored:
                return stored['results'] if str(stored['fingerprint']) == fingerprint(depends_on) else None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):  # not there, or damaged
            return None

    def save_reference(self, depends_on: Mapping[str, Any], results: np.ndarray) -> None:
        """For the rows of later sessions; whole or not at all."""
        buffer = io.BytesIO()
        np.savez(buffer, results=results, fingerprint=fingerprint(depends_on))
        write_file(self.folder / 'reference.npz', buffer.getvalue())

    def save_picture(self, name: str, picture: str, pixels: np.ndarray) -> pathlib.Path:
        """uint8 [H, W, 3] -> images/NAME/PICTURE.png."""
        path = self.folder / 'images' / name / f'{picture}.png'
        path.parent.mkdir(parents=True, exist_ok=True)
        save_png(path, pixels)
        return path


def fingerprint(depends_on: Mapping[str, Any]) -> str:
    """Equal for equal content."""
    return digest({'version': VERSION, **depends_on})


def _require_ours(folder: pathlib.Path, kind: str) -> None:
    if folder.exists() and not folder.is_dir():
        raise UserError(f'--output must be a folder, but {printable(folder)} is a file; name another.')
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        mark = json.loads((folder / _MARK).read_text())
    except (OSError, ValueError):
        mark = {}
    if mark.get(JSON_KEY) != JSON_VALUE or mark.get('kind') != kind:
        raise UserError(f'--output must be a new folder, or one of an earlier {kind} ablation, but {printable(folder)}'
                        ' holds something else; name another.')  # fmt: skip
