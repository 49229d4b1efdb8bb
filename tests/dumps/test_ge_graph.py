"""Compiled graphs as text: nodes, edges, order, and what kind of graph it is."""

from __future__ import annotations

import pathlib

import pytest

from ugatit.dumps.ge_graph import describe, read_graph
from ugatit.errors import UserError

_TEXT = """
name: "model"
graph {
  name: "ge_default_1"
  op {
    name: "generator_B/conv/Conv2D"
    type: "Conv2D"
    input: "trans_Cast_1:0"
    input: "Const:0"
    input: "init:-1"
    attr {
      key: "_name"
      value {
        s: "a \\"quoted\\" } { name: \\"no\\""
        list { i: 1 i: -2 f: 1e-05 val_type: VT_LIST_INT }
      }
    }
    input_desc { name: "x" dtype: DT_FLOAT16 shape { dim: 1 } }
  }
  op { name: "trans_Cast_1" type: "Cast" input: "generator_B/Relu:0" }  # on one line
  op {
    name: 'generator_B/Relu'
    type: 'Relu'
  }
}
"""


def _file(folder: pathlib.Path, text: str) -> pathlib.Path:
    path = folder / 'ge_proto_00001_ge_default_1_Build.txt'
    path.write_text(text)
    return path


def test_nodes_edges_and_order(tmp_path: pathlib.Path) -> None:
    graph = read_graph(_file(tmp_path, _TEXT))
    assert graph.name == 'ge_default_1'
    assert [(n.name, n.type) for n in graph.nodes.values()] == [
        ('generator_B/conv/Conv2D', 'Conv2D'),
        ('trans_Cast_1', 'Cast'),
        ('generator_B/Relu', 'Relu'),
    ]
    assert graph.nodes['generator_B_conv_Conv2D'].inputs == (('trans_Cast_1', 0), ('Const', 0))
    assert graph.order() == ['generator_B_Relu', 'trans_Cast_1', 'generator_B_conv_Conv2D']


def test_the_name_may_come_from_the_file(tmp_path: pathlib.Path) -> None:
    assert read_graph(_file(tmp_path, 'op { name: "a" type: "B" }')).name == 'ge_default_1'


def test_a_cycle_and_very_long_lines_are_survived(tmp_path: pathlib.Path) -> None:
    text = 'graph {\n op { name: "a" input: "b:0"\n attr { value {\n data: "' + 'x' * (3 << 20) + '"\n } } }\n'
    graph = read_graph(_file(tmp_path, text + ' op { name: "b" input: "a:0" }\n}\n'))
    assert sorted(graph.order()) == ['a', 'b']


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        (_TEXT[:200], 'ends inside'),
        ('graph {\n}\n}\n', 'closing brace'),
        ('graph { op { type: "x" } }', 'without a name'),
        ('a {' * 200, 'nested'),
        ('graph { op { name: "x', 'does not end'),
    ],
)
def test_broken_graphs_are_named(text: str, words: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match=words):
        read_graph(_file(tmp_path, text))


@pytest.mark.parametrize(
    ('keys', 'words'),
    [
        (['generator_B_conv_Conv2D'], 'validation: generator_B alone, no generator_A'),
        (['generator_A_conv_Conv2D'], 'validation: generator_A alone, no generator_B'),
        (['generator_A_x_Conv2D', 'generator_B_x_Conv2D', 'gradients_y'], 'training: generator_A, generator_B'),
        (['generator_A_x_Conv2D', 'discriminator_B_x_Conv2D'], 'forward pass of discriminator_B, generator_A'),
        (['generator_B_conv_kernel_Assign'], 'initialisation'),
    ],
)
def test_what_a_graph_is(keys: list, words: str) -> None:
    assert describe(keys).startswith(words)
