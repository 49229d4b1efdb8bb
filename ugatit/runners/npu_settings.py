"""What a command line says about an NPU, and what the adapter is told because of it; nothing here needs the adapter."""

from __future__ import annotations

import dataclasses
import pathlib
import tempfile
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ugatit.errors import UserError
from ugatit.nn.pad import PADDINGS
from ugatit.nn.policy import Policy
from ugatit.nn.rules import Variants
from ugatit.runners.npu_mixlist import write_mixlist
from ugatit.runners.npu_options import Given, read_options
from ugatit.runners.npu_precision import MIXED, precision_options


@dataclasses.dataclass(frozen=True)
class NpuSettings:
    """The flags that belong to --device=npu."""

    dump: Optional[str] = None  # folder for every operator's inputs and outputs
    detect_overflow: Optional[str] = None  # folder for what overflowed; excludes `dump`
    options: Tuple[str, ...] = ()  # NAME=VALUE: further attributes of the adapter's global_options()
    reflect_pad: str = 'slices'  # how reflect padding is computed: MirrorPad runs on the slow AI CPU of a 910
    folder: Optional[str] = None  # for files that the compiler reads; None: a temporary one

    def __post_init__(self) -> None:
        if self.dump and self.detect_overflow:
            raise UserError(
                '--dump and --detect_overflow exclude each other on an NPU, but both arrived; run them one after'
                ' the other.'
            )
        if self.reflect_pad not in PADDINGS:
            raise UserError(f'--reflect_pad must be one of {", ".join(PADDINGS)}, but {self.reflect_pad!r} arrived.')

    @property
    def flags(self) -> List[str]:
        """Those that were given, for the sentence that they belong to --device=npu."""
        given = {
            '--dump': self.dump,
            '--detect_overflow': self.detect_overflow,
            '--npu_option': self.options,
            '--reflect_pad': self.reflect_pad != 'slices',
        }
        return [flag for flag, value in given.items() if value]


class Handover(NamedTuple):
    """What the adapter gets before a device is opened."""

    options: Dict[str, Any]  # attribute of global_options() or one of its sections -> value
    environment: Dict[str, str]  # set where it is not set already
    notes: List[str]  # for the log


def hand_over(settings: NpuSettings, policy: Policy, variants: Variants) -> Handover:
    """All options, their folders made beforehand; UserError for what cannot be."""
    given = read_options(settings.options)
    options: Dict[str, Any] = {'deterministic': 1}  # a resumed run ends with the same bits
    options.update(given.values)
    options.update(precision_options(policy.name, given.values))
    notes = list(given.notes)
    _keep_statistics(options, notes, settings, variants)
    environment = _dump(options, settings, given)
    return Handover(options, environment, notes)


def _keep_statistics(options: Dict[str, Any], notes: List[str], settings: NpuSettings, variants: Variants) -> None:
    """The black list, in the modes that read one."""
    mixed = options.get('precision_mode', options.get('precision_mode_v2')) in MIXED
    if 'modify_mixlist' in options:
        _require_file('modify_mixlist', options['modify_mixlist'])
        if not mixed:
            notes.append('modify_mixlist: only modes with mixed precision read it, and this is none')
    elif mixed:
        folder = pathlib.Path(settings.folder or tempfile.mkdtemp(prefix='ugatit_npu_')).expanduser()
        options['modify_mixlist'] = str(write_mixlist(folder, variants).absolute())
        notes.append(f'statistics stay float32 by {options["modify_mixlist"]}')
    for name in ('customize_dtypes', 'op_precision_mode', 'fusion_switch_file', 'op_debug_config'):
        if name in options:
            _require_file(name, options[name])


def _require_file(name: str, path: str) -> None:
    if not pathlib.Path(path).is_file():
        raise UserError(f'{name} must be a file, but there is none at {path}; check the path.')


def _dump(options: Dict[str, Any], settings: NpuSettings, given: Given) -> Dict[str, str]:
    """Dump options; the folder must exist before a device is opened. Graphs go beside it, or no tool finds its way."""
    chosen = settings.dump or settings.detect_overflow
    if chosen is None:
        stray = [name for name in given.values if name.startswith('dump_')]
        if stray:
            raise UserError(f'{stray[0]} says how to dump, but nothing is dumped; add --dump=DIR or'
                            ' --detect_overflow=DIR.')  # fmt: skip
        return {}
    folder = pathlib.Path(chosen).expanduser().absolute()
    try:
        (folder / 'graphs').mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f'{folder} must be a folder to dump into, but it cannot be made ({error.strerror}).') from None
    options['dump_path'] = str(folder)
    if settings.dump:
        options['enable_dump'] = True
        options.setdefault('dump_mode', 'all')
        options.setdefault('dump_step', '0')  # one step of the full model is some GB
    else:
        options['enable_dump_debug'] = True
        options.setdefault('dump_debug_mode', 'all')
    return {'DUMP_GE_GRAPH': '2', 'DUMP_GRAPH_LEVEL': '3', 'DUMP_GRAPH_PATH': str(folder / 'graphs')}
