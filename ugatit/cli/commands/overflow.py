"""`diagnose.py overflow`: the operators that an NPU's overflow detection recorded, in order of time."""

from __future__ import annotations

import sys
from typing import Any

from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, SOME_FAILED, THRESHOLD_PASSED, Command
from ugatit.errors import UserError

FLAGS = CommandFlags(
    'diagnose.py overflow',
    'Reads the Opdebug records below a folder, says in words what each status means, and finds the operator of each by'
    ' its task and stream.',
    examples=('python diagnose.py overflow precision_data/overflow/dump',),
    positional='dumps',
)
FLAGS.group('What to read')
FLAGS.many('dumps', 'folders that overflow detection wrote, also without --dumps=', value='DIR')
FLAGS.group('Output')
FLAGS.boolean('fail', False, 'exit code 3 where anything overflowed')
FLAGS.output_file('json', 'json', 'write the result here, machine-readable')


def main(options: Any) -> int:
    """Exit code 1 where some records could not be read, 3 where --fail is given and something overflowed."""
    from ugatit.dumps.overflow import find_overflows, overflow_text

    if not options.dumps:
        raise UserError('Expected a folder with overflow records, but none arrived; name it: diagnose.py overflow DIR.')
    overflows, failures = [], []
    for folder in options.dumps:
        found, broken = find_overflows(folder)
        overflows, failures = overflows + found, failures + broken
    print(overflow_text(overflows))
    model_flags.write_json(options.json, {'overflows': [o.to_json() for o in overflows], 'failures': failures})
    for failure in failures:
        print(failure, file=sys.stderr)
    if options.fail and overflows:
        return THRESHOLD_PASSED
    return SOME_FAILED if failures else DONE


COMMAND = Command(main, FLAGS, needs_tensorflow=False)
