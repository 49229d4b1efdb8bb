"""Data types of Ascend dumps by number, and how their elements become float64."""

from __future__ import annotations

import dataclasses
from typing import Dict, Optional

import numpy as np

from ugatit.errors import UserError

FLOAT16_MAX = 65504.0  # where float16 saturates
_HALF_BITS = np.int32(-0x70002000)  # 0x8fffe000: float32's sign, and the 15 bits where float16's others go
_HALF_SCALE = np.float32(2.0**112)


@dataclasses.dataclass(frozen=True)
class DataType:
    """How one data type is stored."""

    number: int
    name: str
    storage: Optional[str]  # numpy dtype of one stored unit, little-endian; None: not numbers, or not a known encoding
    per_element: int = 1  # units per element: 2 for complex numbers
    packed: int = 0  # elements per byte, of types smaller than a byte
    signed: bool = False  # of packed types

    @property
    def is_float16(self) -> bool:
        return self.name == 'float16'

    def bytes_of(self, elements: int) -> int:
        """Stored bytes of so many elements. UserError for a type that holds no numbers."""
        if self.packed:
            return -(-elements // self.packed)
        return elements * self.per_element * np.dtype(self.numbers()).itemsize

    def numbers(self) -> str:
        """The storage dtype. UserError for a type that holds no numbers."""
        if self.storage is None:
            raise UserError(f'data type {self.name} holds nothing that could be compared as numbers')
        return self.storage


_PLAIN = {
    1: ('float32', '<f4'), 2: ('float16', '<f2'), 3: ('int8', 'i1'), 4: ('uint8', 'u1'), 5: ('int16', '<i2'),
    6: ('uint16', '<u2'), 7: ('int32', '<i4'), 8: ('int64', '<i8'), 9: ('uint32', '<u4'), 10: ('uint64', '<u8'),
    11: ('bool', 'u1'), 12: ('float64', '<f8'), 14: ('dual_sub_int8', 'i1'), 15: ('dual_sub_uint8', 'u1'),
    18: ('qint8', 'i1'), 19: ('qint16', '<i2'), 20: ('qint32', '<i4'), 21: ('quint8', 'u1'), 22: ('quint16', '<u2'),
    27: ('bfloat16', '<u2'),
}  # fmt: skip
_COMPLEX = {16: ('complex64', '<f4'), 17: ('complex128', '<f8'), 32: ('complex32', '<f2')}
_PACKED = {28: ('int4', 2, True), 29: ('uint1', 8, False), 30: ('int2', 4, True), 31: ('uint2', 4, False)}
_OPAQUE = {
    0: 'undefined', 13: 'string', 23: 'resource', 24: 'string_ref', 25: 'dual', 26: 'variant', 33: 'hifloat8',
}  # fmt: skip

DATA_TYPES: Dict[int, DataType] = {
    **{number: DataType(number, name, storage) for number, (name, storage) in _PLAIN.items()},
    **{number: DataType(number, name, storage, per_element=2) for number, (name, storage) in _COMPLEX.items()},
    **{n: DataType(n, name, 'u1', packed=per, signed=sign) for n, (name, per, sign) in _PACKED.items()},
    **{number: DataType(number, name, None) for number, name in _OPAQUE.items()},
}
_BY_NAME = {data_type.name: data_type for data_type in DATA_TYPES.values()}


def data_type(number: int) -> DataType:
    """The data type of a number; one of 34 and above is some 8-bit float or newer and cannot be read."""
    if number in DATA_TYPES:
        return DATA_TYPES[number]
    return DataType(number, 'float8' if 34 <= number < 64 else f'number_{number}', None)


def data_type_named(name: str) -> DataType:
    """The data type of a name as above; also numpy's. UserError for another one."""
    if name not in _BY_NAME:
        raise UserError(f'unknown data type {name!r}; known are {", ".join(sorted(_BY_NAME))}')
    return _BY_NAME[name]


def data_type_of(dtype: np.dtype) -> DataType:
    """The data type of a numpy array."""
    return data_type_named(dtype.newbyteorder('=').name)


def unpack(block: np.ndarray, kind: DataType) -> np.ndarray:
    """The elements of packed bytes, low bits first, as int8."""
    bits = 8 // kind.packed
    shifts = np.arange(kind.packed, dtype=np.uint8) * np.uint8(bits)
    values = (block[:, None] >> shifts & np.uint8((1 << bits) - 1)).astype(np.int8).ravel()
    if kind.signed:
        values = np.where(values >= 1 << (bits - 1), values - (1 << bits), values).astype(np.int8)
    return values


class ToFloat64:
    """Stored units as float64, exact but for 64-bit integers over 2**53. Keeps room for so many; not for two threads.

    NumPy converts float16 value by value. Where all are finite, moving the bits to where float32 has them, all signs,
    exponents and fractions at once, and multiplying by 2**112, the difference of the exponents' biases, takes half the
    time; subnormals come out right, because float32 then has room for them.
    """

    def __init__(self, kind: DataType, finite: bool, most: int) -> None:
        self._bfloat16 = kind.name == 'bfloat16'
        self._bits = np.empty(most, np.int32) if finite and kind.storage == '<f2' else None

    def __call__(self, block: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Writes to the front of `out`, and returns that."""
        out = out[: block.size]
        if self._bfloat16:
            np.copyto(out, bfloat16_to_float32(block))
        elif self._bits is not None and block.dtype == np.dtype('<f2'):
            np.copyto(out, self._float32(block))
        else:
            np.copyto(out, block)
        return out

    def _float32(self, block: np.ndarray) -> np.ndarray:
        bits = self._bits[: block.size]
        np.copyto(bits, block.view('<i2'))  # the sign is extended to the left
        np.left_shift(bits, 13, out=bits)
        np.bitwise_and(bits, _HALF_BITS, out=bits)
        values = bits.view(np.float32)
        return np.multiply(values, _HALF_SCALE, out=values)


def bfloat16_to_float32(block: np.ndarray) -> np.ndarray:
    """Bfloat16 is float32 without its lower half."""
    return (block.astype(np.uint32) << np.uint32(16)).view(np.float32)
