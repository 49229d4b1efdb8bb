"""`diagnose.py strip`: the same pictures in float32, in float16 as it is and in float16 with a plan, side by side."""

from __future__ import annotations

import contextlib
import pathlib
import tempfile
from typing import Any, Iterator

import numpy as np

from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, SOME_FAILED, Command

FLAGS = CommandFlags(
    'diagnose.py strip',
    'Draws pictures in float32, in float16 as it is and in float16 with a plan next to each other, and prints their'
    ' PSNR against float32. Without --checkpoint it takes the demo model, made to overflow as `stress` does.',
    examples=(
        'python diagnose.py strip --output=strip.png',
        'python diagnose.py strip --checkpoint=UGATIT_selfie2anime --input=photos --output=strip.png',
    ),
    positional='input',
)
FLAGS.group('What to draw')
model_flags.checkpoint_flags(FLAGS)
FLAGS.choice('direction', 'a2b', model_flags.DIRECTIONS, 'a2b uses generator_B, b2a uses generator_A')
FLAGS.many('input', 'pictures, folders or patterns; needed with --checkpoint', value='PHOTO|DIR|GLOB')
FLAGS.whole_number('pictures', 4, 'so many of them at most', at_least=1, at_most=64)
FLAGS.group('Float16')
FLAGS.choice(
    'precision', 'mixed_float16', ('mixed_float16', 'float16', 'float16_operands', 'mixed_bfloat16'),
    'what is compared with float32',
)  # fmt: skip
FLAGS.choice('overflow', 'saturate', ('ieee', 'saturate'), 'beyond 65504: infinity, or 65504 as on an Ascend 910')
FLAGS.text('variants', 'default', 'changes to layers in both float16 columns: a preset under configs/variants, or a .py'
           ' file', value='NAME|FILE')  # fmt: skip
FLAGS.number('reach', 1e6, 'without --checkpoint: largest |value| that the demo model is given where it overflows',
             at_least=1e-6)  # fmt: skip
FLAGS.group('Output')
FLAGS.output_file('output', 'png', 'the picture to write')
FLAGS.output_file('json', 'json', 'write the figures here, machine-readable')


def main(options: Any) -> int:
    """Exit code 1 where some of the pictures could not be read."""
    from ugatit.data.convert import save_png
    from ugatit.diagnosis.dropin import quietly
    from ugatit.diagnosis.pictures import read_pictures, trained_size
    from ugatit.diagnosis.strip import draw_strip, strip_columns
    from ugatit.inference.mark import KEY, VALUE

    model_flags.required(options, 'output', *(['input'] if options.checkpoint else []))
    sources, checkpoint = _sources(options)
    with quietly():
        size = trained_size(checkpoint, options.direction, options.image_size)
        pictures = read_pictures(sources, size, options.pictures)
        with _overflowing(options, checkpoint, pictures.images) as subject:
            columns = strip_columns(subject, options.direction, pictures.images, options.precision, options.overflow,
                                    options.variants)  # fmt: skip
    for column in columns[1:]:
        print(f'{column.title}: {column.label()} against float32')
    save_png(options.output, draw_strip(pictures.images, columns), {KEY: VALUE})
    print(f'picture: {options.output}')
    figures = {column.title: column.psnr for column in columns[1:]}
    model_flags.write_json(options.json, {'pictures': [str(path) for path in pictures.paths], 'psnr': figures})
    for failure in pictures.failures:
        print(failure)
    return SOME_FAILED if pictures.failures else DONE


def _sources(options: Any) -> Any:
    """Where the pictures and the weights are."""
    from ugatit.checkpoints.demo import demo_checkpoint, demo_pictures

    sources = options.input or [str(demo_pictures(options.direction))]
    return sources, pathlib.Path(options.checkpoint or demo_checkpoint())


@contextlib.contextmanager
def _overflowing(options: Any, checkpoint: pathlib.Path, images: np.ndarray) -> Iterator[pathlib.Path]:
    """A checkpoint that was named, as it is; of the demo model a twin that overflows, for as long as it is needed."""
    from ugatit.diagnosis.stress import stress

    if options.checkpoint:
        yield checkpoint
        return
    with tempfile.TemporaryDirectory() as folder:
        stressed = pathlib.Path(folder) / 'stressed'
        location, _ = stress(checkpoint, stressed, {options.direction: images}, reach=options.reach)
        yield location.prefix


COMMAND = Command(main, FLAGS)
