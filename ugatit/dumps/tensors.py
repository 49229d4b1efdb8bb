"""One tensor of a dump, wherever it is stored, as a stream of blocks that can be read again and again."""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
import threading
from typing import Callable, Iterator, Optional, Tuple

import numpy as np

from ugatit.dumps import binary
from ugatit.dumps.dtypes import DataType, data_type, data_type_named, data_type_of, unpack
from ugatit.dumps.formats import FORMAT_NAMES, ND, NHWC, to_layout
from ugatit.dumps.layout import Layout, blocks, plain, unordered
from ugatit.dumps.mapped import Mapped
from ugatit.dumps.names import DumpName
from ugatit.errors import UserError

_FORGET_BYTES = 48 << 20  # read so much before the pages are given back


@dataclasses.dataclass(frozen=True)
class TensorRef:
    """Where a tensor is; nothing is open."""

    path: pathlib.Path
    form: str  # 'dump', 'npy', 'bin' or 'golden', as in names.py
    kind: str = 'output'
    index: int = 0
    name: Optional[DumpName] = None  # of converted files: format, and shape and type of .bin

    def open(self) -> OpenTensor:
        """Maps the file. UserError that names it where it is broken or holds no numbers."""
        try:
            return _OPENERS[self.form](self)
        except OSError as error:
            raise UserError(f'{self.path}: {error.strerror or error}; check the file.') from None
        except UserError as error:
            place = f'{self.path}: ' if str(self.path) not in str(error) else ''
            raise UserError(f'{place}{error}') from None

    def span(self) -> Tuple[int, int]:
        """Its first byte in the file and how many there are. OSError or UserError where it cannot be read."""
        if self.form != 'dump':
            return 0, os.stat(self.path).st_size
        stored = binary.read_dump(self.path).tensor(self.kind, self.index)
        return stored.offset, stored.header.size


@dataclasses.dataclass(frozen=True)
class OpenTensor:
    """A tensor that can be read, in plain order without padding."""

    dtype: DataType
    shape: Tuple[int, ...]  # plain
    format: str  # as stored, the vendor's name
    size: int  # elements to compare: real and imaginary parts count
    read: Callable[[int], Iterator[np.ndarray]]  # blocks of about so many stored units
    forget: Callable[[], None]
    address: int = 0
    padded: bool = False  # its padding could not be removed: the file does not say how much there is
    stored: Optional[np.ndarray] = None  # all elements, flat, in whatever order the file has them; None: not so simple

    def blocks(self, limit: int, ordered: bool = True) -> Iterator[np.ndarray]:
        """Flat arrays in plain order, or in the file's where that is cheaper; pages are given back along the way.

        Reading in any order is a first look: a small file's pages stay for the second.
        """
        if ordered or self.stored is None:
            return self._forgetting(self.read(limit), ordered)
        return self._forgetting((self.stored[i : i + limit] for i in range(0, self.stored.size, limit)), ordered)

    def _forgetting(self, blocks: Iterator[np.ndarray], last: bool) -> Iterator[np.ndarray]:
        seen, kept = 0, not last
        for block in blocks:
            yield block
            seen += block.nbytes
            if seen > _FORGET_BYTES:
                self.forget()
                seen, kept = 0, False
        if not kept:
            self.forget()

    def array(self) -> np.ndarray:
        """All of it, for small tensors."""
        parts = list(self.read(1 << 20))
        flat = np.concatenate(parts) if parts else np.zeros(0, self.dtype.numbers())
        return flat.reshape(self.shape) if flat.size == math.prod(self.shape) else flat


def _open_dump(ref: TensorRef) -> OpenTensor:
    stored = binary.read_dump(ref.path).tensor(ref.kind, ref.index)
    mapped, kind = Mapped(ref.path), data_type(stored.header.data_type)
    name = FORMAT_NAMES.get(stored.header.format, str(stored.header.format))
    if kind.packed:
        return _packed(mapped, stored, kind, name)
    layout = binary.stored_layout(mapped, stored)
    tiled = name not in ('ND', 'NHWC', 'NCHW', 'HWCN', 'NDHWC', 'NCDHW')
    tensor = _open_layout(kind, layout, stored.header.format, mapped)
    unsure = tiled and not stored.header.original_shape
    return dataclasses.replace(tensor, format=name, address=stored.header.address, padded=unsure)


def _packed(mapped: Mapped, stored: binary.Stored, kind: DataType, name: str) -> OpenTensor:
    if name not in ('ND', 'NHWC', 'HWCN'):
        raise UserError(f'{kind.name} in format {name} cannot be unpacked')
    elements, raw = binary.elements_of(stored), binary.raw_bytes(mapped, stored)

    def read(limit: int) -> Iterator[np.ndarray]:
        step = max(1, limit // kind.packed)
        for start in range(0, raw.size, step):
            left = elements - start * kind.packed
            yield unpack(raw[start : start + step], kind)[:left]

    return OpenTensor(kind, stored.header.shape, name, elements, read, mapped.forget, stored.header.address)


def _open_npy(ref: TensorRef) -> OpenTensor:
    mapped = Mapped(ref.path)
    array = npy_array(ref.path, mapped)
    kind = data_type_of(array.dtype) if array.dtype.kind != 'c' else data_type_named(array.dtype.name)
    if kind.per_element == 2:
        array = np.ascontiguousarray(array).reshape(-1).view(kind.numbers())
    number = ref.name.format if ref.name is not None else ND
    layout = plain(array) if number in (ND, NHWC) else _as(array, number)
    return _open_layout(kind, layout, number, mapped)


def _open_bin(ref: TensorRef) -> OpenTensor:
    assert ref.name is not None
    mapped, kind = Mapped(ref.path), data_type_named(ref.name.dtype)
    flat = mapped.array(kind.numbers(), mapped.size // np.dtype(kind.numbers()).itemsize, 0)
    layout = to_layout(flat, ref.name.format, ref.name.shape)
    return _open_layout(kind, layout, ref.name.format, mapped)


def _as(array: np.ndarray, number: int) -> Layout:
    return to_layout(np.ascontiguousarray(array).reshape(-1), number, array.shape)


def _open_layout(kind: DataType, layout: Layout, number: int, mapped: Mapped) -> OpenTensor:
    name = FORMAT_NAMES.get(number, str(number))
    return OpenTensor(
        kind,
        layout.shape,
        name,
        layout.size,
        lambda limit: blocks(layout, limit),
        mapped.forget,
        stored=unordered(layout),
    )


# NumPy parses a header with `ast`, which raises SystemError when two threads of CPython 3.11 do so at once.
_ONE_HEADER = threading.Lock()


def npy_array(path: os.PathLike, mapped: Mapped) -> np.ndarray:
    """The array of an .npy file, mapped; never unpickled. UserError for another file."""
    with open(path, 'rb') as file:
        try:
            version = np.lib.format.read_magic(file)
            if version not in ((1, 0), (2, 0)):
                raise UserError(f'version {version[0]}.{version[1]} of the .npy format; 1.0 and 2.0 are known')
            reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            with _ONE_HEADER:
                shape, fortran, dtype = reader(file)
            offset = file.tell()
        except UserError:
            raise
        except Exception as error:  # numpy evaluates the header, and a broken one can raise nearly anything
            raise UserError(f'no .npy file ({type(error).__name__}); write it again') from None
    if dtype.hasobject or dtype.kind not in 'biufc':
        raise UserError(f'numpy type {dtype} holds no numbers')
    count = math.prod(int(side) for side in shape)
    if any(side < 0 for side in shape):
        raise UserError(f'shape {shape} has a negative side')
    flat = mapped.array(dtype.str, count, offset)
    return flat.reshape(shape, order='F' if fortran else 'C')


_OPENERS = {'dump': _open_dump, 'npy': _open_npy, 'golden': _open_npy, 'bin': _open_bin}
