"""Trains U-GAT-IT, and continues where it stopped: python train.py --help"""

from __future__ import annotations

import os
import pathlib
import re
import sys
from typing import Any, Iterable, List, Sequence
from unittest import mock

from ugatit.cli.hints import did_you_mean, nearest, sentence  # first: its package says what is missing

# isort: split
from absl import flags as absl_flags
from ml_collections import ConfigDict, config_flags

from ugatit.cli.flags import CommandFlags
from ugatit.cli.help_text import Entry
from ugatit.cli.main import run
from ugatit.cli.npu_flags import npu_flags, npu_settings
from ugatit.cli.pace import Pace
from ugatit.cli.progress import Progress
from ugatit.cli.tensorflow import import_tensorflow
from ugatit.errors import UserError

HERE = pathlib.Path(__file__).resolve().parent
MEMORY_ADVICE = (
    'use --config.training.recompute=True, --config.model.light=True, a smaller --config.model.ch, a smaller'
    ' --config.model.image_size, or --config.training.batch_size=1'
)


class TrainFlags(CommandFlags):
    """Our flags, and --config with its fields, whose mistakes become sentences too."""

    def config(self, name: str, help: str) -> None:
        """A config file; every field of it is a flag as well, --config.section.field=value."""
        config_flags.DEFINE_config_file(name, flag_values=self.values)
        self.groups.setdefault(self._group, []).append(Entry(name, 'configs/NAME.py', None, help))
        self.groups[self._group].append(
            Entry(f'{name}.SECTION.FIELD', 'VALUE', None, 'changes one field of it; configs/default.py lists them all')
        )

    def parse(self, words: Sequence[str]) -> Any:
        """As CommandFlags; `--config` goes first, because the library asks for it before its fields."""
        words = _joined(words)
        chosen = [word for word in words if re.match(r'--?config=', word)]
        if chosen:
            path = _existing(chosen[-1].partition('=')[2])
            _check_fields(_load(path), [word for word in words if re.match(r'--?(no)?config\.', word)])
            words = [f'--config={path}', *(word for word in words if word not in chosen)]
        elif any(word.startswith('--config.') for word in words):
            raise UserError(f'--config is needed before its fields, but it is missing; {_choices()}.')
        with mock.patch.object(sys, 'argv', [self.script, *words]):  # where the library looks for the fields
            return super().parse(words)


def _joined(words: Sequence[str]) -> List[str]:
    """`--config PATH` and `--config.x VALUE` with an equals sign."""
    joined: List[str] = []
    for word in words:
        if joined and re.fullmatch(r'--?config(\.[\w.]+)?', joined[-1]) and not word.startswith('-'):
            joined[-1] += f'={word}'
        else:
            joined.append(word)
    return joined


def _existing(given: str) -> str:
    for path in (pathlib.Path(given).expanduser(), HERE / given):
        if path.is_file():
            return str(path)
    raise UserError(f'--config must be a file, but there is no {pathlib.Path(given).absolute()}; {_choices(given)}.')


def _choices(given: str = '') -> str:
    names = sorted(f'configs/{path.name}' for path in (HERE / 'configs').glob('*.py'))
    near = nearest(f'configs/{pathlib.Path(given).name}', names) if given else None
    return f'did you mean {near}, or another of {", ".join(names)}' if near else f'choose one of {", ".join(names)}'


def _load(path: str) -> ConfigDict:
    """The config alone, without what the command line changes; UserError where the file itself is wrong."""
    values = absl_flags.FlagValues()
    sys.modules.pop('config_config', None)  # the library's name for it: another file's functions would stay in there
    config_flags.DEFINE_config_file('config', flag_values=values)
    try:
        with mock.patch.object(sys, 'argv', [path]):
            values(['train.py', f'--config={path}'])
        config = values.config
        config.to_dict()
    except Exception as error:  # a config is code: it may raise anything
        lines = [line for line in str(error).splitlines() if line.strip()]
        reason = f'{type(error).__name__}: {lines[-1].strip() if lines else "no message"}'
        raise UserError(f'--config={path} cannot be used: {sentence(reason)}') from None
    return config


def _check_fields(config: ConfigDict, words: Iterable[str]) -> None:
    for word in words:
        name = re.sub(r'^--?(no)?config\.', '', word).partition('=')[0]
        where, legal = config, []
        for i, part in enumerate(name.split('.')):
            legal = sorted(where) if isinstance(where, ConfigDict) else []
            if part not in legal:
                place = '.'.join(['--config', *name.split('.')[:i]])
                hint = did_you_mean(part, legal, f'{place}.') or f'; it has {", ".join(legal) or "no fields"}'
                raise UserError(sentence(f'{place} has no field {part}{hint}'))
            where = where[part]
        if isinstance(where, ConfigDict):
            raise UserError(f'--config.{name} is a section, not a field; it has {", ".join(sorted(where))}.')


FLAGS = TrainFlags(
    'train.py',
    'Trains U-GAT-IT. The same command continues a run that was stopped or killed, exactly. Ctrl-C and SIGTERM save and'
    ' stop. Exit 0: finished, 2: bad usage or a run that cannot go on, 130 or 143: stopped by a signal, saved.',
    examples=(
        'python train.py --config=configs/selfie2anime_light.py --dataset=dataset/selfie2anime --workdir=runs/light',
        'python train.py --config=configs/smoke.py --dataset=dataset/mine --workdir=runs/smoke --config.model.ch=8',
    ),
)
FLAGS.group('What to train')
FLAGS.config('config', 'the settings, one file per kind of run')
FLAGS.path(
    'dataset', None, 'folder with trainA, trainB and perhaps testA, testB; not needed where config.data names the'
    ' folders', value='DIR',
)  # fmt: skip
FLAGS.path('workdir', None, 'checkpoints, losses.csv, samples, TensorBoard files; one run per folder', value='DIR')
FLAGS.path(
    'init_from', None, 'start a new run from the weights of this checkpoint; the optimiser starts anew', value='CKPT'
)
FLAGS.choice('device', 'auto', ('auto', 'cpu', 'gpu', 'npu'), 'where to compute; auto: the GPU where there is one')
FLAGS.whole_number(
    'devices', 1, 'so many GPUs share each batch; with --device=cpu, parts of the CPU. Several machines: one process on'
    ' each, with TF_CONFIG set (docs/training.md)', at_least=1, at_most=64,
)  # fmt: skip
FLAGS.boolean('xla', False, 'compile the training step with XLA: starts slower, may run faster on a GPU')
npu_flags(FLAGS)


def main(options: Any) -> int:
    """Flags in, library call, exit code out."""
    for name in ('config', 'workdir'):
        if not getattr(options, name):
            raise UserError(f'--{name} is needed, but it is missing; '
                            + (f'{_choices()}.' if name == 'config' else 'write --workdir=runs/NAME.'))  # fmt: skip
    import_tensorflow()

    from ugatit.runners import Sharing, open_runner, read_worker
    from ugatit.training.run import train
    from ugatit.training.settings import Settings

    settings = Settings.from_sections(options.config.to_dict())
    settings.check()
    return train(
        settings,
        options.dataset,
        options.workdir,
        open_runner(
            options.device,
            settings.numerics.policy,
            settings.model.load_variants(),
            npu_settings(options, folder=str(pathlib.Path(options.workdir) / 'npu')),
            Sharing(options.devices, options.xla, read_worker(os.environ)),
        ),
        init_from=options.init_from,
        progress=lambda paths: Progress(paths, 'pictures'),
        make_pace=Pace,
    )


if __name__ == '__main__':
    sys.exit(run(main, FLAGS, memory_advice=MEMORY_ADVICE, needs_tensorflow=False))
