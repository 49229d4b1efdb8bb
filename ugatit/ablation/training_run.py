"""`ablate.py --train`: one process of train.py per run, then its test pictures translated and judged.

A process of its own: a run that dies takes nothing with it, memory is given back, and the command in its log is what
anybody can type. A finished run is not trained again, and a half-finished one continues, because train.py does: so the
name of its folder ends in a digest of all that training depends on, and a run with other settings is in another folder.
"""

from __future__ import annotations

import logging
import pathlib
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ugatit.ablation import identity
from ugatit.ablation.store import Store
from ugatit.ablation.training import Entry, Plan
from ugatit.ablation.training_page import report
from ugatit.ablation.training_table import csv_text
from ugatit.data.convert import to_uint8, write_file
from ugatit.data.files import PathLike, list_images
from ugatit.data.folders import Folders, find_folders
from ugatit.data.names import printable
from ugatit.data.reports import write_json_report
from ugatit.diagnosis.dropin import quietly
from ugatit.diagnosis.pictures import read_pictures, trained_size
from ugatit.errors import UserError
from ugatit.evaluation.extractors import Extractor, choose_extractor, extract
from ugatit.evaluation.frechet import fid
from ugatit.evaluation.kernel import choose_subset_size, kid
from ugatit.training.table import read_rows
from ugatit.translate import load

_log = logging.getLogger(__name__)

DONE, SOME_FAILED = 0, 1
CURVES = ('Generator_loss', 'Discriminator_loss', 'G_A_cycle', 'G_B_cycle', 'G_A_gan', 'G_B_gan')
SHOWN = 6  # test pictures of the report
_BATCH = 16


class Job(NamedTuple):
    """One run with all that it needs."""

    plan: Plan
    entry: Entry
    seed: int
    variants: str  # that it trains
    depends_on: Dict[str, Any]  # what must be equal for a finished row to count
    words: List[str]  # the command
    workdir: pathlib.Path
    folders: Folders
    extractor: Extractor
    subset_size: Optional[int]

    @property
    def name(self) -> str:
        """Of its row and of its pictures."""
        return f'{self.entry.name}-seed{self.seed}'


def run(
    plan: Plan,
    dataset: PathLike,
    output: PathLike,
    device: str,
    command: Sequence[str],  # what starts train.py
    inception: Optional[PathLike] = None,
    subset_size: Optional[int] = None,
) -> int:
    """Trains and judges what is not finished; 1 where a run failed.

    Raises:
        UserError: before anything is trained: the dataset has no test pictures to judge on, or fewer than a KID subset;
            the base is no config; or the output is somebody else's folder.
    """
    folder = pathlib.Path(output).expanduser().absolute()
    folders = find_folders(dataset)
    _require_tests(folders, subset_size)
    store = Store(folder, 'training')
    extractor = choose_extractor(inception)
    jobs = _jobs(plan, folder, folders, device, command, extractor, subset_size)
    store.begin()
    results: List[Dict[str, Any]] = []
    for job in jobs:
        result = store.finished(job.name, job.depends_on)
        new = result is None
        if result is None:
            _log.info('%s (%d left): %s', job.name, len(jobs) - len(results), job.entry.changes)
            result = _guarded(job, store)
            if 'error' not in result:
                store.save(job.name, job.depends_on, result)
        _log.info('%s', _line(result))
        results.append(result)
        if new or len(results) == len(jobs):
            _write(folder, plan, dataset, extractor, results)
    failed = sum('error' in result for result in results)
    for file in ('table.csv', 'results.json', 'report.html'):
        _log.info('%s', folder / file)
    return SOME_FAILED if failed else DONE


def _require_tests(folders: Folders, subset_size: Optional[int]) -> None:
    for domain, path in (('A', folders.test_a), ('B', folders.test_b)):
        if path is None:
            raise UserError(f'ablate.py --train judges on test pictures, but the dataset has no test{domain}; add it.')
    choose_subset_size(*(len(list_images(path).paths) for path in folders[3:5]), subset_size)


def _jobs(
    plan: Plan,
    folder: pathlib.Path,
    folders: Folders,
    device: str,
    command: Sequence[str],
    extractor: Extractor,
    subset_size: Optional[int],
) -> List[Job]:
    """Every run, seed by seed."""
    settings = identity.settings(plan.base, plan.root)
    learned, judged = ([identity.files(path) for path in paths] for paths in (folders[1:3], folders[3:5]))
    jobs = []
    for entry, seed in plan.runs():
        variants = _variants(plan, entry, settings)
        training = {'settings': settings, 'fields': entry.fields, 'rules': identity.rules(variants), 'data': learned}
        depends_on = {'training': training, 'seed': seed, 'tests': judged, 'extractor': extractor.name,
                      'subset_size': subset_size}  # fmt: skip
        workdir = folder / 'runs' / entry.name / f'seed{seed}-{identity.short_digest(training)}'
        words = [*command, f'--config={plan.base}', f'--dataset={folders.train_a.parent.absolute()}',
                 f'--workdir={workdir}', f'--device={device}', *entry.words(seed)]  # fmt: skip
        jobs.append(Job(plan, entry, seed, variants, depends_on, words, workdir, folders, extractor, subset_size))
    return jobs


def _variants(plan: Plan, entry: Entry, settings: Dict[str, Any]) -> str:
    """The preset or file that an entry trains; train.py runs in the root, so files are named from there."""
    usual = settings.get('model', {}).get('variants', 'default')
    variants = str(dict(entry.fields).get('model.variants', usual))
    return str(plan.root / variants) if variants.endswith('.py') else variants


def _guarded(job: Job, store: Store) -> Dict[str, Any]:
    entry = job.entry
    row = {'name': entry.name, 'changes': entry.changes, 'reference': entry.reference, 'seed': job.seed,
           'command': ' '.join(job.words)}  # fmt: skip
    try:
        _train(job)
        with quietly():
            return {**row, **_judged(job, store)}
    except Exception as error:  # the point is that the rest goes on
        if isinstance(error, UserError):
            return {**row, 'error': str(error)}
        _log.exception('%s failed', job.name)
        return {**row, 'error': f'{type(error).__name__}: {error}'}


def _train(job: Job) -> None:
    job.workdir.mkdir(parents=True, exist_ok=True)
    log = job.workdir / 'train.log'
    with log.open('ab') as file:
        file.write(f'$ {" ".join(job.words)}\n'.encode())
        file.flush()
        # From the root of the project: a file of variants is named from there.
        done = subprocess.run(job.words, cwd=job.plan.root, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        last = log.read_text('utf-8', 'replace').rstrip().splitlines()[-1]
        raise UserError(f'train.py stopped with exit code {done.returncode}: {last}; all that it said is in'
                        f' {printable(log)}: mend the cause and give the same command again.')  # fmt: skip


def _judged(job: Job, store: Store) -> Dict[str, Any]:
    """KID and FID of both directions on all test pictures, and of no translation at all."""
    found: Dict[str, Any] = {'curves': read_curves(job.workdir / 'losses.csv')}
    tests = {'a2b': (job.folders.test_a, job.folders.test_b), 'b2a': (job.folders.test_b, job.folders.test_a)}
    for direction, (source, target) in tests.items():
        size = trained_size(job.workdir / 'checkpoints', direction)
        images = read_pictures([str(source)], size).images
        made = _translated(job, direction, images)
        real = _features(job.extractor, read_pictures([str(target)], size).images)
        x, before = _features(job.extractor, made), _features(job.extractor, images)
        found[direction] = {
            'kid': kid(x, real, subset_size=job.subset_size).to_json(),
            'fid': fid(x, real).to_json(),
            'kid_untranslated': kid(before, real, subset_size=job.subset_size).to_json(),
        }
        for number in range(min(SHOWN, len(images))):
            store.save_picture(job.name, f'{direction}_{number}', to_uint8(made[number]))
            store.save_picture('input', f'{direction}_{number}', to_uint8(images[number]))
    return found


def _translated(job: Job, direction: str, images: np.ndarray) -> np.ndarray:
    translate = load(job.workdir / 'checkpoints', direction, variants=job.variants, device='cpu')
    return np.concatenate([translate(images[i : i + _BATCH]).image for i in range(0, len(images), _BATCH)])


def _features(extractor: Extractor, images: np.ndarray) -> np.ndarray:
    return extract(extractor, (to_uint8(image) for image in images))


def read_curves(table: pathlib.Path) -> Dict[str, List[Tuple[int, float]]]:
    """(step, value) of the columns that the report draws; a step that did not compute a term (n_critic) has none."""
    rows = read_rows(table)
    return {column: [(int(row['step']), float(row[column])) for row in rows if row.get(column)] for column in CURVES}


def _line(result: Dict[str, Any]) -> str:
    if 'error' in result:
        return f'{result["name"]}, seed {result["seed"]}: failed: {result["error"]}'
    kids = ', '.join(f'{direction} {result[direction]["kid"]["x100"]:.2f}' for direction in ('a2b', 'b2a'))
    return f'{result["name"]}, seed {result["seed"]}: KID x 100 {kids}'


def _write(
    folder: pathlib.Path, plan: Plan, dataset: PathLike, extractor: Extractor, results: List[Dict[str, Any]]
) -> None:
    about = {
        'dataset': str(dataset),
        'base': plan.base.name,
        'seeds': list(plan.seeds),
        'extractor': extractor.name,
        'comparable': extractor.comparable,
    }
    write_file(folder / 'table.csv', csv_text(results).encode())
    write_json_report(folder / 'results.json', {'about': about, 'runs': results})
    write_file(folder / 'report.html', report(folder, about, results).encode())
