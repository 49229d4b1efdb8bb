"""The machine-readable report of a run, `--json`."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Dict, Optional, Sequence

from ugatit.data.files import Ignored
from ugatit.data.reports import write_json_report
from ugatit.inference.run import Outcome, Timing
from ugatit.translate import Translator


def write_report(path: str, report: Dict[str, Any]) -> None:
    """Writes it whole or not at all, with the mark by which a later run knows it."""
    write_json_report(path, report)


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
    if outcome.crop is not None:
        face, window = outcome.crop.face, outcome.crop.window
        entry['face'] = None if face is None else face._asdict()
        entry['crop'] = window._asdict()
    return entry
