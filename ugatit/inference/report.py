"""The machine-readable report of a run, `--json`."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Dict, Optional, Sequence

from ugatit.data.convert import write_file
from ugatit.data.files import Ignored
from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.inference.outputs import Assignment, key_of
from ugatit.inference.run import Outcome, Timing
from ugatit.translate import Translator


def check_report_path(path: str, assignment: Assignment) -> None:
    """UserError, before anything is computed, where the report would overwrite a picture or cannot be a file."""
    target = pathlib.Path(path)
    if target.is_dir():
        raise UserError(
            f'--json must be a file, but {printable(target)} is a folder; write --json={target}/report.json.'
        )
    files = [file for source, chosen in assignment.files for file in (source.path, *chosen.all()) if file is not None]
    if key_of(target) in {key_of(file) for file in files}:
        raise UserError(f'--json={printable(target)} would overwrite an input or a result; choose another name.')
    if target.exists() and not _looks_like_json(target):
        raise UserError(
            f'--json={printable(target)} exists and is no JSON file, so it is not replaced; choose another name.'
        )


def write_report(path: str, report: Dict[str, Any]) -> None:
    """Writes it whole or not at all. Names that are no text keep their bytes as JSON escapes."""
    write_file(path, (json.dumps(report, indent=1) + '\n').encode('ascii'))


def make_report(
    model: Dict[str, Any],
    translate: Translator,
    outcomes: Sequence[Outcome],
    ignored: Sequence[Ignored],
    timing: Timing,
    exit_code: int,
    gallery: Optional[pathlib.Path],
) -> Dict[str, Any]:
    """Plain data: the model, every input with its outcome, counts and times."""
    plan = translate.plan
    done = sum(outcome.error is None for outcome in outcomes)
    return {
        'model': model,
        'ranges': None if plan is None else plan.to_json(),
        'inputs': [_entry(outcome) for outcome in outcomes]
        + [{'input': os.fspath(path), 'outcome': 'ignored', 'reason': reason} for path, reason in ignored],
        'counts': {'done': done, 'failed': len(outcomes) - done, 'ignored': len(ignored)},
        'seconds': {'total': round(timing.total, 3), 'computing': round(timing.computing, 3)},
        'gallery': None if gallery is None else os.fspath(gallery),
        'exit_code': exit_code,
    }


def _entry(outcome: Outcome) -> Dict[str, Any]:
    source = outcome.source
    entry: Dict[str, Any] = {
        'input': os.fspath(source.name if source.path is None else source.path),
        'outcome': 'done' if outcome.error is None else 'failed',
        'outputs': [os.fspath(file) for file in outcome.files],
        'warnings': list(outcome.warnings),
    }
    if outcome.error is not None:
        entry['error'] = outcome.error
    if outcome.size is not None:
        entry['height'], entry['width'] = outcome.size
    return entry


def _looks_like_json(path: pathlib.Path) -> bool:
    try:
        with path.open('rb') as file:
            return file.read(64).lstrip()[:1] in (b'{', b'[', b'')
    except OSError:
        return False
