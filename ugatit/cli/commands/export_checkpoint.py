"""`export.py --format=checkpoint`: plan if asked, fold, try it out, and say what came of it."""

from __future__ import annotations

import contextlib
import pathlib
import sys
from typing import Any, Dict, List

from ugatit.cli.commands import model_flags
from ugatit.cli.main import DONE, SOME_FAILED, THRESHOLD_PASSED
from ugatit.errors import UserError


def main(options: Any) -> int:
    """Exit code 3 where something is still over 65504, 1 where a calibration picture could not be read."""
    from ugatit.checkpoints.location import locate
    from ugatit.checkpoints.slimming import check_free
    from ugatit.export.checkpoint import cure, cure_text
    from ugatit.inference.outputs import require_writable

    prefix = locate(options.checkpoint).prefix
    check_free(options.output, prefix.name)  # planning may take minutes
    require_writable(pathlib.Path(options.output))
    pictures, failures = _calibration(options, prefix)
    plan = _plan(options, prefix, pictures)
    for note in plan.notes:
        print(f'note: {note}', file=sys.stderr)
    cured = cure(prefix, plan, options.output, pictures or _noise(options, prefix, plan), options.image_size)
    for generator in cured.generators.values():
        print(cure_text(generator))
    print(f'checkpoint: {cured.location.prefix}')
    model_flags.write_json(options.json, cured.to_json())
    for failure in failures:
        print(failure, file=sys.stderr)
    if cured.unfitted():
        return THRESHOLD_PASSED
    return SOME_FAILED if failures else DONE


def _calibration(options: Any, prefix: Any) -> tuple:
    from ugatit.diagnosis.dropin import quietly
    from ugatit.diagnosis.pictures import read_pictures, trained_size

    pictures: Dict[str, Any] = {}
    failures: List[str] = []
    for direction, given in (('a2b', options.calibration_a), ('b2a', options.calibration_b)):
        if given:
            with quietly() if pictures else contextlib.nullcontext():  # the architecture is told once
                size = trained_size(prefix, direction, options.image_size)
            found = read_pictures(given, size, options.pictures)
            print(f'{direction}: measuring {len(found.images)} pictures of {size}x{size}', file=sys.stderr)
            pictures[direction], failures = found.images, failures + list(found.failures)
    return pictures, failures


def _plan(options: Any, prefix: Any, pictures: Dict[str, Any]) -> Any:
    from ugatit.cli.progress import Progress
    from ugatit.export.checkpoint import plan_directions
    from ugatit.ranges import RangePlan

    if options.ranges == 'none':
        return RangePlan({})
    if options.ranges != 'auto':
        plan = RangePlan.load(options.ranges)
        _check_plan(plan, prefix)
        return plan
    return plan_directions(
        prefix,
        pictures,
        options.headroom_bits,
        options.fit_squares,
        options.image_size,
        progress=lambda batches: Progress(batches, 'batches'),
    )


def _check_plan(plan: Any, prefix: Any) -> None:
    """UserError where the copy would be called cured although the plan speaks of nothing in it."""
    from ugatit.checkpoints.folding import generators_in
    from ugatit.checkpoints.reader import CheckpointReader

    there = generators_in(CheckpointReader(prefix))
    if not any(scope in plan for scope in there):
        raise UserError(f'A range plan for {" or ".join(there) or "a generator"} is expected, but this one is for'
                        f' {", ".join(plan) or "nothing"}; make one with diagnose.py ranges --save_plan.')  # fmt: skip


def _noise(options: Any, prefix: Any, plan: Any) -> Dict[str, Any]:
    """Stand-ins to try the result on where no picture was given; the plan itself comes from a file then."""
    from ugatit.diagnosis.dropin import quietly
    from ugatit.diagnosis.pictures import noise_pictures, trained_size
    from ugatit.nn.architecture import GENERATOR_OF_DIRECTION

    directions = [direction for direction, scope in GENERATOR_OF_DIRECTION.items() if scope in plan]
    if directions:
        print('no calibration pictures: tried out on seeded noise', file=sys.stderr)
    with quietly():
        return {d: noise_pictures(4, trained_size(prefix, d, options.image_size)) for d in directions}
