"""Ascend dump files: `uint64 length | DumpData message | raw buffers of inputs, outputs, buffers, workspaces`."""

from __future__ import annotations

import os
import struct
from typing import Iterator, List, NamedTuple, Tuple, Union

import numpy as np

from ugatit.dumps.dtypes import data_type
from ugatit.dumps.formats import NHWC, to_layout
from ugatit.dumps.layout import Layout
from ugatit.dumps.mapped import Mapped
from ugatit.dumps.message import Header, TensorHeader, parse_header
from ugatit.errors import UserError

PathLike = Union[str, 'os.PathLike[str]']
MOST_HEADER_BYTES = 1 << 22  # real headers have some hundred
_LENGTH = struct.Struct('<Q')


class Stored(NamedTuple):
    """One tensor of a dump file."""

    kind: str  # 'input' or 'output'
    index: int
    header: TensorHeader
    offset: int  # of its bytes in the file


class DumpFile(NamedTuple):
    """A dump file whose sizes add up; no tensor is read yet."""

    header: Header
    tensors: Tuple[Stored, ...]

    def tensor(self, kind: str, index: int) -> Stored:
        """One tensor. UserError where there is none."""
        for stored in self.tensors:
            if (stored.kind, stored.index) == (kind, index):
                return stored
        raise UserError(f'no {kind} {index} in this file')


def read_dump(path: PathLike) -> DumpFile:
    """Reads and checks the header of a dump file. UserError that names the file and what is wrong with it."""
    try:
        with open(path, 'rb') as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(_LENGTH.size)
            if len(head) < _LENGTH.size:
                raise UserError(f'{size} bytes are too few for a header')
            (length,) = _LENGTH.unpack(head)
            if length > min(MOST_HEADER_BYTES, size - _LENGTH.size):
                raise UserError(f'a header of {length} bytes is stated in a file of {size}')
            header = parse_header(file.read(length))
        return DumpFile(header, tuple(_place(header, _LENGTH.size + length, size)))
    except UserError as error:
        raise UserError(
            f'{os.fspath(path)}: not a complete Ascend dump ({error}); dump or copy the file again.'
        ) from None


def stored_layout(mapped: Mapped, stored: Stored) -> Layout:
    """A tensor of numbers as it lies in the mapped file, in plain order. UserError where it cannot be read."""
    header = stored.header
    kind = data_type(header.data_type)
    elements = _elements(header.shape)
    if kind.packed:
        raise UserError(f'{kind.name} is read byte by byte')
    _check_bytes(header, kind.bytes_of(elements))
    flat = mapped.array(kind.numbers(), elements * kind.per_element, stored.offset)
    if kind.per_element == 2:
        return Layout(flat, (1,), flat.shape)
    hint = header.original.format if header.original is not None else NHWC
    return to_layout(flat, header.format, header.shape, header.original_shape, hint, header.sub_format)


def raw_bytes(mapped: Mapped, stored: Stored) -> np.ndarray:
    """A tensor's bytes, whatever they mean."""
    return mapped.array('u1', stored.header.size, stored.offset)


def elements_of(stored: Stored) -> int:
    """How many elements a tensor has, padding included. UserError where its bytes are another number."""
    elements = _elements(stored.header.shape)
    _check_bytes(stored.header, data_type(stored.header.data_type).bytes_of(elements))
    return elements


def _place(header: Header, start: int, size: int) -> Iterator[Stored]:
    kinds: List[Tuple[str, int, TensorHeader]] = [('input', i, t) for i, t in enumerate(header.inputs)]
    kinds += [('output', i, t) for i, t in enumerate(header.outputs)]
    if start + sum(header.sizes()) != size:
        raise UserError(f'header and buffers need {start + sum(header.sizes())} bytes, the file has {size}')
    for kind, index, tensor in kinds:
        yield Stored(kind, index, tensor, start)
        start += tensor.size


def _elements(shape: Tuple[int, ...]) -> int:
    count = 1
    for side in shape:
        count *= side
    if count >= 1 << 62:
        raise UserError(f'shape {list(shape)} is too large for any memory')
    return count


def _check_bytes(header: TensorHeader, needed: int) -> None:
    if needed != header.size:
        name = data_type(header.data_type).name
        raise UserError(f'{name} of shape {list(header.shape)} needs {needed} bytes, but {header.size} are stored')
