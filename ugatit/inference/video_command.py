"""`infer.py` with a video behind its flags: the run, and what is said of it."""

from __future__ import annotations

import dataclasses
import logging
import pathlib
import time
from typing import Any, Dict, Optional

from ugatit.data.names import printable
from ugatit.data.reports import write_json_report
from ugatit.inference.inputs import Input
from ugatit.inference.model import ModelChoice, log_variants, model_line
from ugatit.inference.planned import load_planned, read_plan
from ugatit.inference.progress import Silent
from ugatit.inference.report import make_report
from ugatit.inference.run import Outcome, ProgressBar, Timing
from ugatit.inference.settings import Settings
from ugatit.inference.video import Translated, clip_crop, sample_frames, translate_clip
from ugatit.inference.video_job import VideoJob

_log = logging.getLogger(__name__)


def infer_video(
    choice: ModelChoice,
    job: VideoJob,
    settings: Settings,
    ranges: str = 'none',
    json_path: Optional[str] = None,
    progress: ProgressBar = Silent,
) -> int:
    """Translates a clip with a checkpoint; returns the exit code 0.

    Raises:
        UserError: anything that is wrong with the clip or the model; no result is written then.
    """
    plan = read_plan(ranges, choice.direction)
    crop = clip_crop(job.path, settings)
    whole = dataclasses.replace(settings, face_crop='off', paste_back=False)
    translate = load_planned(choice, ranges, plan, sample_frames(job.path, settings, crop), whole)
    model = choice.describe(translate)
    log_variants(choice.variants, translate.architecture, model['network'])
    return translate_video(translate, model, model_line(model), job, settings, crop, json_path, progress)


def translate_video(
    translate: Any,  # a Translator, or what is called like one: an exported file
    model: Dict[str, Any],
    line: str,
    job: VideoJob,
    settings: Settings,
    crop: Any,  # from `clip_crop`
    json_path: Optional[str] = None,
    progress: ProgressBar = Silent,
) -> int:
    """`infer_video` with a model that is there already."""
    _log.info('%s', line)
    if job.target.exists():
        _log.info('1 file of an earlier run will be replaced')
    job.target.parent.mkdir(parents=True, exist_ok=True)
    clock = _Clock(translate)
    done = translate_clip(clock, job.path, job.target, settings, crop, job.side_by_side, progress)
    for warning in done.warnings:
        _log.warning('warning: %s: %s', printable(job.path), warning)
    _log.info('%d frames translated, %.1f s at %.4g frames/s: %s', done.frames, done.seconds, done.rate, job.target)
    if json_path is not None:
        write_json_report(json_path, _report(model, clock, job, done, crop))
    return 0


class _Clock:
    """The model, with the time that it takes."""

    def __init__(self, translate: Any) -> None:
        self._translate, self.image_size, self.plan = translate, translate.image_size, translate.plan
        self._start, self._computing = time.monotonic(), 0.0

    def __call__(self, images: Any) -> Any:
        start = time.monotonic()
        found = self._translate(images)
        self._computing += time.monotonic() - start
        return found

    def timing(self) -> Timing:
        return Timing(time.monotonic() - self._start, self._computing)


def _report(model: Dict[str, Any], clock: _Clock, job: VideoJob, done: Translated, crop: Any) -> Dict[str, Any]:
    source = Input(job.path, pathlib.PurePath(job.path.name))
    outcome = Outcome(source, (job.target,), warnings=done.warnings, size=done.size, crop=crop)
    report = make_report(model, clock, [outcome], (), clock.timing(), 0, None)
    return {**report, 'video': {'frames': done.frames, 'seconds': done.seconds, 'rate': done.rate}}
