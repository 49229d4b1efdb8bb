"""Our reader and writer of the header against the protobuf library, with the message described as the vendor has it."""

from __future__ import annotations

import pathlib
import struct

import numpy as np
import pytest

from ugatit.dumps import binary
from ugatit.dumps.message import Original
from ugatit.dumps.writer import Tensor, dump_bytes

descriptor_pb2 = pytest.importorskip('google.protobuf.descriptor_pb2')

_KINDS = {'int32': 5, 'uint32': 13, 'uint64': 4, 'string': 9, 'bytes': 12}
_MESSAGES = {
    'Shape': 'dim:1:uint64*',
    'OriginalOp': 'name:1:string output_index:2:uint32 data_type:3:int32 format:4:int32',
    'DimRange': 'dim_start:1:int32 dim_end:2:int32',
    'OpOutput': 'data_type:1:int32 format:2:int32 shape:3:Shape original_op:4:OriginalOp data:5:bytes size:6:uint64'
    ' original_shape:7:Shape sub_format:8:int32 address:9:uint64 dim_range:10:DimRange* offset:11:uint64',
    'OpInput': 'data_type:1:int32 format:2:int32 shape:3:Shape data:4:bytes size:5:uint64 original_shape:6:Shape'
    ' sub_format:7:int32 address:8:uint64 offset:9:uint64',
    'OpBuffer': 'buffer_type:1:int32 data:2:bytes size:3:uint64',
    'OpAttr': 'name:1:string value:2:string',
    'Workspace': 'type:1:int32 data:2:bytes size:3:uint64',
    'DumpData': 'version:1:string dump_time:2:uint64 output:3:OpOutput* input:4:OpInput* buffer:5:OpBuffer*'
    ' op_name:6:string attr:7:OpAttr* space:8:Workspace*',
}


@pytest.fixture(scope='module')
def dump_data() -> type:
    """The message's class, made here from the table above."""
    from google.protobuf import descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name='dump_test.proto', package='dump_test', syntax='proto3')
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields.split():
            field, number, kind = text.split(':')
            label, kind = (3 if kind.endswith('*') else 1), kind.rstrip('*')
            added = message.field.add(name=field, number=int(number), label=label, type=_KINDS.get(kind, 11))
            if kind not in _KINDS:
                added.type_name = f'.dump_test.{kind}'
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file) if hasattr(pool, 'Add') else pool.AddSerializedFile(file.SerializeToString())
    descriptor = pool.FindMessageTypeByName('dump_test.DumpData')
    if hasattr(message_factory, 'GetMessageClass'):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


def test_the_library_reads_what_we_write(dump_data: type) -> None:
    tensor = Tensor(np.zeros((1, 3, 3, 5), np.float16), 3, Original('a/BiasAdd', 1, 2, 1), address=1 << 40)
    data = dump_bytes('a/b', [tensor], [tensor], 1629880658123456, [b'ab'], [b'c'])
    found = dump_data()
    found.ParseFromString(data[8 : 8 + struct.unpack_from('<Q', data)[0]])
    (output,), (read,) = found.output, found.input
    for side in (output, read):
        assert (side.data_type, side.format, list(side.shape.dim)) == (2, 3, [1, 1, 3, 3, 16])
        assert (list(side.original_shape.dim), side.size, side.address) == ([1, 3, 3, 5], 288, 1 << 40)
    assert (output.original_op.name, output.original_op.output_index) == ('a/BiasAdd', 1)
    assert (found.op_name, found.dump_time) == ('a/b', 1629880658123456)
    assert (found.buffer[0].size, found.space[0].size) == (2, 1)


def test_we_read_what_the_library_writes(dump_data: type, tmp_path: pathlib.Path) -> None:
    message = dump_data(version='1.0', op_name='x/y', dump_time=7)
    output = message.output.add(data_type=1, format=2, size=24, offset=5)
    output.shape.dim.extend([2, 3])
    output.dim_range.add(dim_start=1, dim_end=2)
    message.attr.add(name='key', value='value')
    encoded = message.SerializeToString()
    (tmp_path / 'x').write_bytes(struct.pack('<Q', len(encoded)) + encoded + np.arange(6, dtype=np.float32).tobytes())
    header = binary.read_dump(tmp_path / 'x').header
    assert (header.op_name, header.attributes, header.outputs[0].shape) == ('x/y', (('key', 'value'),), (2, 3))
