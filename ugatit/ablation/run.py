"""`ablate.py` on a checkpoint, behind its flags: measure, and renew table, JSON and page after every row."""

from __future__ import annotations

import logging
import pathlib
from typing import Any, Callable, Dict, List, Optional, Sequence

from ugatit.ablation import models
from ugatit.ablation.inference import Ablation, ablate, read_inputs, read_target
from ugatit.ablation.page import report
from ugatit.ablation.spec import Variant
from ugatit.ablation.store import Store
from ugatit.ablation.table import best, csv_text, line
from ugatit.data.convert import write_file
from ugatit.data.files import PathLike
from ugatit.data.reports import write_json_report
from ugatit.diagnosis.pictures import trained_size
from ugatit.evaluation.extractors import choose_extractor
from ugatit.evaluation.kernel import choose_subset_size
from ugatit.evaluation.measure import Judging
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION

_log = logging.getLogger(__name__)

DONE, SOME_FAILED = 0, 1


def run(
    source: models.Source,
    variants: Sequence[Variant],
    inputs: Sequence[str],
    output: PathLike,
    most: int,  # pictures
    target: Sequence[str] = (),  # real pictures of the target domain; none: no KID and FID
    inception: Optional[PathLike] = None,
    subset_size: Optional[int] = None,
    progress: Callable[[Sequence[Any], str], Any] = lambda items, noun: None,
) -> int:
    """Measures what is not finished; 1 where a row failed or a picture could not be read.

    Raises:
        UserError: before anything is computed for whatever would befall every row alike.
    """
    folder = pathlib.Path(output).expanduser()
    store = Store(folder, 'inference')
    size = trained_size(source.checkpoint, source.direction, source.image_size)
    pictures = read_inputs(inputs, size, most)
    for failure in pictures.failures:
        _log.warning('left out: %s', failure)
    judged = None
    if target:
        extractor = choose_extractor(inception)
        judged = read_target(target, size, extractor, Judging(size, subset_size=subset_size))
        choose_subset_size(len(pictures.images), len(judged.features), subset_size)
    ablation = Ablation(source, pictures, judged, store, models.Profiles(pictures.images))
    about = describe(ablation, size, target)
    store.begin()
    bar = progress(variants, 'variants')

    def started(variant: Variant, left: int) -> None:
        _log.info('%s (%d left): %s', variant.name, left, variant.changes)

    def finished(rows: List[Dict[str, Any]], new: bool) -> None:
        _log.info('%s', line(rows[-1]))
        if new or len(rows) == len(variants):
            write_results(folder, about, rows)
        if bar is not None:
            bar.advance()

    rows = ablate(ablation, variants, started, finished)
    failed = sum('error' in row for row in rows)
    winner = best(rows)
    _log.info('%d of %d variants measured%s; best: %s', len(rows) - failed, len(rows),
              f', {failed} failed' if failed else '', winner or 'none is usable')  # fmt: skip
    for name in ('table.csv', 'results.json', 'report.html'):
        _log.info('%s', folder / name)
    return SOME_FAILED if failed or pictures.failures else DONE


def describe(ablation: Ablation, size: int, target: Sequence[str]) -> Dict[str, Any]:
    """What the report says of the whole."""
    source = ablation.source
    network = GENERATOR_OF_DIRECTION[source.direction]
    return {
        'model': f'{pathlib.Path(source.checkpoint).name}, {network} ({source.direction}), {size}x{size} pixels',
        'checkpoint': str(source.checkpoint),
        'direction': source.direction,
        'image_size': size,
        'pictures': list(ablation.pictures.names),
        'target': f'{len(ablation.target.features)} pictures by {ablation.target.extractor.name};'
        f' {ablation.target.extractor.comparable}' if ablation.target else None,
        'target_sources': list(target),
    }  # fmt: skip


def write_results(folder: pathlib.Path, about: Dict[str, Any], rows: List[Dict[str, Any]]) -> None:
    """table.csv, results.json and report.html of what is measured so far, each whole or not at all."""
    write_file(folder / 'table.csv', csv_text(rows).encode())
    write_json_report(folder / 'results.json', {'about': about, 'best': best(rows), 'rows': rows})
    write_file(folder / 'report.html', report(folder, about, rows).encode())
