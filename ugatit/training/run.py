"""A whole run of `train.py`, behind its flags: check everything, read the pictures, train, and continue later."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import pathlib
import shutil
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

import numpy as np

from ugatit.data.dataset import DomainStream, PairStream, Pictures, ProgressBar, scan
from ugatit.data.files import list_images
from ugatit.data.folders import Folders, find_folders
from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.nn.blueprint import check_variants
from ugatit.nn.presets import variants_mapping
from ugatit.nn.table import variants_table
from ugatit.training import loop as loops
from ugatit.training.device import check_batch
from ugatit.training.memory import Estimate, check_memory, estimate_memory, free_memory
from ugatit.training.records import NoRecords, Records, draw_missing_plots, write_settings
from ugatit.training.settings import DataSettings, Settings
from ugatit.training.start import Start, find_start, make_training, report_changes
from ugatit.training.state import official_state
from ugatit.training.stop import StopRequest, stop_on_signals

_log = logging.getLogger(__name__)

MakePace = Callable[[int, int], loops.Pace]  # (steps done, steps in all) -> what tells the user


def train(
    settings: Settings,
    dataset: Optional[str],
    workdir: str,
    device: Any,  # an opened runner: its `name` and `device`
    init_from: Optional[str] = None,
    progress: ProgressBar = lambda items: items,
    make_pace: MakePace = lambda done, total: lambda step, losses: None,
) -> int:
    """Trains until the schedule ends or a signal comes; a work directory with a run in it is continued.

    Returns:
      0, or 128 + the signal's number.

    Raises:
      UserError: something is wrong with settings, folders or checkpoints (before any picture is read), or the run had
        to stop; what it had done is saved where that is possible.
    """
    settings.check()
    check_batch(settings.training.batch_size, device.replicas)
    folders = _folders(settings.data, dataset)
    place = pathlib.Path(workdir).expanduser()
    start = find_start(settings, place, folders.name, init_from)
    for line in report_changes(settings, start):
        _log.warning('%s', line)
    if start.steps_done >= settings.training.schedule.steps:
        _log.info('already at step %d of %d: nothing to do; raise --config.training.epochs to train on',
                  start.steps_done, settings.training.schedule.steps)  # fmt: skip
        if device.chief:
            draw_missing_plots(place)
        return 0
    architecture, variants = settings.model.architecture, settings.model.load_variants()
    share = 1 if device.name == 'cpu' else device.replicas  # logical CPUs share one memory
    estimate = estimate_memory(architecture, settings.training.batch_size // share, variants)
    check_memory(estimate, free_memory(device.name), device.name)
    with _locked(place) if device.chief else contextlib.nullcontext():
        table = variants_table(check_variants(architecture, variants)).splitlines()
        _log.info('%s', '\n'.join([f'variants {variants.name}:', *table]))
        if device.chief:
            _check_disk(place, estimate)
            write_settings(place, settings.to_json(), table)
        with device.scope():
            return _train(settings, folders, start, place, table, progress, make_pace, device)


def _train(
    settings: Settings,
    folders: Folders,
    start: Start,
    workdir: pathlib.Path,
    table: List[str],
    progress: ProgressBar,
    make_pace: MakePace,
    device: Any,
) -> int:
    pictures, fingerprints = _read(settings, folders, progress)
    _report_data(start, fingerprints)
    metadata = _metadata(settings, folders, fingerprints, table)
    training = make_training(settings, start, device)
    device.broadcast(list(official_state(training).values()))
    total = settings.training.schedule.steps
    _log.info('step %d of %d, %s', start.steps_done, total,
              'continued' if start.resumed else 'a new run')  # fmt: skip
    records, pace = NoRecords(), _silent
    if device.chief:
        records = Records(workdir, start.steps_done, training.precision.columns)
        pace = make_pace(start.steps_done, total)
    loop = loops.Loop(settings, start, training, pictures, records, metadata, pace)
    try:
        with stop_on_signals() as request:
            loop.run(request)
    finally:
        records.close()
    _say_end(loop, total, request, workdir)
    return request.exit_code if loop.done < total else 0


def _silent(done: int, losses: Mapping[str, float]) -> None:
    """Of several workers one shows the progress."""


def _say_end(loop: loops.Loop, total: int, request: StopRequest, workdir: pathlib.Path) -> None:
    if loop.done < total:
        _log.info('stopped at step %d of %d, saved; the same command continues', loop.done, total)
    else:
        _log.info('finished: %d steps; results in %s', total, printable(workdir))


def _folders(data: DataSettings, dataset: Optional[str]) -> Folders:
    return find_folders(dataset, data.name, data.train_a, data.train_b, data.test_a, data.test_b)


def _read(settings: Settings, folders: Folders, progress: ProgressBar) -> Tuple[loops.Pictures, Dict[str, str]]:
    """Scans both training folders and takes the sample pictures."""
    training, data = settings.training, settings.data
    loading = data.loading(settings.model.image_size)
    budget = int(data.cache_share * (free_memory('cpu') or 0))
    scanned: Dict[str, Pictures] = {}
    for domain, folder in (('A', folders.train_a), ('B', folders.train_b)):
        scanned[domain] = scan(folder, loading, budget, progress)
        budget -= len(scanned[domain]) * loading.image_size**2 * 3 if scanned[domain].cached else 0
        _log.info('train%s: %d pictures in %s, %s', domain, len(scanned[domain]), printable(folder.absolute()),
                  'kept in memory' if scanned[domain].cached else 'read again for every step')  # fmt: skip
    tests = {
        domain: _tests(folder, scanned[domain], data, loading.image_size)
        for domain, folder in (('A', folders.test_a), ('B', folders.test_b))
    }
    batches = _batches(scanned, training.seed, training.batch_size, data.augment, training.two_batches)
    prints = {f'train{domain}': pictures.fingerprint for domain, pictures in scanned.items()}
    return loops.Pictures(batches, tests['A'], tests['B']), prints


def _batches(scanned: Dict[str, Pictures], seed: int, size: int, augmented: bool, two: bool) -> loops.Batches:
    """Step -> batch; with `two_batches` the generators draw from an order of their own."""
    shared = PairStream(DomainStream(scanned['A'], 'A'), DomainStream(scanned['B'], 'B'), seed, size, augmented)
    own = PairStream(
        DomainStream(scanned['A'], 'A/generators'), DomainStream(scanned['B'], 'B/generators'), seed, size, augmented
    )
    return lambda step: (shared(step), own(step) if two else None)


def _tests(folder: Optional[pathlib.Path], train: Pictures, data: DataSettings, image_size: int) -> List[np.ndarray]:
    """The first readable test pictures by name, or the first training pictures where there is no test folder."""
    if folder is None:
        _log.info('no test folder: samples show the first training pictures')
        return [train.get(i).copy() for i in range(min(data.samples, len(train)))]
    loading = dataclasses.replace(data.loading(image_size), on_broken='skip')
    return [loading.load(path) for path in _readable(folder, loading, data.samples)]


def _readable(folder: pathlib.Path, loading: Any, count: int) -> List[pathlib.Path]:
    found: List[pathlib.Path] = []
    for path in list_images(folder, loading.recursive).paths:
        with contextlib.suppress(UserError):
            loading.load(path)
            found.append(path)
        if len(found) == count:
            break
    if not found:
        raise UserError(
            f'expected test pictures in {printable(folder.absolute())}, but none is readable; replace them.'
        )
    return found


def _report_data(start: Start, fingerprints: Dict[str, str]) -> None:
    """Other pictures than before do not stop a run, but its steps are then no longer those of one run."""
    before = start.sidecar.get('data')
    for part, now in fingerprints.items():
        then = before.get(part) if isinstance(before, dict) else None
        if then is not None and then != now:
            _log.warning('changed: %s had %s pictures, now %s (or other names): the run continues, but its pictures'
                         ' come in another order than before', part, then.split(':')[0], now.split(':')[0])  # fmt: skip


def _metadata(settings: Settings, folders: Folders, fingerprints: Dict[str, str], table: List[str]) -> Dict[str, Any]:
    """For the JSON beside each checkpoint."""
    return {
        'architecture': settings.model.architecture,
        'settings': settings.to_json(),
        'dataset': folders.name,
        'data': fingerprints,
        'variants': variants_mapping(settings.model.load_variants()),
        'variants_table': table,
    }


def _check_disk(workdir: pathlib.Path, estimate: Estimate) -> None:
    free = shutil.disk_usage(workdir).free
    if free < estimate.state:
        raise UserError(
            f'a checkpoint of this model needs {estimate.state / 1e9:.2f} GB, but {free / 1e9:.2f} GB are free in'
            f' {printable(workdir.absolute())}; free some space, or choose another --workdir.'
        )


@contextlib.contextmanager
def _locked(workdir: pathlib.Path) -> Iterator[None]:
    """Two processes in one work directory would overwrite each other. The lock ends with its process."""
    try:
        workdir.mkdir(parents=True, exist_ok=True)
        file = (workdir / '.lock').open('w')
    except OSError as error:
        raise UserError(
            f'--workdir={printable(workdir)} cannot be written ({error.strerror}); choose another place.'
        ) from error
    with file:
        if not _lock(file.fileno()):
            raise UserError(
                f'another process trains in {printable(workdir.absolute())}; wait for it, or use another --workdir.'
            )
        yield


def _lock(descriptor: int) -> bool:
    if os.name == 'nt':
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True
