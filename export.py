"""Hands a checkpoint to other programs: `python export.py --help`."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict

from ugatit.cli.commands import export_checkpoint, model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import run
from ugatit.errors import UserError

FORMATS: Dict[str, Callable[[Any], int]] = {
    'checkpoint': export_checkpoint.main,
}
FLAGS = CommandFlags(
    'export.py',
    'Writes a generator in another form. --format=checkpoint with a range plan is the drop-in cure: a checkpoint in the'
    ' official form whose values fit float16 in unmodified official code, with the same picture.',
    examples=(
        'python export.py --checkpoint=UGATIT_selfie2anime --output=cured --calibration_a=selfies --calibration_b=art',
        'python export.py --checkpoint=UGATIT_selfie2anime --output=cured --ranges=plan.json',
    ),
)
FLAGS.group('What to export')
model_flags.checkpoint_flags(FLAGS)
FLAGS.text('format', 'checkpoint', f'one of {", ".join(FORMATS)}', value='NAME')
FLAGS.path('output', None, 'the new folder or file')
FLAGS.group('Ranges')
FLAGS.text('ranges', 'auto', 'auto measures and plans, or a plan from diagnose.py ranges --save_plan, or none',
           value='auto|none|PLAN.json')  # fmt: skip
FLAGS.many('calibration_a', 'pictures of domain A (photographs), for a2b', value='DIR|GLOB|FILE')
FLAGS.many('calibration_b', 'pictures of domain B (anime), for b2a', value='DIR|GLOB|FILE')
FLAGS.whole_number('pictures', 64, 'so many of each at most, the first by name', at_least=1, at_most=4096)
model_flags.planning_flags(FLAGS)
FLAGS.group('Output')
FLAGS.output_file('json', 'json', 'write the result here, machine-readable')


def main(options: Any) -> int:
    """Calls the format's own main."""
    chosen = options.format.lower()
    if chosen not in FORMATS:
        raise UserError(f'--format must be one of {", ".join(FORMATS)}, but {options.format!r} arrived; these are all'
                        ' that exist so far.')  # fmt: skip
    model_flags.required(options, 'checkpoint', 'output')
    return FORMATS[chosen](options)


if __name__ == '__main__':
    sys.exit(run(main, FLAGS))
