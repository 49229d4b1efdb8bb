"""`diagnose.py stress`: a checkpoint with the same float32 picture that overflows float16 where one wants it to."""

from __future__ import annotations

import sys
from typing import Any

from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, THRESHOLD_PASSED, Command

FLAGS = CommandFlags(
    'diagnose.py stress',
    'Writes a copy of a healthy checkpoint that gives the same picture in float32 and overflows float16 at chosen range'
    ' groups: something to try a cure or a device on. Only weights change, by powers of two.',
    examples=(
        'python diagnose.py stress --checkpoint=UGATIT_selfie2anime --output=stressed',
        'python diagnose.py stress --checkpoint=UGATIT_selfie2anime --output=stressed --groups=encoder,cam --bits=14',
    ),
)
FLAGS.group('What to stress')
model_flags.checkpoint_flags(FLAGS)
model_flags.direction_flag(FLAGS, 'both')
FLAGS.group('How far')
FLAGS.text('groups', r'decoder|up_conv_\d', 'range groups: names with commas between, or a regular expression')
FLAGS.number('reach', 271823.0, 'largest |value| wanted in each of these groups; it becomes less than twice that',
             at_least=1e-6)  # fmt: skip
FLAGS.whole_number('bits', None, 'instead: make every chosen group 2**N times as large', at_least=0, at_most=40)
FLAGS.many('input', 'pictures to measure on; without any, seeded noise', value='DIR|GLOB|FILE')
FLAGS.whole_number('pictures', 4, 'so many of them at most', at_least=1, at_most=4096)
FLAGS.group('Output')
FLAGS.path('output', None, 'the new folder, generators only', value='DIR')
FLAGS.output_file('json', 'json', 'write the result here, machine-readable')


def main(options: Any) -> int:
    """Exit code 3 where our own runtime's float32 picture is not the same bit for bit."""
    from ugatit.checkpoints.location import locate
    from ugatit.diagnosis.stress import spoiled, stress, stress_text

    model_flags.required(options, 'checkpoint', 'output')
    pictures = {direction: _pictures(options, direction) for direction in model_flags.directions(options.direction)}
    location, stressed = stress(
        locate(options.checkpoint).prefix,
        options.output,
        pictures,
        options.groups,
        options.reach,
        options.bits,
        options.image_size,
    )
    for one in stressed:
        print(stress_text(one))
    changed = spoiled(stressed)
    if not changed:
        print(f'checkpoint: {location.prefix}')
    model_flags.write_json(
        options.json,
        {
            'checkpoint': None if changed else str(location.prefix),
            'generators': {one.direction: one.to_json() for one in stressed},
        },
    )
    if changed:
        print(f'the float32 picture of {" and ".join(changed)} is not the same: its values left even float32\'s range,'
              ' and the checkpoint was deleted; choose a smaller --reach or --bits', file=sys.stderr)  # fmt: skip
    return THRESHOLD_PASSED if changed else DONE


def _pictures(options: Any, direction: str) -> Any:
    from ugatit.diagnosis.dropin import quietly
    from ugatit.diagnosis.pictures import noise_pictures, read_pictures, trained_size

    with quietly():
        size = trained_size(options.checkpoint, direction, options.image_size)
    if options.input:
        return read_pictures(options.input, size, options.pictures).images
    return noise_pictures(options.pictures, size)


COMMAND = Command(main, FLAGS)
