"""Hands a checkpoint to other programs: `python export.py --help`."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, Callable, Dict, Tuple

from ugatit.cli.commands import export_checkpoint, export_model, export_verify, model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import run
from ugatit.cli.tensorflow import import_tensorflow
from ugatit.errors import UserError
from ugatit.export.onnx_opsets import OPSETS

FORMATS: Dict[str, Callable[[Any], int]] = {
    'checkpoint': export_checkpoint.main,
    'saved_model': export_model.main,
    'frozen_graph': export_model.main,
    'onnx': export_model.main,
    'tflite': export_model.main,
}
# Flags that some formats have and others would ignore; those that are not listed belong to all.
_FILE = (
    'direction', 'precision', 'statistics', 'variants', 'reflect_pad', 'dynamic_batch', 'dynamic_size', 'uint8',
    'heatmap', 'max_difference', 'min_psnr',
)  # fmt: skip
FLAGS_OF_FORMAT: Dict[str, Tuple[str, ...]] = {
    'checkpoint': (),
    'saved_model': _FILE,
    'frozen_graph': (*_FILE, 'soc_version', 'precision_mode'),
    'onnx': (*_FILE, 'opset'),
    'tflite': _FILE,
}
FLAGS = CommandFlags(
    'export.py',
    'Writes a generator in another form. --format=checkpoint with a range plan is the drop-in cure: a checkpoint in the'
    ' official form whose values fit float16 in unmodified official code, with the same picture. The other formats hold'
    ' one direction, are checked in their own runtime, and are removed again where the picture differs.',
    examples=(
        'python export.py --checkpoint=UGATIT_selfie2anime --output=cured --calibration_a=selfies --calibration_b=art',
        'python export.py --checkpoint=UGATIT_selfie2anime --output=cured --ranges=plan.json',
        'python export.py --checkpoint=UGATIT_selfie2anime --format=onnx --precision=float16 --output=a2b.onnx'
        ' --calibration_a=selfies',
        'python export.py --verify=a2b.onnx',
    ),
)
FLAGS.group('What to export')
model_flags.checkpoint_flags(FLAGS)
FLAGS.text('format', 'checkpoint', f'one of {", ".join(FORMATS)}', value='NAME')
FLAGS.path('output', None, 'the new folder (checkpoint, saved_model) or file (.pb, .onnx, .tflite)')
FLAGS.choice('direction', 'a2b', model_flags.DIRECTIONS, 'a2b: generator_B, b2a: generator_A; a checkpoint has both')
FLAGS.path('verify', None, 'checks an exported file again, with what lies beside it, and does nothing else',
           value='FILE')  # fmt: skip
FLAGS.group('Arithmetic (all formats but checkpoint)')
FLAGS.choice('precision', 'float32', ('float32', 'mixed_float16', 'float16'),
             'of weights and operators; mixed_float16: norms in float32; tflite: of weights')  # fmt: skip
FLAGS.choice('statistics', None, ('plain', 'float32', 'prescaled'),
             'how norms compute mean, variance; without it prescaled for float16, else as --variants says')  # fmt: skip
FLAGS.text('variants', 'default', 'changes to layers: a preset under configs/variants, or a .py file; batch norms go'
           ' into convolutions', value='NAME|FILE')  # fmt: skip
FLAGS.choice('reflect_pad', 'mirror', ('mirror', 'slices'), 'slices: for compilers without MirrorPad')
FLAGS.whole_number('opset', OPSETS[0], 'of ONNX', at_least=OPSETS[0], at_most=OPSETS[-1])
FLAGS.group('Interface (all formats but checkpoint)')
FLAGS.boolean('dynamic_batch', False, 'any number of pictures in one call; else one')
FLAGS.boolean('dynamic_size', False, 'any height and width that are multiples of 4; light models only')
FLAGS.boolean('uint8', False, 'pictures go in and come out as 0..255, scaled inside; else float32 in [-1, 1]')
FLAGS.boolean('heatmap', False, 'also give where the generator looks')
FLAGS.group('Check (all formats but checkpoint)')
FLAGS.number('max_difference', None, 'largest difference of a value in [-1, 1]; without both 0.001 for float32',
             at_least=0.0, at_most=2.0)  # fmt: skip
FLAGS.number('min_psnr', None, 'smallest PSNR in dB; without both 35 for float16', at_least=0.0, at_most=200.0)
FLAGS.group('ATC (frozen_graph)')
FLAGS.text('soc_version', 'Ascend910A', 'the device in the command line that is written beside the graph')
FLAGS.choice('precision_mode', None, ('force_fp16', 'allow_fp32_to_fp16', 'allow_mix_precision',
             'must_keep_origin_dtype'), 'in that line; without it the one in which the graph is right')  # fmt: skip
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
    """Calls the format's own main; a check needs TensorFlow only for what runs in it."""
    if options.verify is not None:
        _require_alone()
        return export_verify.main(options)
    options.format = options.format.lower()
    if options.format not in FORMATS:
        raise UserError(
            f'--format must be one of {", ".join(FORMATS)}, but {options.format!r} arrived; choose one of these.'
        )
    model_flags.required(options, 'checkpoint', 'output')
    _require_folder(options)
    _require_flags_of(options.format)
    import_tensorflow()
    return FORMATS[options.format](options)


def _require_folder(options: Any) -> None:
    """UserError where the name says that a file is wanted, and the format, maybe only by default, makes a folder."""
    from ugatit.export.formats import FORMATS as FILES

    ending = pathlib.Path(options.output).suffix.lower()
    wanted = next((found.name for found in FILES.values() if found.suffix and found.suffix == ending), None)
    if wanted is not None and options.format in ('checkpoint', 'saved_model'):
        raise UserError(f'--format={options.format} makes a folder, but --output={options.output} is named like a file;'
                        f' write --format={wanted}, or name a folder.')  # fmt: skip


def _require_flags_of(chosen: str) -> None:
    """UserError for the first flag that the format would ignore."""
    for name in sorted({name for names in FLAGS_OF_FORMAT.values() for name in names}):
        if FLAGS.given(name) and name not in FLAGS_OF_FORMAT[chosen]:
            owners = [owner for owner, names in FLAGS_OF_FORMAT.items() if name in names]
            raise UserError(f'--{name} belongs to --format={" or ".join(owners)}, but the format is {chosen}; leave the'
                            ' flag out, or choose another --format.')  # fmt: skip


def _require_alone() -> None:
    """UserError for a flag beside --verify that would do nothing."""
    for name in FLAGS.values:
        if name not in ('verify', 'json', '?') and FLAGS.given(name):
            raise UserError(f'--{name} does not go with --verify, which checks a file with what lies beside it; leave'
                            ' it out.')  # fmt: skip


if __name__ == '__main__':
    sys.exit(run(main, FLAGS, needs_tensorflow=False))
