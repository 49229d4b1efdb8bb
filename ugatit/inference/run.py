"""Many pictures through one model, with bounded memory: decoding and encoding run beside the network in threads.

Nothing as large as a picture is kept for longer than its batch, so 500 pictures need as much memory as 10.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import dataclasses
import logging
import os
import time
from typing import Any, Callable, ContextManager, Deque, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ugatit.data.face_crop import FaceCrop
from ugatit.errors import UserError
from ugatit.inference.inputs import Input, Prepared, prepare
from ugatit.inference.outputs import OutputFiles
from ugatit.inference.progress import Silent
from ugatit.inference.results import Result, Small, write_result
from ugatit.inference.settings import Settings
from ugatit.translate import Translator

_log = logging.getLogger(__name__)

_MOST_THREADS = 4  # decoding is mostly waiting and C code; more would only compete with the network

Job = Tuple[Input, OutputFiles]
ProgressBar = Callable[[Sequence[Any], str], ContextManager[Any]]  # ugatit.cli.progress.Progress, or `Silent`


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one input."""

    source: Input
    files: Tuple[os.PathLike, ...] = ()  # written: array, heat map, picture; empty after a failure
    error: Optional[str] = None  # one sentence that begins with the input's name; None: done
    warnings: Tuple[str, ...] = ()
    size: Optional[Tuple[int, int]] = None  # of the input: height, width in pixels
    crop: Optional[FaceCrop] = None  # what of the input was translated; None: all


class Timing(NamedTuple):
    """Seconds; what is not computing was waiting for files."""

    total: float
    computing: float  # inside the network


class Shown(NamedTuple):
    """An outcome with its small pictures, for a gallery; they are None unless settings ask for them."""

    outcome: Outcome
    original: Optional[np.ndarray]
    small: Optional[Small]


def translate_pictures(
    translate: Translator,
    jobs: Sequence[Job],
    settings: Settings,
    show: Callable[[Shown], None] = lambda shown: None,
    progress: ProgressBar = Silent,
) -> Tuple[List[Outcome], Timing]:
    """Translates every job's picture and writes its files; a failure concerns its own picture only.

    Args:
        translate: from `ugatit.load`.
        jobs: (input, files) from `assign_outputs`.
        settings: what is done to every picture.
        show: called with every finished picture, in the order of the jobs, one at a time.
        progress: called with the jobs and a noun; `advance` is called on what it gives.

    Raises:
        UserError, MemoryError, ...: only what would befall every picture alike; files that are complete stay.
    """
    outcomes: List[Outcome] = []
    clock = _Clock()
    with progress(jobs, 'pictures') as bar, _Pool() as pool:
        pending: Deque[concurrent.futures.Future[Shown]] = collections.deque()

        def finish(most: int) -> None:
            while len(pending) > most:
                shown = pending.popleft().result()
                for warning in shown.outcome.warnings:
                    _log.warning('warning: %s', warning)
                outcomes.append(shown.outcome)
                show(shown)
                bar.advance()

        for batch in _batches(pool, jobs, translate.image_size, settings):
            results = iter(clock.run(translate, [p.square for _, p in batch if isinstance(p, Prepared)]))
            for job, prepared in batch:
                failed = isinstance(prepared, str)
                pending.append(pool.submit(_fail, job, prepared) if failed else
                               pool.submit(_write, job, prepared, next(results), settings))  # fmt: skip
            finish(2 * settings.batch_size)
        finish(0)
    return outcomes, clock.timing()


def _batches(
    pool: _Pool, jobs: Sequence[Job], size: int, settings: Settings
) -> Iterator[List[Tuple[Job, Union[Prepared, str]]]]:
    """Jobs with their pictures (or why there is none), in order, up to `batch_size` pictures at a time."""
    batch: List[Tuple[Job, Union[Prepared, str]]] = []
    good = 0
    for job, prepared in zip(jobs, pool.ahead(lambda job: _prepare(job, size, settings), jobs, settings.batch_size)):
        batch.append((job, prepared))
        good += isinstance(prepared, Prepared)
        if good == settings.batch_size:
            yield batch
            batch, good = [], 0
    if batch:
        yield batch


def _prepare(job: Job, size: int, settings: Settings) -> Union[Prepared, str]:
    try:
        return prepare(job[0], size, settings)
    except UserError as error:
        return str(error)


def _fail(job: Job, error: str) -> Shown:
    return Shown(Outcome(job[0], error=error), None, None)


def _write(job: Job, prepared: Prepared, result: Result, settings: Settings) -> Shown:
    source, files = job
    outcome = Outcome(source, warnings=prepared.warnings, size=prepared.geometry.input_size, crop=prepared.crop)
    try:
        small = write_result(prepared, result, files, settings, source)
    except UserError as error:
        return Shown(dataclasses.replace(outcome, error=f'{source}: {error}'), prepared.thumbnail, None)
    except MemoryError:
        flag = 'paste_back' if settings.pastes_each else 'keep_size'
        error = f'{source}: the result is too large for the free memory: leave out --{flag} for it'
        return Shown(dataclasses.replace(outcome, error=error), prepared.thumbnail, None)
    return Shown(dataclasses.replace(outcome, files=files.all()), prepared.thumbnail, small)


class _Clock:
    def __init__(self) -> None:
        self._start, self._computing = time.monotonic(), 0.0

    def run(self, translate: Translator, squares: Sequence[np.ndarray]) -> List[Result]:
        if not squares:
            return []
        start = time.monotonic()
        found = translate(np.stack(squares))
        self._computing += time.monotonic() - start
        return [Result(image, heatmap) for image, heatmap in zip(found.image, found.heatmap)]

    def timing(self) -> Timing:
        return Timing(time.monotonic() - self._start, self._computing)


class _Pool(contextlib.AbstractContextManager):
    """Threads that work a little ahead, never far; what is not begun when an error ends the run is dropped."""

    def __init__(self) -> None:
        self.threads = min(_MOST_THREADS, os.cpu_count() or 1)
        self._executor = concurrent.futures.ThreadPoolExecutor(self.threads)
        self.submit = self._executor.submit

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._executor.shutdown(wait=True, cancel_futures=kind is not None)

    def ahead(self, function: Callable[[Job], Any], jobs: Sequence[Job], batch_size: int) -> Iterator[Any]:
        """function(job) in order, begun for the next batch while this one is computed."""
        futures: Deque[concurrent.futures.Future] = collections.deque()
        for job in jobs:
            futures.append(self.submit(function, job))
            if len(futures) > batch_size + self.threads:
                yield futures.popleft().result()
        while futures:
            yield futures.popleft().result()
