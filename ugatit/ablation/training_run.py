"""`ablate.py --train`: one process of train.py per run, then its test pictures translated and judged.

A process of its own: a run that dies takes nothing with it, memory is given back, and the command in its log is what
anybody can type. A finished run is not trained again, and a half-finished one continues, because train.py does.
"""

from __future__ import annotations

import csv
import logging
import os
import pathlib
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

from ugatit.ablation.store import Store
from ugatit.ablation.training import Entry, Plan
from ugatit.ablation.training_page import report
from ugatit.ablation.training_table import csv_text
from ugatit.data.convert import to_uint8, write_file
from ugatit.data.files import PathLike
from ugatit.data.folders import Folders, find_folders
from ugatit.data.reports import write_json_report
from ugatit.diagnosis.dropin import quietly
from ugatit.diagnosis.pictures import read_pictures, trained_size
from ugatit.errors import UserError
from ugatit.evaluation.extractors import Extractor, choose_extractor, extract
from ugatit.evaluation.frechet import fid
from ugatit.evaluation.kernel import kid
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
    words: List[str]  # the command
    workdir: pathlib.Path
    folders: Folders
    extractor: Extractor
    subset_size: Optional[int]


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
        UserError: the dataset has no test pictures to judge on, or the output is somebody else's folder.
    """
    folder = pathlib.Path(output).expanduser().absolute()
    folders = find_folders(dataset)
    _require_tests(folders)
    store = Store(folder, 'training')
    extractor = choose_extractor(inception)
    store.begin()
    results: List[Dict[str, Any]] = []
    runs = plan.runs()
    for number, (entry, seed) in enumerate(runs):
        name = f'{entry.name}-seed{seed}'
        depends_on = _depends_on(plan, entry, seed, folders, extractor, subset_size)
        result = store.finished(name, depends_on)
        new = result is None
        if result is None:
            _log.info('%s (%d left): %s', name, len(runs) - number, entry.changes)
            workdir = folder / 'runs' / entry.name / f'seed{seed}'
            words = [*command, f'--config={plan.base}', f'--dataset={folders.train_a.parent.absolute()}',
                     f'--workdir={workdir}', f'--device={device}', *entry.words(seed)]  # fmt: skip
            job = Job(plan, entry, seed, words, workdir, folders, extractor, subset_size)
            result = _guarded(job, store)
            if 'error' not in result:
                store.save(name, depends_on, result)
        _log.info('%s', _line(result))
        results.append(result)
        if new or len(results) == len(runs):
            _write(folder, plan, dataset, extractor, results)
    failed = sum('error' in result for result in results)
    for file in ('table.csv', 'results.json', 'report.html'):
        _log.info('%s', folder / file)
    return SOME_FAILED if failed else DONE


def _require_tests(folders: Folders) -> None:
    for domain, path in (('A', folders.test_a), ('B', folders.test_b)):
        if path is None:
            raise UserError(f'ablate.py --train judges on test pictures, but the dataset has no test{domain}; add it.')


def _depends_on(
    plan: Plan, entry: Entry, seed: int, folders: Folders, extractor: Extractor, subset_size: Optional[int]
) -> Dict[str, Any]:
    return {
        'base': plan.base.read_text('utf-8'),
        'fields': [list(field) for field in entry.fields],
        'seed': seed,
        'pictures': [
            len(os.listdir(path)) for path in (folders.train_a, folders.train_b, folders.test_a, folders.test_b)
        ],  # fmt: skip
        'extractor': extractor.name,
        'subset_size': subset_size,
    }


def _guarded(job: Job, store: Store) -> Dict[str, Any]:
    entry = job.entry
    row = {'name': entry.name, 'changes': entry.changes, 'reference': entry.reference, 'seed': job.seed,
           'command': ' '.join(job.words)}  # fmt: skip
    try:
        _train(job)
        with quietly():
            return {**row, **_judged(job, store)}
    except Exception as error:  # the point is that the rest goes on
        reason = str(error) if isinstance(error, UserError) else f'{type(error).__name__}: {error}'
        return {**row, 'error': reason}


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
        raise UserError(f'train.py stopped with exit code {done.returncode}: {last}')


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
            store.save_picture(f'{job.entry.name}-seed{job.seed}', f'{direction}_{number}', to_uint8(made[number]))
            store.save_picture('input', f'{direction}_{number}', to_uint8(images[number]))
    return found


def _translated(job: Job, direction: str, images: np.ndarray) -> np.ndarray:
    variants = str(dict(job.entry.fields).get('model.variants', 'default'))
    if variants.endswith('.py'):
        variants = str(job.plan.root / variants)
    translate = load(job.workdir / 'checkpoints', direction, variants=variants, device='cpu')
    return np.concatenate([translate(images[i : i + _BATCH]).image for i in range(0, len(images), _BATCH)])


def _features(extractor: Extractor, images: np.ndarray) -> np.ndarray:
    return extract(extractor, (to_uint8(image) for image in images))


def read_curves(table: pathlib.Path) -> Dict[str, List[float]]:
    """The loss table's steps and the columns that the report draws."""
    with table.open(encoding='utf-8', newline='') as file:
        rows = [row for row in csv.DictReader(file) if row.get('step')]
    curves = {'step': [float(row['step']) for row in rows]}
    for column in CURVES:
        curves[column] = [float(row[column]) for row in rows if row.get(column)]
    return curves


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
