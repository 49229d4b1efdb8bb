"""Overflow records: what `Opdebug.Node_OpDebug.*` says, in both of its layouts, and its status bits in words."""

from __future__ import annotations

import dataclasses
import struct
from typing import Dict, List, Sequence, Tuple

from ugatit.errors import UserError

MAGIC = 0x5A5A5A5A
OLD_BYTES = 2048
_INFO = ('model_id', 'stream_id', 'task_id', 'task_type', 'pc_start', 'para_base')
_NEW = ('model_id', 'stream_id', 'task_id', 'task_type', 'context_id', 'thread_id', 'pc_start', 'para_base', 'core_id',
        'block_id')  # fmt: skip
ACCELERATORS = ('AI Core', 'AI Vector core', 'AI CPU', 'SDMA')
# (unit, where its task is, where its status is), bytes, of the old layout
_OLD_PARTS = (('DHA Atomic Add', 0, 512), ('L2 Atomic Add', 128, 768), ('AI Core', 256, 1024))

CORE_BITS = {
    0x8: 'negation of the smallest signed integer',
    0x10: 'integer addition, subtraction or multiplication overflowed',
    0x20: 'floating-point result overflowed',
    0x80: 'conversion of a negative number to an unsigned integer',
    0x100: 'conversion of float32 (or int32) to float16 overflowed',
    0x400: 'sum in the matrix unit overflowed',
}
_DHA = {
    0x9: 'atomic addition overflowed', 0xA: 'atomic addition underflowed', 0xB: 'atomic addition of NaN',
    0xC: 'atomic addition of NaN', 0xD: 'atomic addition of NaN',
}  # fmt: skip
_L2 = {0b001: 'atomic addition overflowed', 0b010: 'atomic addition underflowed', 0b011: 'atomic addition of NaN',
       0b100: 'atomic addition of NaN', 0b101: 'atomic addition of NaN'}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class OverflowRecord:
    """One detected overflow; task and stream find the operator's own dump."""

    unit: str  # 'AI Core', 'DHA Atomic Add', 'L2 Atomic Add', 'AI Vector core', ...
    task: int
    stream: int
    model: int
    status: Tuple[int, ...]
    details: Dict[str, int]  # block, core, program counter and the like

    @property
    def words(self) -> str:
        """The status in words, with the number: 'conversion of float32 (or int32) to float16 overflowed (0x100)'."""
        return status_words(self.unit, self.status)


def parse_opdebug(data: bytes) -> List[OverflowRecord]:
    """The records of one payload (`output[0]` of the dump), those without a status left out.

    Raises:
        UserError: neither layout.
    """
    if len(data) >= 4 and struct.unpack_from('<I', data)[0] == MAGIC:
        return _new(data)
    if len(data) == OLD_BYTES:
        return [record for record in map(lambda part: _old(data, *part), _OLD_PARTS) if any(record.status)]
    raise UserError(f'an overflow record of {len(data)} bytes; {OLD_BYTES}, or one that starts with {MAGIC:#x}')


def status_words(unit: str, status: Sequence[int]) -> str:
    """Status numbers in words."""
    return '; '.join(_word(unit, value) for value in status if value) or 'no status'


def encode_old(unit: str, task: int, stream: int, status: int, model: int = 1, block: int = 0) -> bytes:
    """The old payload with one unit's overflow; for tests and fake trees."""
    data = bytearray(OLD_BYTES)
    _, info, place = next(part for part in _OLD_PARTS if part[0] == unit)
    struct.pack_into('<6Q', data, info, model, stream, task, 0, 0, 0)
    if unit == 'AI Core':
        struct.pack_into('<3Q', data, place, 0, block, status)
    else:
        struct.pack_into('<Q', data, place, status)
    return bytes(data)


def encode_new(task: int, stream: int, status: Sequence[int], unit: str = 'AI Core', model: int = 1) -> bytes:
    """The new payload: one status word as version 0, four as version 1."""
    words = (model, stream, task, 0, 0, 0, 0, 0, 0, 0, *status)
    version = 1 if len(status) == 4 else 0
    head = (MAGIC, version, 1, ACCELERATORS.index(unit), 0, 8 * len(words))
    return struct.pack(f'<6I{len(words)}Q', *head, *words)


def _old(data: bytes, unit: str, info: int, place: int) -> OverflowRecord:
    numbers = dict(zip(_INFO, struct.unpack_from('<6Q', data, info)))
    if unit == 'AI Core':
        numbers['kernel_code'], numbers['block_id'], status = struct.unpack_from('<3Q', data, place)
    else:
        (status,) = struct.unpack_from('<Q', data, place)
    return _record(unit, numbers, (status,))


def _new(data: bytes) -> List[OverflowRecord]:
    if len(data) < 24:
        raise UserError(f'an overflow record of {len(data)} bytes is cut off')
    _, version, valid, kind, _, length = struct.unpack_from('<6I', data)
    words = len(_NEW) + (4 if version == 1 else 1)
    if version > 1 or kind >= len(ACCELERATORS) or length < 8 * words or len(data) < 24 + 8 * words:
        raise UserError(f'an overflow record of version {version}, unit {kind} and {length} bytes is not known')
    if not valid:
        return []
    values = struct.unpack_from(f'<{words}Q', data, 24)
    record = _record(ACCELERATORS[kind], dict(zip(_NEW, values)), values[len(_NEW) :])
    return [record] if any(record.status) else []


def _record(unit: str, numbers: Dict[str, int], status: Sequence[int]) -> OverflowRecord:
    rest = {key: value for key, value in numbers.items() if key not in ('task_id', 'stream_id', 'model_id')}
    return OverflowRecord(unit, numbers['task_id'], numbers['stream_id'], numbers['model_id'], tuple(status), rest)


def _word(unit: str, value: int) -> str:
    if unit == 'DHA Atomic Add':
        return f'{_DHA.get(value & 0xFF, "unknown status")} ({value:#x})'
    if unit == 'L2 Atomic Add':
        return f'{_L2.get(value >> 16 & 7, "unknown status")} ({value:#x})'
    known = [text for bit, text in CORE_BITS.items() if value & bit]
    left = value & ~sum(CORE_BITS)
    if left:
        known.append(f'unknown bits {left:#x}')
    return f'{", ".join(known)} ({value:#x})'
