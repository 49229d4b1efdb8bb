"""Command lines for programs that were not run here, and the files that they name."""

from __future__ import annotations

import json
import pathlib
import shlex

import pytest

from tests.export.models import Model
from ugatit.export import commands
from ugatit.export.generator import exportable
from ugatit.runners.npu_mixlist import STATISTICS_OPERATORS


def _atc(model: Model, mode: str, safe: bool, **interface: bool) -> commands.Written:
    generator = exportable(model.load(), 'float32', 'mirror')
    return commands.atc(pathlib.Path('out/a2b.pb'), model.trace(**interface), generator, 'Ascend310P3', mode, safe)


def test_the_line_for_atc(healthy: Model) -> None:
    written = _atc(healthy, 'force_fp16', True)
    assert shlex.split(written.lines[0]) == [
        'atc', '--framework=3', '--model=a2b.pb', '--output=a2b', '--soc_version=Ascend310P3', '--input_format=NHWC',
        '--input_shape=test_domain_A:1,16,16,3', '--out_nodes=generator_B/Tanh:0', '--precision_mode=force_fp16',
    ]  # fmt: skip
    assert list(written.files) == ['a2b.pb.atc.sh'] and written.lines[0] in written.files['a2b.pb.atc.sh']


def test_two_outputs_and_free_sizes(healthy: Model) -> None:
    line = _atc(healthy, 'force_fp16', True, heatmap=True, dynamic_batch=True).lines[0]
    words = shlex.split(line)
    assert '--out_nodes=generator_B/Tanh:0;generator_B/Squeeze:0' in words
    assert '--input_shape=test_domain_A:-1,16,16,3' in words


def test_statistics_that_must_stay_float32_are_named(healthy: Model) -> None:
    """Every node of every norm, by the names in the graph; convolutions and the MLP are not among them."""
    written = _atc(healthy, 'force_fp16', False)
    assert '--keep_dtype=a2b.pb.keep_dtype.cfg' in written.lines[0]
    kept = written.files['a2b.pb.keep_dtype.cfg'].split()
    inside = {node.name for node in healthy.trace().graph_def.node}
    assert set(kept) <= inside
    assert 'generator_B/layer_ins_norm_0/moments_1/SquaredDifference' in kept
    assert 'generator_B/ins_norm/moments/mean' in kept
    assert not any('conv2d' in name or 'MLP' in name for name in kept)


def test_a_mixlist_names_types(healthy: Model) -> None:
    written = _atc(healthy, 'allow_mix_precision', False)
    assert '--modify_mixlist=a2b.pb.mixlist.json' in written.lines[0]
    found = json.loads(written.files['a2b.pb.mixlist.json'])
    assert found == {
        'black-list': {'to-add': list(STATISTICS_OPERATORS), 'to-remove': []},
        'white-list': {'to-add': [], 'to-remove': []},
    }


@pytest.mark.parametrize(
    ('precision', 'statistics', 'mode'),
    [('float32', 'plain', 'allow_fp32_to_fp16'), ('float32', 'prescaled', 'force_fp16'),
     ('float16', 'prescaled', 'must_keep_origin_dtype')],
)  # fmt: skip
def test_the_mode_in_which_a_graph_is_right(precision: str, statistics: str, mode: str) -> None:
    assert commands.atc_mode(precision, statistics) == mode


def test_trtexec(healthy: Model) -> None:
    path = pathlib.Path('a2b.onnx')
    line = commands.onnx_lines(path, healthy.trace(), 'float16', 'prescaled').lines[0]
    assert line == 'trtexec --onnx=a2b.onnx --saveEngine=a2b.plan --stronglyTyped'
    free = commands.onnx_lines(path, healthy.trace(dynamic_batch=True), 'float32', 'prescaled').lines[0]
    assert '--maxShapes=test_domain_A:4x16x16x3' in free and free.endswith('--fp16')
    assert '--fp16' not in commands.onnx_lines(path, healthy.trace(), 'float32', 'plain').lines[0]
