"""What a dump file's name says; every form that the vendor documents.

Conv2D.generator_B_conv_conv2d_Conv2D.12.3.1629880658123456               TYPE.NAME.TASK.STREAM.TIME
Conv2D.generator_B_conv_conv2d_Conv2D.12.1629880658123456                 without the stream
Add.x.0.3.1673383728093446.4.1.0.0                                        FFTS+: context, thread, device, and more
...output.0.npy   ...output.0.NHWC.npy   ...output.0.1,64,64,3_float16_NHWC.bin   converted
generator_B_conv_conv2d_Conv2D.0.1629880658.npy                           NAME.OUTPUT.TIME of a CPU or GPU
Opdebug.Node_OpDebug.5.3.1629880658123456                                 overflow record
1629880658123456789                                                       real name in mapping.csv beside it
"""

from __future__ import annotations

import csv
import pathlib
import re
from typing import Dict, NamedTuple, Optional, Tuple

from ugatit.dumps.formats import FORMAT_NUMBERS
from ugatit.errors import UserError

_WORD = r'[A-Za-z0-9_-]+'
_DUMP = (
    rf'(?P<type>{_WORD})\.(?P<name>{_WORD})\.(?P<task>[0-9]{{1,20}})(?:\.(?P<stream>[0-9]{{1,20}}))?'
    r'\.(?P<time>[0-9]{1,255})(?P<ffts>\.[0-9]{1,20}\.[0-9]{1,20}\.[0-9]{1,20})?(?:\.[0-9]{1,20})?'
)
_SHAPE = r'[0-9]+(?:[,x_][0-9]+)*'
_CONVERTED = (
    rf'\.(?P<kind>input|output)\.(?P<index>[0-9]{{1,5}})'
    rf'(?:\.npy|\.(?P<npy_format>[A-Z][A-Z0-9_]*)\.npy'
    rf'|\.(?P<shape>{_SHAPE})[_.](?P<dtype>[a-z][a-z0-9]*)[_.](?P<format>[A-Z][A-Z0-9_]*)\.bin)'
)
_DUMP_NAME = re.compile(_DUMP + r'\Z')
_CONVERTED_NAME = re.compile(_DUMP + _CONVERTED + r'\Z')
_GOLDEN_NAME = re.compile(
    rf'(?P<name>{_WORD})\.(?P<index>[0-9]{{1,5}})(?:\.[0-9]{{1,20}})?\.(?P<time>[0-9]{{1,255}})\.npy\Z'
)
_OFFLINE_NAME = re.compile(  # what the vendor's tool turns back into a dump
    rf'(?P<type>{_WORD})\.(?P<name>{_WORD})\.(?P<task>[0-9]{{1,20}})\.(?P<time>[0-9]{{1,255}})'
    r'\.(?P<index>[0-9]{1,5})\.npy\Z'
)
_GE_GRAPH = re.compile(r'ge_proto_([0-9]{1,9})_([A-Za-z0-9_-]+)\.txt\Z')
MAPPING = 'mapping.csv'
_MOST_MAPPING_BYTES = 100 << 20


class DumpName(NamedTuple):
    """A dump file's name taken apart."""

    form: str  # 'dump', 'opdebug', 'npy' or 'bin' (converted), 'golden'
    op_name: str  # with _ in place of / . \ and blanks
    op_type: str = ''  # '' for golden files
    task: int = 0
    stream: Optional[int] = None
    time: int = 0
    kind: str = 'output'  # of a converted or golden file's one tensor
    index: int = 0
    format: int = 2  # of a converted file
    dtype: str = ''  # of a .bin file
    shape: Tuple[int, ...] = ()  # of a .bin file
    ffts: Tuple[int, ...] = ()  # context, thread, device of an FFTS+ name; () otherwise


def parse_name(name: str) -> Optional[DumpName]:
    """What a file's name says; None for a file that is no dump."""
    found = _CONVERTED_NAME.match(name)
    if found:
        return _converted(found)
    found = _DUMP_NAME.match(name)
    if found:
        form = 'opdebug' if found['type'] == 'Opdebug' else 'dump'
        return DumpName(form, found['name'], **_numbers(found))
    found = _OFFLINE_NAME.match(name)
    if found:
        number = int(found['index'])
        return DumpName('npy', found['name'], found['type'], int(found['task']), time=_time(found), index=number)
    found = _GOLDEN_NAME.match(name)
    if found:
        return DumpName('golden', op_key(found['name']), index=int(found['index']), time=_time(found))
    return None


def ge_graph_name(name: str) -> Optional[str]:
    """The graph's name of a `ge_proto_NNNNN_GRAPH_Build.txt`; None for another file."""
    found = _GE_GRAPH.match(name)
    return re.sub(r'_Build\Z', '', found[2]) if found else None


def op_key(name: str) -> str:
    """An operator's name as file names have it: `generator_B/conv/conv2d/Conv2D` and the like become the same."""
    return re.sub(r'[^A-Za-z0-9-]', '_', name.strip())


def is_digits(name: str) -> bool:
    """Whether a file name is one that only `mapping.csv` explains."""
    return bool(re.fullmatch(r'[0-9]{1,255}(\.(npy|bin))?', name))


def read_mapping(folder: pathlib.Path) -> Dict[str, str]:
    """File name -> real name from `mapping.csv` of a folder; {} without one. UserError for a broken one."""
    path = folder / MAPPING
    if not path.is_file():
        return {}
    if path.stat().st_size > _MOST_MAPPING_BYTES:
        raise UserError(f'{path}: more than {_MOST_MAPPING_BYTES >> 20} MiB cannot be a list of names; check the file.')
    try:
        with open(path, newline='', encoding='utf-8', errors='replace') as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    except csv.Error as error:
        raise UserError(f'{path}: expected two columns, file name and real name, but: {error}.') from None
    bad = next((row for row in rows if len(row) != 2), None)
    if bad is not None:
        raise UserError(f'{path}: expected two columns, file name and real name, but {len(bad)} arrived in one row.')
    return dict(rows)


def make_dump_name(op_type: str, op_name: str, task: int, stream: int, time: int) -> str:
    """The name under which an NPU stores an operator's dump; it may be too long for a file system."""
    return f'{op_type}.{op_key(op_name)}.{task}.{stream}.{time}'


def make_golden_name(op_name: str, index: int, time: int) -> str:
    """The name of a CPU's or GPU's `.npy`."""
    return f'{op_key(op_name)}.{index}.{time}.npy'


def _converted(found: re.Match[str]) -> DumpName:
    format_text = found['npy_format'] or found['format'] or 'ND'
    sides = tuple(int(side) for side in re.split('[,x_]', found['shape'])) if found['shape'] else ()
    return DumpName(
        'bin' if found['dtype'] else 'npy',
        found['name'],
        **_numbers(found),
        kind=found['kind'],
        index=int(found['index']),
        format=FORMAT_NUMBERS.get(format_text, 2),
        dtype=found['dtype'] or '',
        shape=sides,
    )


def _numbers(found: re.Match[str]) -> Dict[str, object]:
    ffts = tuple(int(part) for part in found['ffts'][1:].split('.')) if found['ffts'] else ()
    return {
        'op_type': found['type'],
        'task': int(found['task']),
        'stream': None if found['stream'] is None else int(found['stream']),
        'time': _time(found),
        'ffts': ffts,
    }


def _time(found: re.Match[str]) -> int:
    return int(found['time'][:30])  # up to 255 digits are legal
