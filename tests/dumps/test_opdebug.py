"""Overflow records in both layouts, and status bits in words."""

from __future__ import annotations

import pathlib
import struct

import numpy as np
import pytest

from tests.dumps.made import npu_file
from ugatit.dumps.opdebug import OLD_BYTES, encode_new, encode_old, parse_opdebug, status_words
from ugatit.dumps.overflow import find_overflows, overflow_text
from ugatit.dumps.writer import Tensor
from ugatit.errors import UserError


@pytest.mark.parametrize('unit', ['AI Core', 'DHA Atomic Add', 'L2 Atomic Add'])
def test_old_layout(unit: str) -> None:
    (record,) = parse_opdebug(encode_old(unit, 12, 3, 0x30009, model=21))
    assert (record.unit, record.task, record.stream, record.model, record.status) == (unit, 12, 3, 21, (0x30009,))


def test_old_layout_by_the_published_offsets() -> None:
    """128 bytes DHA info, 128 L2 info, 256 core info, 256 DHA status, 256 L2 status, core code, block, status."""
    data = bytearray(OLD_BYTES)
    struct.pack_into('<6Q', data, 256, 7, 5, 11, 1, 0x1000, 0x2000)
    struct.pack_into('<3Q', data, 128 + 128 + 256 + 256 + 256, 0xAB, 4, 0x20)
    (record,) = parse_opdebug(bytes(data))
    assert (record.task, record.stream, record.model, record.status) == (11, 5, 7, (0x20,))
    assert (record.details['block_id'], record.details['pc_start']) == (4, 0x1000)


@pytest.mark.parametrize('status', [[0x100], [0, 0, 0x20, 0]])
def test_new_layout(status: list) -> None:
    (record,) = parse_opdebug(encode_new(12, 3, status, unit='AI Vector core'))
    assert (record.unit, record.task, record.stream, record.status) == ('AI Vector core', 12, 3, tuple(status))


def test_records_without_a_status_are_none() -> None:
    assert parse_opdebug(bytes(OLD_BYTES)) == []
    assert parse_opdebug(encode_new(1, 1, [0, 0, 0, 0])) == []


@pytest.mark.parametrize('data', [b'', b'x' * 100, encode_new(1, 1, [1])[:-1], struct.pack('<2I', 0x5A5A5A5A, 9)])
def test_other_payloads_are_refused(data: bytes) -> None:
    with pytest.raises(UserError, match='overflow record'):
        parse_opdebug(data)


@pytest.mark.parametrize(
    ('unit', 'value', 'words'),
    [
        ('AI Core', 0x8, 'negation of the smallest signed integer (0x8)'),
        ('AI Core', 0x10, 'integer addition, subtraction or multiplication overflowed (0x10)'),
        ('AI Core', 0x20, 'floating-point result overflowed (0x20)'),
        ('AI Core', 0x80, 'conversion of a negative number to an unsigned integer (0x80)'),
        ('AI Core', 0x100, 'conversion of float32 (or int32) to float16 overflowed (0x100)'),
        ('AI Core', 0x400, 'sum in the matrix unit overflowed (0x400)'),
        ('AI Core', 0x1, 'unknown bits 0x1 (0x1)'),
        ('DHA Atomic Add', 0x9, 'atomic addition overflowed (0x9)'),
        ('L2 Atomic Add', 0x20000, 'atomic addition underflowed (0x20000)'),
        ('L2 Atomic Add', 0x50000, 'atomic addition of NaN (0x50000)'),
    ],
)
def test_status_in_words(unit: str, value: int, words: str) -> None:
    assert status_words(unit, (value,)) == words


def test_several_bits() -> None:
    text = status_words('AI Core', (0x120, 0, 0, 0))
    assert 'floating-point' in text and 'float16' in text and text.endswith('(0x120)')


def test_records_find_their_operator_and_come_in_order_of_time(tmp_path: pathlib.Path) -> None:
    half = np.array([1, 65504, 3, -65504], np.float16)
    npu_file(tmp_path / 'Conv2D.g_conv.7.3.1629880658000007', [Tensor(half)], name='g/conv')
    npu_file(tmp_path / 'Conv2D.g_other.7.4.1629880658000007', [Tensor(half)], name='g/other')  # another stream
    for task, when in ((7, 50), (9, 40)):
        record = np.frombuffer(encode_old('AI Core', task, 3, 0x400), np.uint8)
        npu_file(tmp_path / f'Opdebug.Node_OpDebug.{task + 90}.3.16298806580000{when}', [Tensor(record)])
    found, failures = find_overflows(tmp_path)
    assert failures == []
    assert [(o.operator, o.record.task) for o in found] == [(None, 9), ('g/conv', 7)]
    assert found[1].saturated == ('output 0: 50 % at 65504',)
    assert 'matrix unit' in overflow_text(found)


def test_a_broken_record_is_a_failure_not_an_end(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'Opdebug.Node_OpDebug.1.3.1629880658000050').write_bytes(b'12345678901')
    found, failures = find_overflows(tmp_path)
    assert (found, len(failures)) == ([], 1)
    assert 'no overflow record' in overflow_text(found)
