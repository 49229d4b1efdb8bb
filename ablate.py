"""Ablates normalisation and float16 choices, on a checkpoint or over training runs: python ablate.py --help"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import run
from ugatit.cli.progress import Progress
from ugatit.cli.tensorflow import import_tensorflow
from ugatit.errors import UserError

HERE = pathlib.Path(__file__).resolve().parent
CONFIGS = HERE / 'configs' / 'ablation'

FLAGS = CommandFlags(
    'ablate.py',
    'Runs a checkpoint under every choice of normalisation and float16 and writes table.csv, results.json, pictures and'
    ' report.html, which needs no other file. With --train it trains a small network under each choice instead. The'
    ' same command continues where it was stopped. Exit 0: all done, 1: some variants failed, 2: bad usage.',
    examples=(
        'python ablate.py --checkpoint=UGATIT_selfie2anime --input=photos --output=ablation',
        'python ablate.py --train --dataset=dataset/avatars --output=ablation_train'
        ' --config=configs/ablation/train_demo.py',
    ),
    positional='input',
)
FLAGS.group('What to run')
model_flags.checkpoint_flags(FLAGS)
FLAGS.choice('direction', 'a2b', ('a2b', 'b2a'), 'a2b uses generator_B, b2a uses generator_A')
FLAGS.many('input', 'pictures: a folder, a pattern or files', value='DIR|GLOB|FILE')
FLAGS.whole_number('pictures', 64, 'so many pictures at most, the first by name', at_least=1, at_most=4096)
FLAGS.path(
    'config', None, 'the list of variants; a name alone is looked for in configs/ablation. Without it default.py, or'
    ' with --train train_demo.py', value='NAME|FILE',
)  # fmt: skip
FLAGS.text('only', None, 'of the list only these, separated by commas, and the reference', value='NAME,NAME')
FLAGS.choice('device', 'auto', ('auto', 'cpu', 'gpu', 'npu'), 'where to compute; auto: the GPU where there is one')
FLAGS.group('Training instead')
FLAGS.boolean('train', False, 'train every variant from scratch, and compare results and curves')
FLAGS.path('dataset', None, 'with --train: folder with trainA, trainB, testA, testB', value='DIR')
FLAGS.group('Metrics')
FLAGS.many('target', 'real pictures of the target domain, for KID and FID; may be repeated', value='DIR|GLOB|FILE')
FLAGS.path('inception', None, 'features for them from this local graph, as infer.py --inception', value='FILE')
FLAGS.whole_number('kid_subset_size', None, 'pictures in a KID subset; without it half of the smaller set', at_least=2)
FLAGS.group('Output')
FLAGS.path('output', None, 'a new folder, or that of an earlier run, which is continued', value='DIR')


def main(options: Any) -> int:
    """Flags in, library call, exit code out."""
    model_flags.required(options, 'output')
    config = find_config(options.config or ('train_demo' if options.train else 'default'))
    if options.train:
        return _train(options, config)
    if options.dataset:
        raise UserError('--dataset belongs to --train, which is missing; add it, or name pictures with --input.')
    if options.inception and not options.target:
        raise UserError('--inception belongs to --target=DIR, which is missing; name the pictures to compare with.')
    model_flags.required(options, 'checkpoint', 'input')
    import_tensorflow()

    from ugatit.ablation.models import Source
    from ugatit.ablation.run import run as ablate
    from ugatit.ablation.spec import read_variants

    variants = chosen(read_variants(config), options.only, 'variant')
    source = Source(options.checkpoint, options.direction, options.device, options.image_size)
    return ablate(
        source, variants, options.input, options.output, options.pictures, options.target, options.inception,
        options.kid_subset_size, Progress,
    )  # fmt: skip


def _train(options: Any, config: pathlib.Path) -> int:
    for name in ('checkpoint', 'input', 'target'):
        if getattr(options, name):
            raise UserError(f'--{name} is for ablating a checkpoint, but --train arrived too; leave one of them out.')
    model_flags.required(options, 'dataset')
    import_tensorflow()

    from ugatit.ablation.training import read_runs
    from ugatit.ablation.training_run import run as ablate

    plan = read_runs(config, HERE)
    plan = plan.only(chosen(plan.entries, options.only, 'run'))
    return ablate(
        plan, options.dataset, options.output, options.device, [sys.executable, str(HERE / 'train.py')],
        options.inception, options.kid_subset_size,
    )  # fmt: skip


def chosen(entries: Any, only: Any, noun: str) -> Any:
    """Those that --only names, and the reference."""
    if only is None:
        return entries
    names = [name.strip() for name in only.split(',') if name.strip()]
    known = [entry.name for entry in entries]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UserError(f'--only names {unknown[0]!r}, which is no {noun} of the list; it has {", ".join(known)}.')
    return tuple(entry for entry in entries if entry.name in names or entry.reference)


def find_config(given: str) -> pathlib.Path:
    """A file, or a name in configs/ablation with or without .py."""
    for path in (pathlib.Path(given).expanduser(), CONFIGS / given, CONFIGS / f'{given}.py', HERE / given):
        if path.is_file():
            return path
    names = ', '.join(sorted(path.stem for path in CONFIGS.glob('*.py') if path.stem != 'train_base'))
    raise UserError(f'--config must be a file or a name in configs/ablation ({names}), but {given!r} is neither.')


if __name__ == '__main__':
    sys.exit(run(main, FLAGS, needs_tensorflow=False))
