"""The whole of `infer.py` behind its flags."""

from __future__ import annotations

import logging
import os
import pathlib
from typing import Any, Callable, Dict, List, Optional, Sequence

from ugatit.errors import UserError
from ugatit.inference.gallery import Gallery
from ugatit.inference.inputs import Found
from ugatit.inference.model import ModelChoice, log_variants, model_line
from ugatit.inference.outputs import Assignment
from ugatit.inference.planned import load_planned, read_plan
from ugatit.inference.progress import Silent
from ugatit.inference.report import make_report, write_report
from ugatit.inference.run import Outcome, ProgressBar, translate_pictures
from ugatit.inference.settings import Settings
from ugatit.inference.together import paste_together
from ugatit.translate import Translator

_log = logging.getLogger(__name__)

DONE, SOME_FAILED, NOTHING_DONE = 0, 1, 2
Judge = Callable[[Translator, Sequence[Outcome]], Dict[str, Any]]  # what is said of the results as a whole, for JSON


def infer(
    choice: ModelChoice,
    found: Found,  # from `find_inputs`
    assignment: Assignment,  # from `assign_outputs`
    settings: Settings,
    ranges: str = 'none',  # or 'auto', or a plan's path
    json_path: Optional[str] = None,
    progress: ProgressBar = Silent,
    judge: Optional[Judge] = None,  # called with the model and all outcomes when everything is written
) -> int:
    """Translates everything that was found; returns the exit code (0 all, 1 some failed, 2 all failed).

    Raises:
        UserError: what was asked for cannot be done at all; nothing is written then.
    """
    plan = read_plan(ranges, choice.direction)
    _log_ignored(found)
    translate = load_planned(choice, ranges, plan, [source for source, _ in assignment.files], settings)
    model = choice.describe(translate)
    log_variants(choice.variants, translate.architecture, model['network'])
    return translate_all(translate, model, model_line(model), found, assignment, settings, json_path, progress, judge)


def translate_all(
    translate: Any,  # a Translator, or what is called like one: an exported file
    model: Dict[str, Any],  # for the report
    line: str,  # the model in one line, for the log and the gallery
    found: Found,
    assignment: Assignment,
    settings: Settings,
    json_path: Optional[str] = None,
    progress: ProgressBar = Silent,
    judge: Optional[Judge] = None,
) -> int:
    """`infer` with a model that is there already."""
    _log.info('%s', line)
    for note in assignment.notes:
        _log.info('%s', note)
    gallery = Gallery(assignment.folder, model['direction'], line) if settings.thumbnails else None
    show = gallery.add if gallery else lambda shown: None
    outcomes, timing = translate_pictures(translate, assignment.files, settings, show, progress)
    code = _exit_code(outcomes)
    page = gallery.save() if gallery and code != NOTHING_DONE else None
    _log_summary(outcomes, assignment, page)
    pasted = _pasted(outcomes, settings, model['direction'])
    code = SOME_FAILED if pasted is None else code
    metrics = _judged(judge, translate, outcomes) if judge and code != NOTHING_DONE else None
    if metrics is not None and 'error' in metrics:
        code = SOME_FAILED
    if json_path is not None:
        report = make_report(model, translate, outcomes, found.ignored, timing, code, page)
        report['pasted'] = [os.fspath(path) for path in pasted or ()]
        write_report(json_path, {**report, 'metrics': metrics} if judge else report)
    return code


def _pasted(outcomes: Sequence[Outcome], settings: Settings, direction: str) -> Optional[List[pathlib.Path]]:
    """Photographs with all their faces, where those were asked for; None where one could not be written."""
    if not settings.paste_back or settings.pastes_each:
        return []
    try:
        files = paste_together(outcomes, settings, direction)
    except UserError as error:
        _log.error('putting faces back: %s', error)
        return None
    for path in files:
        _log.info('all faces put back: %s', path)
    return files


def _judged(judge: Judge, translate: Translator, outcomes: Sequence[Outcome]) -> Dict[str, Any]:
    """The pictures are made and stay: what is wrong with measuring them is one more line, not the end."""
    try:
        return judge(translate, outcomes)
    except UserError as error:
        _log.error('metrics: %s', error)
        return {'error': str(error)}


def _exit_code(outcomes: Sequence[Outcome]) -> int:
    failed = sum(outcome.error is not None for outcome in outcomes)
    return DONE if not failed else NOTHING_DONE if failed == len(outcomes) else SOME_FAILED


def _log_ignored(found: Found) -> None:
    if found.ignored:
        examples = ', '.join(f'{path.name} ({reason})' for path, reason in found.ignored[:3])
        more = ', ...' if len(found.ignored) > 3 else ''
        _log.info('%d ignored: %s%s', len(found.ignored), examples, more)


def _log_summary(outcomes: Sequence[Outcome], assignment: Assignment, page: Optional[pathlib.Path]) -> None:
    failures: List[str] = [outcome.error for outcome in outcomes if outcome.error is not None]
    done = len(outcomes) - len(failures)
    place = assignment.files[0][1].picture if len(outcomes) == 1 else assignment.folder
    _log.info('%d of %d pictures translated%s', done, len(outcomes), f': {place}' if done else '')
    if page is not None:
        _log.info('gallery: %s', page)
    if failures:
        _log.error('%d failed:', len(failures))
    for failure in failures:
        _log.error('  %s', failure)
