"""The protobuf wire format, as little of it as a dump header needs: strict, bounded, nothing is guessed.

Written here because the message's generated code is the vendor's, and because two protobuf versions would be needed.
"""

from __future__ import annotations

from typing import Iterator, List, NamedTuple, Sequence, Tuple, Union

from ugatit.errors import UserError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MOST_FIELDS = 1 << 18  # in one message; a header of thousands of tensors has fewer


class Field(NamedTuple):
    """One field as it stands in the message."""

    number: int
    wire_type: int
    value: Union[int, bytes]  # int for VARINT, FIXED64, FIXED32; bytes for BYTES


def fields(data: bytes) -> Iterator[Field]:
    """The fields of one message. UserError where it is cut off, too long or no protobuf at all."""
    position = count = 0
    while position < len(data):
        count += 1
        if count > _MOST_FIELDS:
            raise UserError(f'more than {_MOST_FIELDS} fields in one message')
        tag, position = read_varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise UserError(f'field number {number} at byte {position} is not legal')
        value, position = _value(data, position, wire_type)
        yield Field(number, wire_type, value)


def read_varint(data: bytes, position: int) -> Tuple[int, int]:
    """(value, position after it); at most 10 bytes and 64 bits."""
    value = 0
    for i in range(10):
        if position + i >= len(data):
            raise UserError('cut off in the middle of a number')
        byte = data[position + i]
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            if value >> 64:
                break
            return value, position + i + 1
    raise UserError(f'the number at byte {position} has more than 64 bits')


def _value(data: bytes, position: int, wire_type: int) -> Tuple[Union[int, bytes], int]:
    if wire_type == VARINT:
        return read_varint(data, position)
    if wire_type == BYTES:
        length, position = read_varint(data, position)
    elif wire_type in (FIXED64, FIXED32):
        length = 8 if wire_type == FIXED64 else 4
    else:
        raise UserError(f'wire type {wire_type} at byte {position} is not legal')
    if length > len(data) - position:
        raise UserError(f'a field of {length} bytes at byte {position} goes beyond the end at {len(data)}')
    found = data[position : position + length]
    return (found if wire_type == BYTES else int.from_bytes(found, 'little')), position + length


def whole(field: Field) -> int:
    """The field as an unsigned number. UserError for bytes."""
    if field.wire_type != VARINT:
        raise UserError(f'field {field.number} is expected to be a number, but has wire type {field.wire_type}')
    return int(field.value)


def nested(field: Field) -> bytes:
    """The field as bytes: a text or a message inside this one."""
    if field.wire_type != BYTES:
        raise UserError(f'field {field.number} is expected to be bytes, but has wire type {field.wire_type}')
    return bytes(field.value)


def text(field: Field, most: int = 1 << 14) -> str:
    """The field as UTF-8 text of at most `most` bytes; what is no UTF-8 is shown as escapes."""
    value = nested(field)
    if len(value) > most:
        raise UserError(f'a text of {len(value)} bytes in field {field.number}; at most {most} are accepted')
    return value.decode('utf-8', 'backslashreplace')


def wholes(field: Field, most: int) -> List[int]:
    """A repeated number's next values: one, or a packed run of at most `most`."""
    if field.wire_type == VARINT:
        return [int(field.value)]
    data, position, found = nested(field), 0, []
    while position < len(data):
        value, position = read_varint(data, position)
        found.append(value)
        if len(found) > most:
            raise UserError(f'more than {most} values in field {field.number}')
    return found


def varint(value: int) -> bytes:
    """A number below 2**64 as it is written."""
    assert 0 <= value < 1 << 64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int) -> bytes:
    """A number as a field; zero is left out, as proto3 does."""
    return varint(number << 3 | VARINT) + varint(value) if value else b''


def bytes_field(number: int, value: Union[bytes, str]) -> bytes:
    """A text or message as a field; an empty text is left out by the caller."""
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def packed_field(number: int, values: Sequence[int]) -> bytes:
    """Repeated numbers as one packed field."""
    return bytes_field(number, b''.join(map(varint, values))) if len(values) else b''
