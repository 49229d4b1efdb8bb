"""Dump files: written and read back, and what a hostile or broken one may do: raise UserError, nothing else."""

from __future__ import annotations

import pathlib
import random
import struct
import time
import tracemalloc
from typing import List

import numpy as np
import pytest

from tests.dumps.made import npu_file
from ugatit.dumps import binary, message, wire
from ugatit.dumps.formats import FRACTAL_NZ, FRACTAL_Z, NC1HWC0
from ugatit.dumps.message import Original
from ugatit.dumps.opdebug import encode_new, encode_old
from ugatit.dumps.overflow import read_records
from ugatit.dumps.tensors import TensorRef
from ugatit.dumps.writer import Tensor, dump_bytes
from ugatit.errors import UserError

_SECONDS, _BYTES = 0.5, 32 << 20  # that one small broken file may cost


def test_header_round_trip(tmp_path: pathlib.Path) -> None:
    original = Original('generator_B/conv/conv2d/BiasAdd', 1, 2, 1)
    values = np.zeros((1, 3, 3, 5), np.float16)
    output = Tensor(values, NC1HWC0, original, address=7)
    data = dump_bytes('a/b', [Tensor(values, NC1HWC0)], [output], 9, [b'ab'], [b'c'])
    (tmp_path / 'x').write_bytes(data)
    header = binary.read_dump(tmp_path / 'x').header
    assert (header.op_name, header.dump_time, header.buffers, header.spaces) == ('a/b', 9, (2,), (1,))
    (read,) = header.outputs
    assert (read.shape, read.original_shape) == ((1, 1, 3, 3, 16), (1, 3, 3, 5))
    assert (read.original, read.address, read.data_type) == (original, 7, 2)
    assert message.parse_header(message.encode_header(header)) == header


def test_unpacked_shapes_are_read_too() -> None:
    """proto2 writers repeat the field instead of packing it."""
    shape = b''.join(wire.varint(1 << 3) + wire.varint(side) for side in (1, 300, 2))
    tensor = wire.number_field(1, 1) + wire.bytes_field(3, shape) + wire.number_field(6, 2400)
    header = message.parse_header(wire.bytes_field(3, tensor) + wire.bytes_field(15, b'of a later version'))
    assert header.outputs[0].shape == (1, 300, 2)


@pytest.mark.parametrize(
    ('data', 'words'),
    [
        (b'', '0 bytes are too few'),
        (b'1234567', '7 bytes are too few'),
        (struct.pack('<Q', 1 << 60), 'a header of 1152921504606846976 bytes is stated in a file of 8'),
        (struct.pack('<Q', 4) + b'\x12\xff\xff\xff', 'cut off in the middle of a number'),
        (struct.pack('<Q', 3) + b'\x12\x7f\x00', 'goes beyond the end'),
        (struct.pack('<Q', 1) + b'\x00', 'field number 0'),
        (struct.pack('<Q', 1) + b'\x0b', 'wire type 3'),
        (struct.pack('<Q', 12) + b'\x10' + b'\xff' * 11, 'more than 64 bits'),
        (dump_bytes('a', [], [Tensor(np.zeros(4, np.float16))]) + b'x', 'the file has'),
        (dump_bytes('a', [], [Tensor(np.zeros(4, np.float16))])[:-1], 'the file has'),
    ],
)
def test_broken_files_are_named(data: bytes, words: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'broken').write_bytes(data)
    with pytest.raises(UserError, match=words) as caught:
        binary.read_dump(tmp_path / 'broken')
    assert str(tmp_path / 'broken') in str(caught.value)


def test_a_tensor_that_lies_about_its_size(tmp_path: pathlib.Path) -> None:
    header = message.Header(outputs=(message.TensorHeader(2, 2, (1 << 31, 1 << 31), 8),))
    encoded = message.encode_header(header)
    (tmp_path / 'x').write_bytes(struct.pack('<Q', len(encoded)) + encoded + bytes(8))
    with pytest.raises(UserError, match='too large for any memory'):
        TensorRef(tmp_path / 'x', 'dump').open()


def test_no_pickle_and_no_nonsense_in_npy(tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / 'objects.npy', np.array([{}], object), allow_pickle=True)
    (tmp_path / 'text.npy').write_bytes(b'\x93NUMPY\x01\x00\x10\x00import os; os.ab')
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b'\n'
    (tmp_path / 'huge.npy').write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header)
    for name in ('objects', 'text', 'huge'):
        with pytest.raises(UserError, match=name):
            TensorRef(tmp_path / f'{name}.npy', 'golden').open()


def test_fortran_order_and_other_ends(tmp_path: pathlib.Path) -> None:
    values = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / 'f.npy', np.asfortranarray(values))
    np.save(tmp_path / 'b.npy', values.astype('>f4'))
    for name in ('f', 'b'):
        assert np.array_equal(TensorRef(tmp_path / f'{name}.npy', 'golden').open().array(), values)


def test_mutated_files_do_no_harm(tmp_path: pathlib.Path) -> None:
    _mutate(tmp_path, 1500)


@pytest.mark.slow
def test_many_mutated_files_do_no_harm(tmp_path: pathlib.Path) -> None:
    _mutate(tmp_path, 20000, seed=1)


def _mutate(folder: pathlib.Path, count: int, seed: int = 0) -> None:
    """Every mutated file is read to the end or refused, quickly, in little memory."""
    originals, chance = _originals(), random.Random(seed)
    read = 0
    tracemalloc.start()
    try:
        for number in range(count):
            path = folder / str(number)  # a new one: ext4 writes a file to the disk at once where one is overwritten
            path.write_bytes(_mutated(chance.choice(originals), chance))
            start = time.monotonic()
            tracemalloc.reset_peak() if hasattr(tracemalloc, 'reset_peak') else tracemalloc.clear_traces()
            read += _read_all(path)
            assert time.monotonic() - start < 20 * _SECONDS, number  # of a machine that does other work too
            assert tracemalloc.get_traced_memory()[1] < _BYTES, number
            path.unlink()
    finally:
        tracemalloc.stop()
    assert 0 < read < count  # some stay readable, most do not


def _read_all(path: pathlib.Path) -> bool:
    try:
        dump = binary.read_dump(path)
    except UserError:
        return False
    for stored in dump.tensors:
        try:
            for _ in TensorRef(path, 'dump', stored.kind, stored.index).open().blocks(1 << 12):
                pass
        except UserError:
            pass
    try:
        read_records(path)
    except UserError:
        pass
    return True


def _originals() -> List[bytes]:
    random_values = np.random.RandomState(0)
    half = random_values.normal(0, 1, (1, 4, 4, 5)).astype(np.float16)
    matrix, kernel = half.reshape(8, 10), half.reshape(2, 2, 4, 5)
    return [
        dump_bytes('a/b', [Tensor(half, NC1HWC0)], [Tensor(half, NC1HWC0, Original('c/d', 0, 2, 1))], 5),
        dump_bytes('m', [Tensor(matrix, FRACTAL_NZ), Tensor(kernel, FRACTAL_Z)], [Tensor(matrix)], 6, [b'buffer']),
        dump_bytes('i', [], [Tensor(np.arange(9, dtype=np.uint8), data_type=n) for n in (28, 29, 33, 13, 27)], 7),
        dump_bytes('Node_OpDebug', [], [Tensor(np.frombuffer(encode_old('AI Core', 1, 2, 0x120), np.uint8))], 8),
        dump_bytes('Node_OpDebug', [], [Tensor(np.frombuffer(encode_new(1, 2, [1, 2, 3, 4]), np.uint8))], 8),
    ]


def _mutated(data: bytes, chance: random.Random) -> bytes:
    """Bits flipped, bytes set, cut off, doubled or inserted, mostly in the header, where the meaning is."""
    out = bytearray(data)
    header = min(len(out), 8 + struct.unpack_from('<Q', data)[0])
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if not out:
            break
        place = chance.randrange(min(len(out), header) if chance.random() < 0.9 else len(out))
        kind = chance.randrange(6)
        if kind == 0:
            out[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            out[place] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        elif kind == 2:
            del out[place : place + chance.randrange(1, 9)]
        elif kind == 3:
            count = chance.randrange(1, 11)
            out[place:place] = bytes(chance.choice((0xFF, 0x80, chance.randrange(256))) for _ in range(count))
        elif kind == 4:
            out[place:place] = out[place : place + chance.randrange(1, 64)]
        elif chance.random() < 0.3:
            del out[place:]
    if chance.random() < 0.5 and len(out) >= 8:  # the length told right again: deeper into the parser
        struct.pack_into('<Q', out, 0, max(0, header - 8 + len(out) - len(data)))
    return bytes(out)


def test_reading_names_the_missing_tensor(tmp_path: pathlib.Path) -> None:
    npu_file(tmp_path / 'x', [Tensor(np.zeros(3))])
    with pytest.raises(UserError, match='no input 0'):
        TensorRef(tmp_path / 'x', 'dump', 'input', 0).open()
