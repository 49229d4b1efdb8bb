"""File names of every documented shape."""

from __future__ import annotations

import pathlib
import re
from typing import Dict

import pytest

from ugatit.dumps import names
from ugatit.errors import UserError

_GOLDEN = 'generator_B_up_conv_0_conv2d_Conv2D'
_CASES: Dict[str, Dict[str, object]] = {
    f'Conv2D.{_GOLDEN}.12.3.1629880658123456': {
        'form': 'dump', 'op_type': 'Conv2D', 'op_name': _GOLDEN, 'task': 12, 'stream': 3, 'time': 1629880658123456},
    f'Conv2D.{_GOLDEN}.12.1629880658123456': {'form': 'dump', 'task': 12, 'stream': None, 'time': 1629880658123456},
    'Add.x.0.3.1673383728093446.4.1.0.0': {'form': 'dump', 'task': 0, 'stream': 3, 'ffts': (4, 1, 0),
                                           'time': 1673383728093446},
    'Add.x.0.3.1673383728093446.4.1.0': {'form': 'dump', 'stream': 3, 'ffts': (4, 1, 0)},
    'Add.partition0_rank1_new_sub_graph1_sgt_graph_0_Add.0.3.1673383728093446.4.1.0.0': {'form': 'dump'},
    'Conv2D.a-b_c.1.2.1629880658123456.7': {'form': 'dump', 'op_name': 'a-b_c', 'ffts': ()},
    f'Conv2D.{_GOLDEN}.12.3.1629880658123456.output.0.npy': {'form': 'npy', 'kind': 'output', 'index': 0, 'format': 2},
    f'Conv2D.{_GOLDEN}.12.3.1629880658123456.input.11.npy': {'form': 'npy', 'kind': 'input', 'index': 11},
    'Add.x.0.3.1673383728093446.4.1.0.0.output.0.npy': {'form': 'npy', 'ffts': (4, 1, 0)},
    f'Conv2D.{_GOLDEN}.12.3.1629880658123456.output.1.NC1HWC0.npy': {'form': 'npy', 'index': 1, 'format': 3},
    f'Conv2D.{_GOLDEN}.12.3.1629880658123456.output.0.1_64_64_3_float16_NHWC.bin': {
        'form': 'bin', 'shape': (1, 64, 64, 3), 'dtype': 'float16', 'format': 1},
    f'Conv2D.{_GOLDEN}.12.3.1629880658123456.output.0.1,4,64,64,16_float16_NC1HWC0.bin': {
        'form': 'bin', 'shape': (1, 4, 64, 64, 16), 'format': 3},
    f'Conv2D.{_GOLDEN}.12.1629880658123456.2.npy': {'form': 'npy', 'index': 2, 'task': 12},
    f'{_GOLDEN}.0.1629880658.npy': {'form': 'golden', 'op_name': _GOLDEN, 'index': 0, 'time': 1629880658},
    f'{_GOLDEN}.1.5.1629880658123456.npy': {'form': 'golden', 'index': 1, 'time': 1629880658123456},
    f'{_GOLDEN}.0.' + '9' * 255 + '.npy': {'form': 'golden', 'time': int('9' * 30)},
    'Opdebug.Node_OpDebug.5.3.1629880658123456': {'form': 'opdebug', 'task': 5, 'stream': 3},
    'Opdebug.Node_OpDebug.0.3.1673383728094391.4.1.0.0': {'form': 'opdebug', 'ffts': (4, 1, 0)},
}  # fmt: skip


@pytest.mark.parametrize('name', _CASES)
def test_documented_names(name: str) -> None:
    found = names.parse_name(name)
    assert found is not None
    assert {key: getattr(found, key) for key in _CASES[name]} == _CASES[name]


@pytest.mark.parametrize(
    'name',
    ['', 'mapping.csv', 'readme.txt', 'x.npy', 'a.b.c', 'Conv2D.x.1', 'Conv2D.x.y.1.2', 'Conv2D.a/b.1.2.3',
     'Conv2D.x.1.2.3.output.0.json', 'a' * 5000, '1.' * 3000],
)  # fmt: skip
def test_other_files_are_passed_over(name: str) -> None:
    assert names.parse_name(name) is None


def test_the_vendors_own_expression_takes_what_we_write() -> None:
    offline = (r'^[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[0-9]+(\.[0-9]+)?\.[0-9]{1,255}'
               r'(\.[0-9]+\.[0-9]+\.[0-9]+)?(\.[0-9]+)?')  # fmt: skip
    golden = r'^([A-Za-z0-9_-]+)\.([0-9]+)(\.[0-9]+)?\.([0-9]{1,255})\.npy$'
    assert re.match(offline, names.make_dump_name('Conv2D', 'generator_B/conv/conv2d/Conv2D', 1, 2, 3))
    assert re.match(golden, names.make_golden_name('generator_B/conv/conv2d/Conv2D', 0, 1629880658))


@pytest.mark.parametrize('name', ['a/b c', 'a.b\\c', 'a/b/c', ' a_b_c '])
def test_keys(name: str) -> None:
    assert re.fullmatch('a_b_c', names.op_key(name))


def test_mapping(tmp_path: pathlib.Path) -> None:
    assert names.read_mapping(tmp_path) == {}
    (tmp_path / 'mapping.csv').write_text('1629,Conv2D.x.1.2.3\n\n1630,"Conv2D.y.1.2.3"\n')
    assert names.read_mapping(tmp_path) == {'1629': 'Conv2D.x.1.2.3', '1630': 'Conv2D.y.1.2.3'}
    (tmp_path / 'mapping.csv').write_text('1629,a,b\n')
    with pytest.raises(UserError, match='two columns'):
        names.read_mapping(tmp_path)


@pytest.mark.parametrize(
    ('name', 'graph'),
    [
        ('ge_proto_00012_ge_default_20210825083738_21_Build.txt', 'ge_default_20210825083738_21'),
        ('ge_proto_00000_graph_1_PreRunBegin.txt', 'graph_1_PreRunBegin'),
        ('ge_onnx_00000_graph_1_Build.pbtxt', None),
    ],
)
def test_compiled_graphs(name: str, graph: object) -> None:
    assert names.ge_graph_name(name) == graph
