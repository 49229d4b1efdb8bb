"""Writes Ascend dump files: for tests, and for trees that look like an NPU's."""

from __future__ import annotations

import dataclasses
import struct
from typing import Optional, Sequence, Tuple

import numpy as np

from ugatit.data.convert import PathLike, write_file
from ugatit.dumps.dtypes import data_type_of
from ugatit.dumps.formats import FRACTAL_NZ, FRACTAL_Z, HWCN, NC1HWC0, NCHW, ND, NHWC
from ugatit.dumps.message import Header, Original, TensorHeader, encode_header

C0 = 16  # values per tile of the matrix unit, float16


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One input or output to be written."""

    values: np.ndarray  # plain: NHWC, HWCN or ND
    format: int = ND  # in which it is stored
    original: Optional[Original] = None
    data_type: Optional[int] = None  # None: as numpy says; bfloat16 is written as uint16 with 27
    address: int = 0


def dump_bytes(
    op_name: str,
    inputs: Sequence[Tensor] = (),
    outputs: Sequence[Tensor] = (),
    time: int = 0,
    buffers: Sequence[bytes] = (),
    spaces: Sequence[bytes] = (),
) -> bytes:
    """A whole dump file."""
    raw = [_stored(t) for t in (*inputs, *outputs)]
    headers = [_header(t, array) for t, array in zip((*inputs, *outputs), raw)]
    header = Header(
        op_name=op_name,
        dump_time=time,
        version='2.0',
        inputs=tuple(headers[: len(inputs)]),
        outputs=tuple(headers[len(inputs) :]),
        buffers=tuple(map(len, buffers)),
        spaces=tuple(map(len, spaces)),
    )
    message = encode_header(header)
    body = b''.join([*(array.tobytes() for array in raw), *buffers, *spaces])
    return struct.pack('<Q', len(message)) + message + body


def write_dump(path: PathLike, op_name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], time: int) -> None:
    """Writes one dump file, whole or not at all."""
    write_file(path, dump_bytes(op_name, inputs, outputs, time))


def pack(values: np.ndarray, number: int) -> np.ndarray:
    """Plain values as a format stores them, padded with zeros; the inverse of `formats.to_layout`."""
    if number == NCHW:
        return np.ascontiguousarray(values.transpose(0, 3, 1, 2))
    if number == NC1HWC0:
        n, h, w, c = values.shape
        padded = _pad(values, (n, h, w, _up(c)))
        return padded.reshape(n, h, w, -1, C0).transpose(0, 3, 1, 2, 4)
    if number == FRACTAL_NZ:
        *batch, m, n = values.shape
        padded = _pad(values, (*batch, _up(m), _up(n))).reshape(-1, _up(m) // C0, C0, _up(n) // C0, C0)
        return padded.transpose(0, 3, 1, 2, 4).reshape(*batch, _up(n) // C0, _up(m) // C0, C0, C0)
    if number == FRACTAL_Z:
        h, w, c, n = values.shape
        padded = _pad(values, (h, w, _up(c), _up(n))).reshape(h, w, _up(c) // C0, C0, _up(n) // C0, C0)
        return padded.transpose(2, 0, 1, 4, 5, 3).reshape(-1, _up(n) // C0, C0, C0)
    assert number in (ND, NHWC, HWCN), number
    return values


def _stored(t: Tensor) -> np.ndarray:
    return np.asarray(pack(t.values, t.format), order='C')


def _header(t: Tensor, stored: np.ndarray) -> TensorHeader:
    number = data_type_of(stored.dtype).number if t.data_type is None else t.data_type
    original_shape: Tuple[int, ...] = t.values.shape
    if t.format == NCHW:
        original_shape = stored.shape
    return TensorHeader(number, t.format, stored.shape, stored.nbytes, original_shape, t.original, 0, t.address)


def _pad(values: np.ndarray, shape: Tuple[int, ...]) -> np.ndarray:
    return np.pad(values, [(0, wanted - had) for had, wanted in zip(values.shape, shape)])


def _up(side: int) -> int:
    return -(-side // C0) * C0
