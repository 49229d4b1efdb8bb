"""`infer.py --metrics_against=DIR`: its results against real pictures of the target domain."""

from __future__ import annotations

import logging
import pathlib
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ugatit.data.files import PathLike, list_images
from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.evaluation.kernel import choose_subset_size
from ugatit.inference.outputs import Assignment, key_of

_log = logging.getLogger(__name__)


def target_files(folder: PathLike, assignment: Assignment, subset_size: Optional[int]) -> Tuple[pathlib.Path, ...]:
    """The pictures to compare with, checked before anything is made.

    Raises:
        UserError: no pictures, too few on one side, or the folder that the results themselves go to.
    """
    if key_of(pathlib.Path(folder)) == key_of(assignment.folder):
        raise UserError(f'--metrics_against={printable(folder)} is the folder of the results; name one with real'
                        ' pictures of the target domain, or with results of another run.')  # fmt: skip
    paths = list_images(folder).paths
    choose_subset_size(len(assignment.files), len(paths), subset_size)
    return paths


def results_judge(
    targets: Sequence[PathLike],  # from `target_files`
    inception: Optional[PathLike],
    mode: str,  # how the inputs became squares; targets become them alike
    subsets: int,
    subset_size: Optional[int],
    seed: int,
    progress: Callable[..., Any],
) -> Callable[[Any, Sequence[Any]], Dict[str, Any]]:
    """What `inference.command.infer` calls with the model and its outcomes; reads a graph now, so mistakes show now."""
    from ugatit.evaluation.extractors import choose_extractor
    from ugatit.evaluation.measure import Judging, judge

    extractor = choose_extractor(inception)

    def judge_results(translate: Any, outcomes: Sequence[Any]) -> Dict[str, Any]:
        done = [outcome for outcome in outcomes if outcome.error is None]
        results = [outcome.files[-1] for outcome in done]
        judging = Judging(translate.image_size, subsets, subset_size, seed, mode)
        found = judge(results, targets, extractor, judging, _names(done, targets), progress)
        for line in found.lines():
            _log.info('metrics: %s', line)
        return found.to_json()

    return judge_results


def _names(done: Sequence[Any], targets: Sequence[PathLike]) -> List[str]:
    """By which a target of the same name is found: the results' own names, or where none fits the inputs'."""
    own = [pathlib.Path(outcome.files[-1]).stem for outcome in done]
    if {pathlib.Path(target).stem for target in targets} & set(own):
        return own
    return [outcome.source.name.stem for outcome in done]
