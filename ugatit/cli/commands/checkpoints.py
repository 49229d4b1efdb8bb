"""`python -m ugatit.checkpoints PATH`: what a checkpoint holds; with `--slim` a copy for inference."""

from __future__ import annotations

from typing import Any

from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, THRESHOLD_PASSED, Command
from ugatit.errors import UserError

FLAGS = CommandFlags(
    '-m ugatit.checkpoints',
    'Prints what a checkpoint holds; with --slim it also writes a copy for inference. Exit 0: done, 2: bad usage or'
    ' nothing usable, 3: --check_finite found NaN or infinity.',
    examples=(
        'python -m ugatit.checkpoints UGATIT_selfie2anime',
        'python -m ugatit.checkpoints UGATIT_selfie2anime --slim=slim --direction=a2b',
    ),
    positional='path',
)
FLAGS.group('What to look at')
FLAGS.many('path', 'folder, parent of one, prefix UGATIT.model-N or its .index file; also without --path=')
FLAGS.boolean('check_finite', False, 'also read all data and look for NaN and infinity: exit code 3 where there is any')
FLAGS.group('What to write')
FLAGS.path('slim', None, 'write a checkpoint of the generators alone into this folder', value='DIR')
FLAGS.choice('direction', 'both', (*model_flags.DIRECTIONS, 'both'), 'whose generators --slim writes')
FLAGS.output_file('json', 'json', 'write what was found here, machine-readable')


def main(options: Any) -> int:
    """Exit code 3 where --check_finite found NaN or infinity."""
    from ugatit.checkpoints.describe import as_text, describe, non_finite
    from ugatit.checkpoints.reader import CheckpointReader
    from ugatit.checkpoints.slimming import slim
    from ugatit.diagnosis.dropin import quietly

    if len(options.path) != 1:
        arrived = ' and '.join(map(repr, options.path)) or 'nothing'
        raise UserError(f'expected one checkpoint, but {arrived} arrived; write python -m ugatit.checkpoints PATH.')
    with quietly():  # where it was found is part of the text
        reader = CheckpointReader(options.path[0])
        found = describe(reader)
        if options.check_finite:
            found['non_finite'] = non_finite(reader)
        print(as_text(found))
        if options.slim:
            written = slim(options.path[0], options.slim, model_flags.directions(options.direction))
            found['slim'] = str(written.prefix)
            print(f'  written    {found["slim"]}')
    model_flags.write_json(options.json, found)
    return THRESHOLD_PASSED if found.get('non_finite') else DONE


COMMAND = Command(main, FLAGS)
