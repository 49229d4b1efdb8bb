"""`diagnose.py dump`: our own generator's tensors, in any emulated policy, as a CPU, GPU or NPU leaves them."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, List

from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, SOME_FAILED, Command
from ugatit.errors import UserError

FLAGS = CommandFlags(
    'diagnose.py dump',
    'Runs a generator on pictures and writes its tensors under official names: the right side of a comparison with an'
    ' NPU dump. With --as_npu the folder looks like one that an NPU wrote.',
    examples=(
        'python diagnose.py dump --checkpoint=UGATIT_selfie2anime --input=selfie.png --output=dump_float32',
        'python diagnose.py dump --checkpoint=... --input=selfie.png --output=dump_910 --precision=mixed_float16'
        ' --overflow=saturate --as_npu',
    ),
    positional='input',
)
FLAGS.group('What to run')
model_flags.checkpoint_flags(FLAGS)
FLAGS.many('input', 'pictures: a folder, a pattern or files; the network sees them as one batch', value='DIR|GLOB|FILE')
FLAGS.whole_number('pictures', 1, 'so many of them at most, the first by name', at_least=1, at_most=64)
FLAGS.choice('direction', 'a2b', model_flags.DIRECTIONS, 'a2b uses generator_B, b2a uses generator_A')
FLAGS.choice(
    'precision',
    'float32',
    ('float32', 'mixed_float16', 'float16', 'float16_operands', 'mixed_bfloat16'),
    'arithmetic, emulated; a 910 is mixed_float16',
)
FLAGS.choice('overflow', 'ieee', ('ieee', 'saturate'), 'what float16 does beyond 65504; a 910 saturates')
FLAGS.path('ranges', 'none', 'none, or a plan from diagnose.py ranges --save_plan', value='none|PLAN.json')
FLAGS.text('variants', 'default', 'a preset under configs/variants or a file of rules', value='NAME|FILE')
FLAGS.group('What to write')
FLAGS.text('layers', '.*', 'only tensors whose official name this regular expression matches from its start')
FLAGS.boolean('as_npu', False, 'binary files, three graphs, compiled graphs and overflow records, as an NPU has them')
FLAGS.path('output', None, 'the new folder', value='DIR')
FLAGS.output_file('json', 'json', 'write what was written here, machine-readable')


def main(options: Any) -> int:
    """Exit code 0, or 1 where some pictures could not be read."""
    from ugatit.diagnosis.pictures import read_pictures
    from ugatit.dumps.capture import capture, overflowing, write_npy
    from ugatit.dumps.whole import whole_folder
    from ugatit.translate import load

    model_flags.required(options, 'checkpoint', 'input', 'output')
    output = _new_folder(options.output)
    translate = load(
        options.checkpoint,
        options.direction,
        precision=options.precision,
        overflow=options.overflow,
        ranges=_plan(options.ranges, options.direction),
        variants=options.variants,
        image_size=options.image_size,
    )
    pictures = read_pictures(options.input, translate.image_size, options.pictures)
    if translate.uncalibrated:
        translate.calibrate(pictures.images)
    captured = capture(translate, translate.policy, pictures.images, options.layers)
    with whole_folder(output) as place:
        if options.as_npu:
            from ugatit.dumps.fake_npu import write_tree

            write_tree(place, captured, _other(options, pictures.images, captured))
            written = sum(1 for path in place.rglob('*') if path.is_file())
        else:
            written = len(write_npy(place, captured))
    reached = [tensor.name for tensor in overflowing(captured)]
    print(f'{written} files: {output}')
    if reached:
        print(f'{len(reached)} float16 tensors reach 65504, the first is {reached[0]}')
    model_flags.write_json(
        options.json, {'output': str(output), 'files': written, 'tensors': len(captured.outputs()), 'at_65504': reached}
    )
    for failure in pictures.failures:
        print(failure, file=sys.stderr)
    return SOME_FAILED if pictures.failures else DONE


def _plan(path: str, direction: str) -> Any:
    from ugatit.planning import require_network
    from ugatit.ranges import RangePlan

    if path == 'none':
        return None
    if path == 'auto':
        raise UserError('--ranges of dump takes no auto, only none or a plan; make one with diagnose.py ranges'
                        ' --save_plan=plan.json.')  # fmt: skip
    plan = RangePlan.load(path)
    require_network(plan, direction)
    return plan


def _new_folder(path: str) -> pathlib.Path:
    folder = pathlib.Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f'--output must be a new or empty folder, but {folder} has files; dumps of two runs would mix.')
    return folder


def _other(options: Any, images: Any, captured: Any) -> List[Any]:
    """The other direction, which an NPU's training graph also computes; [] where the checkpoint lacks it."""
    from ugatit.dumps.capture import capture
    from ugatit.translate import load

    other = 'b2a' if options.direction == 'a2b' else 'a2b'
    try:
        translate = load(options.checkpoint, other, image_size=options.image_size)
    except UserError:
        return []
    return [capture(translate, captured.policy, images)]


COMMAND = Command(main, FLAGS)
