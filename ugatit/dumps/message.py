"""The header of an Ascend dump file: the message `toolkit.dumpdata.DumpData` (ASCEND data types and formats by number).

DumpData  1 version  2 dump_time  3 output*  4 input*  5 buffer*  6 op_name  7 attr*  8 space*
OpOutput  1 data_type  2 format  3 shape  4 original_op  5 data  6 size  7 original_shape  8 sub_format  9 address
OpInput   1 data_type  2 format  3 shape  4 data  5 size  6 original_shape  7 sub_format  8 address ..
"""

from __future__ import annotations

import dataclasses
from typing import Dict, List, Optional, Tuple

from ugatit.dumps import wire
from ugatit.errors import UserError

MOST_TENSORS = 1 << 14  # inputs and outputs of one operator
MOST_DIMENSIONS = 32


@dataclasses.dataclass(frozen=True)
class Original:
    """Which operator of the user's graph an output stands for: fusion renames operators."""

    name: str
    output_index: int = 0
    data_type: int = 0
    format: int = 2  # of that output there; ND


@dataclasses.dataclass(frozen=True)
class TensorHeader:
    """One input or output; its bytes follow the header."""

    data_type: int  # see dtypes.py
    format: int  # see formats.py
    shape: Tuple[int, ...]  # as stored, padded
    size: int  # bytes that follow
    original_shape: Tuple[int, ...] = ()  # without padding; () where it is not known, or a scalar
    original: Optional[Original] = None  # outputs only
    sub_format: int = 0  # number of groups
    address: int = 0


@dataclasses.dataclass(frozen=True)
class Header:
    """One operator's dump."""

    op_name: str = ''
    dump_time: int = 0  # microseconds
    version: str = ''
    inputs: Tuple[TensorHeader, ...] = ()
    outputs: Tuple[TensorHeader, ...] = ()
    buffers: Tuple[int, ...] = ()  # sizes, bytes
    spaces: Tuple[int, ...] = ()
    attributes: Tuple[Tuple[str, str], ...] = ()

    def sizes(self) -> List[int]:
        """Byte sizes in the order in which the buffers follow."""
        return [t.size for t in (*self.inputs, *self.outputs)] + [*self.buffers, *self.spaces]


def parse_header(data: bytes) -> Header:
    """Reads the message. UserError with a clause about what is wrong."""
    found: Dict[str, list] = {key: [] for key in ('inputs', 'outputs', 'buffers', 'spaces', 'attributes')}
    single: Dict[str, object] = {}
    for field in wire.fields(data):
        if field.number in (1, 6):
            single['version' if field.number == 1 else 'op_name'] = wire.text(field)
        elif field.number == 2:
            single['dump_time'] = wire.whole(field)
        elif field.number == 3:
            found['outputs'].append(_tensor(wire.nested(field), original=4, data=5))
        elif field.number == 4:
            found['inputs'].append(_tensor(wire.nested(field), original=0, data=4))
        elif field.number in (5, 8):
            found['buffers' if field.number == 5 else 'spaces'].append(_sized(wire.nested(field)))
        elif field.number == 7:
            found['attributes'].append(_attribute(wire.nested(field)))
        if len(found['outputs']) + len(found['inputs']) > MOST_TENSORS:
            raise UserError(f'more than {MOST_TENSORS} inputs and outputs')
    return Header(**single, **{key: tuple(value) for key, value in found.items()})


def encode_header(header: Header) -> bytes:
    """The message as bytes."""
    parts = [wire.bytes_field(1, header.version) if header.version else b'', wire.number_field(2, header.dump_time)]
    parts += [wire.bytes_field(3, _encode_tensor(t, output=True)) for t in header.outputs]
    parts += [wire.bytes_field(4, _encode_tensor(t, output=False)) for t in header.inputs]
    parts += [wire.bytes_field(5, wire.number_field(3, size)) for size in header.buffers]
    parts += [wire.bytes_field(6, header.op_name)] if header.op_name else []
    parts += [wire.bytes_field(7, wire.bytes_field(1, k) + wire.bytes_field(2, v)) for k, v in header.attributes]
    parts += [wire.bytes_field(8, wire.number_field(3, size)) for size in header.spaces]
    return b''.join(parts)


def _tensor(message: bytes, original: int, data: int) -> TensorHeader:
    """OpOutput and OpInput differ in numbering: `data` and what follows it is one lower in an input."""
    values: Dict[str, object] = {'data_type': 0, 'format': 0, 'shape': (), 'size': 0}
    names = {1: 'data_type', 2: 'format', data + 1: 'size', data + 3: 'sub_format', data + 4: 'address'}
    for field in wire.fields(message):
        if field.number in names:
            values[names[field.number]] = wire.whole(field)
        elif field.number == 3:
            values['shape'] = _shape(wire.nested(field))
        elif field.number == data + 2:
            values['original_shape'] = _shape(wire.nested(field))
        elif field.number == data and wire.nested(field):
            raise UserError('a tensor has its data inside the header; it is expected behind it')
        elif field.number == original:
            values['original'] = _original(wire.nested(field))
    return TensorHeader(**values)


def _shape(message: bytes) -> Tuple[int, ...]:
    found: List[int] = []
    for field in wire.fields(message):
        if field.number == 1:
            found += wire.wholes(field, MOST_DIMENSIONS)
        if len(found) > MOST_DIMENSIONS:
            raise UserError(f'a shape of more than {MOST_DIMENSIONS} dimensions')
    return tuple(found)


def _original(message: bytes) -> Original:
    values: Dict[str, object] = {'name': ''}
    names = {2: 'output_index', 3: 'data_type', 4: 'format'}
    for field in wire.fields(message):
        if field.number == 1:
            values['name'] = wire.text(field)
        elif field.number in names:
            values[names[field.number]] = wire.whole(field)
    return Original(**{'format': 0, **values})


def _sized(message: bytes) -> int:
    """OpBuffer and Workspace: only the size matters."""
    sizes = [wire.whole(field) for field in wire.fields(message) if field.number == 3]
    return sizes[-1] if sizes else 0


def _attribute(message: bytes) -> Tuple[str, str]:
    found = {field.number: wire.text(field) for field in wire.fields(message) if field.number in (1, 2)}
    return found.get(1, ''), found.get(2, '')


def _encode_tensor(t: TensorHeader, output: bool) -> bytes:
    data = 5 if output else 4
    parts = [wire.number_field(1, t.data_type), wire.number_field(2, t.format)]
    parts.append(wire.bytes_field(3, wire.packed_field(1, t.shape)))
    if output and t.original is not None:
        o = t.original
        numbers = (wire.number_field(i, n) for i, n in ((2, o.output_index), (3, o.data_type), (4, o.format)))
        parts.append(wire.bytes_field(4, wire.bytes_field(1, o.name) + b''.join(numbers)))
    parts.append(wire.number_field(data + 1, t.size))
    parts.append(wire.bytes_field(data + 2, wire.packed_field(1, t.original_shape)))
    parts += [wire.number_field(data + 3, t.sub_format), wire.number_field(data + 4, t.address)]
    return b''.join(parts)
