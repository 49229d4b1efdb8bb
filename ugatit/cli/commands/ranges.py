"""`diagnose.py ranges`: what every tensor reaches, what float16 cannot hold, and the plan that makes it fit."""

from __future__ import annotations

import sys
from typing import Any, Sequence

from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, SOME_FAILED, Command
from ugatit.errors import UserError

FLAGS = CommandFlags(
    'diagnose.py ranges',
    'Measures every tensor of a generator on pictures, in float32, names what overflows float16 under each precision,'
    ' and plans power-of-two exponents with which everything fits.',
    examples=(
        'python diagnose.py ranges --checkpoint=UGATIT_selfie2anime --input=selfies',
        'python diagnose.py ranges --checkpoint=... --input=selfies --save_plan=plan.json --html=ranges.html',
    ),
    positional='input',
)
FLAGS.group('What to measure')
model_flags.checkpoint_flags(FLAGS)
FLAGS.many('input', 'pictures: a folder, a pattern or files', value='DIR|GLOB|FILE')
model_flags.direction_flag(FLAGS, 'a2b')
FLAGS.whole_number('pictures', 64, 'so many pictures at most, the first by name', at_least=1, at_most=4096)
FLAGS.whole_number('batch_size', 4, 'pictures per run', at_least=1, at_most=1024)
FLAGS.group('What to report')
FLAGS.text('precision', 'all', 'precisions to report, separated by commas', value='NAME,NAME')
FLAGS.whole_number('top', 20, 'rows of the table, the largest values first', at_least=1)
model_flags.planning_flags(FLAGS)
FLAGS.group('Output')
FLAGS.output_file('save_plan', 'plan', 'write the plan here, for --ranges=PLAN.json of the other commands', 'PLAN.json')
FLAGS.output_file('json', 'json', 'write everything here, machine-readable')
FLAGS.output_file('html', 'html', 'write a page with a plot of all ranges here; one file, nothing is loaded')
FLAGS.output_file('svg', 'svg', 'write the plot alone here')


def main(options: Any) -> int:
    """Exit code 0, or 1 where some pictures could not be read."""
    from ugatit.diagnosis.page import page
    from ugatit.diagnosis.plot import figure
    from ugatit.diagnosis.table import report_text
    from ugatit.ranges import RangePlan

    model_flags.required(options, 'checkpoint', 'input')
    reports, failures = [], []
    for direction in model_flags.directions(options.direction):
        report, failed = _report(options, direction)
        print(report_text(report, options.top), flush=True)
        reports.append(report)
        failures = failed
    if options.save_plan:
        plan = reports[0].plan
        for report in reports[1:]:
            plan = plan.merged(report.plan)
        assert isinstance(plan, RangePlan)
        plan.save(options.save_plan)
        print(f'plan: {options.save_plan}')
    model_flags.write_json(options.json, {'directions': [report.to_json() for report in reports]})
    model_flags.write_text(options.html, 'page', lambda: page(reports))
    model_flags.write_text(options.svg, 'plot', lambda: figure(reports[0]))
    return _told(failures)


def _report(options: Any, direction: str) -> Any:
    from ugatit.cli.progress import Progress
    from ugatit.diagnosis.pictures import read_pictures
    from ugatit.diagnosis.report import make_report
    from ugatit.planning import profile_ranges
    from ugatit.translate import load

    translate = load(options.checkpoint, direction, image_size=options.image_size)
    pictures = read_pictures(options.input, translate.image_size, options.pictures)
    profile = profile_ranges(
        translate, pictures.images, options.batch_size, progress=lambda batches: Progress(batches, 'batches')
    )
    report = make_report(translate, profile, options.headroom_bits, options.fit_squares, _precisions(options.precision))
    return report, pictures.failures


def _precisions(text: str) -> Sequence[str]:
    from ugatit.diagnosis.report import FLOAT16_PRECISIONS

    if text.lower() == 'all':
        return FLOAT16_PRECISIONS
    names = [name.strip().lower() for name in text.split(',')]
    unknown = [name for name in names if name not in FLOAT16_PRECISIONS]
    if unknown:
        raise UserError(f'--precision must be all or some of {", ".join(FLOAT16_PRECISIONS)}, separated by commas, but'
                        f' {unknown[0]!r} arrived; the others have float32\'s range and cannot overflow.')  # fmt: skip
    return names


def _told(failures: Sequence[str]) -> int:
    for failure in failures:
        print(failure, file=sys.stderr)
    return SOME_FAILED if failures else DONE


COMMAND = Command(main, FLAGS)
