"""The NPU runner against the stand-in of the adapter: what is handed over, what is refused, what it answers."""

from __future__ import annotations

import json
import logging
import os
import pathlib
import sys
import types
from typing import Any, Dict, List

import numpy as np
import pytest
import tensorflow as tf

from tests.npu_stub.scope import ATTRIBUTE
from tests.runners.npu_support import a2_fixture, adapter_fixture  # noqa: F401
from ugatit.errors import UserError
from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.generator import Generator
from ugatit.nn.policy import FLOAT32_POLICY, PRECISIONS, make_policy
from ugatit.nn.presets import load_variants
from ugatit.nn.variables import seeded
from ugatit.runners import NpuSettings, Sharing, open_runner
from ugatit.runners.npu_precision import MODES
from ugatit.training.device import Device

MIXED = make_policy('mixed_float16', 'saturate')
TINY = Architecture(image_size=16, ch=2, n_res=1, n_dis=4, light=True)


def _open(*options: str, policy: Any = MIXED, variants: str = 'default', **settings: Any) -> Any:
    return open_runner('npu', policy, load_variants(variants), NpuSettings(options=options, **settings))


def test_everything_that_is_handed_over(adapter: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The whole list: whatever is added must be added here."""
    with caplog.at_level(logging.INFO, logger='ugatit'):
        runner = _open()
    assert adapter.options.changed() == {'precision_mode': 'allow_fp32_to_fp16', 'deterministic': 1}
    assert (adapter.device_id, adapter.loop_size, adapter.default) == (0, 1, True)
    assert adapter.calls == ['open 0', 'as_default']
    assert (runner.name, runner.saturates, runner.native_float16, runner.static_shapes) == ('npu', True, False, True)
    told = '\n'.join(caplog.messages)
    assert 'mixed_float16 is precision_mode allow_fp32_to_fp16' in told and 'saturates at 65504' in told


def test_every_option_can_be_handed_over(adapter: Any, tmp_path: pathlib.Path) -> None:
    """Legal by name, value and type: the stand-in refuses anything else."""
    file = tmp_path / 'x.ini'
    file.write_text('')
    given: Dict[str, Any] = {
        'precision_mode': 'allow_fp32_to_fp16', 'customize_dtypes': str(file), 'op_precision_mode': str(file),
        'op_select_implmode': 'high_precision', 'optypelist_for_implmode': 'Pooling', 'fusion_switch_file': str(file),
        'enable_scope_fusion_passes': 'x', 'op_debug_level': 3, 'op_debug_config': str(file), 'debug_dir': '/d',
        'op_compiler_cache_mode': 'force', 'op_compiler_cache_dir': '/c', 'graph_compiler_cache_dir': '/g',
        'deterministic': 1, 'overflow_flag': 0, 'enable_exception_dump': 1, 'jit_compile': 'false',
        'compile_dynamic_mode': True, 'hcom_parallel': False, 'is_tailing_optimization': True,
        'stream_max_parallel_num': 'DNN_VM_AICPU:10', 'stream_sync_timeout': 60, 'event_sync_timeout': 61,
        'execute_times': 3, 'ac_parallel_enable': '1', 'quant_dumpable': '1', 'enable_small_channel': True,
        'topo_sorting_mode': 1, 'external_weight': True, 'input_fusion_size': 1, 'export_compile_stat': 2,
        'shape_generalization_mode': 'FULL', 'oo_level': 'O1', 'oo_constant_folding': False, 'atomic_clean_policy': 1,
        'static_memory_policy': 2, 'variable_use_1g_huge_page': 2, 'dump_step': '0|5', 'dump_mode': 'input',
        'dump_data': 'stats', 'dump_layer': 'a b', 'modify_mixlist': str(file),
    }  # fmt: skip
    _open(*(f'{name}={value}' for name, value in given.items()), dump=str(tmp_path / 'dump'))
    expected = {**given, 'enable_dump': True, 'dump_path': str(tmp_path / 'dump')}
    assert adapter.options.changed() == expected


@pytest.mark.parametrize('precision', PRECISIONS)
def test_every_policy_has_a_precision_mode_that_is_legal(a2: Any, precision: str) -> None:
    _open(policy=make_policy(precision))
    assert a2.options.precision_mode == MODES[precision].precision_mode


@pytest.mark.parametrize(
    ('option', 'precision', 'says'),
    [
        ('precision_mode=force_fp16', 'mixed_float16', 'it is what precision float16 asks for'),
        ('precision_mode=allow_fp32_to_fp16', 'float32', 'it is what precision mixed_float16 asks for'),
        ('precision_mode=force_fp32', 'float32', 'it is what precision float16_operands asks for'),
        ('precision_mode_v2=fp16', 'mixed_float16', 'it is what precision float16 asks for'),
    ],
)
def test_a_mode_of_another_policy_is_refused(adapter: Any, option: str, precision: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        _open(option, policy=make_policy(precision))


def test_version_2_replaces_precision_mode(adapter: Any, tmp_path: pathlib.Path) -> None:
    _open('precision_mode_v2=mixed_float16', folder=str(tmp_path))
    assert (adapter.options.precision_mode, adapter.options.precision_mode_v2) == (None, 'mixed_float16')


@pytest.mark.parametrize(
    ('options', 'says'),
    [
        (['deterministic'], 'must be NAME=VALUE'),
        (['deterministic='], 'must be NAME=VALUE'),
        (['deterministik=1'], 'no option deterministik; did you mean deterministic?'),
        (['xyzzy=1'], 'docs/ascend.md lists them'),
        (['deterministic=2'], 'deterministic must be one of 0, 1, but .2. arrived'),
        (['precision_mode=allow_fp32'], 'precision_mode must be one of force_fp32, '),
        (['precision_mode_v2=cube_hif8'], 'precision_mode_v2 must be one of'),
        (['precision_mode=allow_fp32_to_fp16', 'precision_mode_v2=mixed_float16'], 'exclude each other'),
        (['stream_sync_timeout=soon'], 'must be a whole number'),
        (['hcom_parallel=perhaps'], 'must be one of false, true, 0, 1'),
        (['enable_dump=true'], 'use --dump=DIR'),
        (['enable_dump_debug=true'], 'use --detect_overflow=DIR'),
        (['dump_path=/tmp'], 'use --dump=DIR'),
        (['dump_step=1'], 'nothing is dumped; add --dump=DIR'),
        (['profiling_mode=true'], 'profiling has a section of its own'),
        (['modify_mixlist=/no/such/file.json'], 'modify_mixlist must be a file'),
        (['op_precision_mode=/no/such/file.ini'], 'op_precision_mode must be a file'),
    ],
)
def test_a_wrong_option_is_one_sentence(adapter: Any, options: List[str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        _open(*options)
    assert adapter.device_id is None


def test_session_options_without_effect_are_accepted_with_a_note(
    adapter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    words = ('graph_memory_max_size=17179869184', 'variable_memory_max_size=16106127360', 'use_off_line=True',
             'iterations_per_loop=100', 'mix_compile_mode=False')  # fmt: skip
    with caplog.at_level(logging.INFO, logger='ugatit'):
        _open(*words)
    assert adapter.options.changed() == {'precision_mode': 'allow_fp32_to_fp16', 'deterministic': 1}
    for word in words:
        assert any(f'{word.partition("=")[0]}: accepted without effect' in line for line in caplog.messages)


def test_dump(adapter: Any, tmp_path: pathlib.Path) -> None:
    _open(dump=str(tmp_path / 'a' / 'b'))
    changed = adapter.options.changed()
    assert changed['enable_dump'] is True and 'enable_dump_debug' not in changed
    assert (changed['dump_path'], changed['dump_mode'], changed['dump_step']) == (str(tmp_path / 'a' / 'b'), 'all', '0')
    assert (tmp_path / 'a' / 'b' / 'graphs').is_dir()
    assert os.environ['DUMP_GE_GRAPH'] == '2' and os.environ['DUMP_GRAPH_PATH'] == str(tmp_path / 'a' / 'b' / 'graphs')


def test_overflow_detection(adapter: Any, tmp_path: pathlib.Path) -> None:
    _open(detect_overflow=str(tmp_path / 'overflow'))
    changed = adapter.options.changed()
    assert changed['enable_dump_debug'] is True and 'enable_dump' not in changed
    assert (tmp_path / 'overflow').is_dir()


def test_both_dumps_are_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match='exclude each other'):
        NpuSettings(dump='a', detect_overflow='b')


def test_a_dump_folder_that_cannot_be_made(adapter: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'file').write_text('')
    with pytest.raises(UserError, match='cannot be made'):
        _open(dump=str(tmp_path / 'file' / 'dump'))


@pytest.mark.parametrize(('variants', 'listed'), [('default', True), ('prescaled', False)])
def test_mixed_modes_black_list_the_statistics(
    adapter: Any, tmp_path: pathlib.Path, variants: str, listed: bool
) -> None:
    _open('precision_mode=allow_mix_precision', variants=variants, folder=str(tmp_path))
    found = json.loads(pathlib.Path(adapter.options.modify_mixlist).read_text())
    assert set(found) == {'black-list', 'white-list'} and set(found['black-list']) == {'to-add', 'to-remove'}
    assert ('SquaredDifference' in found['black-list']['to-add']) is listed


def test_the_default_mode_needs_no_list(adapter: Any) -> None:
    _open()
    assert adapter.options.modify_mixlist is None


def test_a_second_opening_is_the_same_runner_or_refused(adapter: Any) -> None:
    first = _open()
    assert _open() is first
    other = _open(reflect_pad='mirror')  # networks are built with it, nothing is opened with it
    assert other.adapt(Build()).pad_mode == 'mirror' and first.adapt(Build()).pad_mode == 'slices'
    with pytest.raises(UserError, match='has opened its NPU with precision_mode allow_fp32_to_fp16 where now force_fp'):
        _open(policy=make_policy('float16'))


def test_the_device_is_the_environments(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ASCEND_DEVICE_ID', '3')
    assert _open().description.startswith('npu 3, ')
    assert adapter.device_id == 3


def test_an_a2_is_made_to_saturate_where_that_is_asked_for(a2: Any) -> None:
    assert _open().saturates and a2.sat_mode == 0


def test_an_a2_is_left_with_infinity_otherwise(a2: Any) -> None:
    runner = _open(policy=make_policy('mixed_float16'))
    assert not runner.saturates and a2.sat_mode == 1
    assert runner.overflowed([]) is None and runner.clear_status() == []


def test_what_opening_says_becomes_a_sentence(adapter: Any) -> None:
    with pytest.raises(UserError, match='the NPU 0 cannot be opened: .*does not support bfloat16'):
        _open(policy=make_policy('mixed_bfloat16'))


def test_flags_of_an_npu_belong_to_it() -> None:
    with pytest.raises(UserError, match='--dump belongs to --device=npu'):
        open_runner('cpu', npu=NpuSettings(dump='x'))
    with pytest.raises(UserError, match='--npu_option belongs to --device=npu'):
        open_runner('auto', npu=NpuSettings(options=('deterministic=1',)))
    assert open_runner('cpu', npu=NpuSettings()).name == 'cpu'


def test_networks_are_float32_operators_padded_by_slices_with_marked_statistics(adapter: Any) -> None:
    runner = _open()
    assert isinstance(runner, Device)
    network = Generator(TINY, 'generator_B', runner.adapt(Build(MIXED, factory=seeded(1))))
    traced = tf.function(lambda x: network(x).image).get_concrete_function(tf.TensorSpec([1, 16, 16, 3], tf.float32))
    graph = traced.graph.as_graph_def()
    marked = {node.op for node in graph.node if ATTRIBUTE in node.attr}
    assert {'Square', 'Mean', 'Sub', 'Sqrt', 'RealDiv'} <= marked and not {'Conv2D', 'MatMul'} & marked
    assert 'MirrorPad' not in {node.op for node in graph.node}


def test_a_network_computes_what_the_emulation_does(adapter: Any) -> None:
    """The stand-in rounds where the policy says a 910 rounds, biases and their sums apart, which it keeps float32."""
    images = np.random.RandomState(0).uniform(-1, 1, [1, 16, 16, 3]).astype(np.float32)
    emulated = Generator(TINY, 'generator_B', Build(MIXED, factory=seeded(1)))(images).image.numpy()
    exact = Generator(TINY, 'generator_B', Build(factory=seeded(1)))(images).image.numpy()
    runner = _open()
    found = Generator(TINY, 'generator_B', runner.adapt(Build(MIXED, factory=seeded(1))))(images).image.numpy()
    assert 0 < np.abs(found - exact).max() and np.abs(found - emulated).max() < np.abs(emulated - exact).max() * 4


def test_padding_is_selectable(adapter: Any) -> None:
    assert _open(reflect_pad='mirror').adapt(Build()).pad_mode == 'mirror'
    with pytest.raises(UserError, match='--reflect_pad must be one of mirror, slices'):
        NpuSettings(reflect_pad='reflect')


def test_the_policy_on_the_device_adds_no_operator(adapter: Any) -> None:
    policy = _open().adapt(Build(MIXED)).policy
    x = tf.constant([1e6, 1e-9])
    assert policy.operand(x) is x and policy.result(x) is x and policy.vector(x) is x
    assert (policy.name, policy.overflow, policy.operand_format) == ('mixed_float16', 'saturate', MIXED.operand_format)


def test_the_status_is_read_after_a_phase_and_cleared_before_it(adapter: Any) -> None:
    runner = _open()

    @runner.compile
    def two_phases(first: tf.Tensor, second: tf.Tensor) -> Any:
        found = []
        for x in (first, second):
            with tf.control_dependencies(runner.clear_status()):
                y = tf.matmul(x, x)
            found.append(runner.overflowed([y]))
        return found

    small, large = tf.constant([[1.0]]), tf.constant([[1000.0]])
    for first, second in ((small, small), (large, small), (small, large)):
        expected = [bool(x.numpy().item() > 1) for x in (first, second)]
        assert [bool(flag) for flag in two_phases(first, second)] == expected


def test_a_status_is_cleared_after_all_reads_before_it(adapter: Any) -> None:
    runner = _open()

    @runner.compile
    def program(x: tf.Tensor) -> Any:
        runner.clear_status()
        found = [runner.overflowed([x]), runner.overflowed([x + 1.0])]
        runner.clear_status()
        return found

    operations = program.get_concrete_function(tf.ones([2])).graph.get_operations()
    reads = {op for op in operations if op.type == 'Identity' and op.inputs[0].op.type == 'ReadVariableOp'}
    zeros = (op.inputs[1].op for op in operations if op.type == 'AssignVariableOp')  # written by each clearing
    first, second = (set(op.control_inputs) for op in zeros)
    assert len(reads & second) == 2 and not reads & first


def test_a_chip_without_the_operators_says_that_values_decide(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = _open()
    monkeypatch.delattr(runner.npu.gen_npu_ops, 'npu_get_float_status_v2')
    assert runner.overflowed([]) is None and runner.clear_status() == []


def test_alone_nothing_is_exchanged(adapter: Any) -> None:
    runner, x = _open(), tf.ones([2])
    assert (runner.replicas, runner.replica(), runner.chief) == (1, 0, True)
    assert runner.mean([x])[0] is x
    runner.broadcast([tf.Variable(1.0)])
    assert runner.explain(RuntimeError('HcomAllReduce failed')) is None
    assert adapter.calls == ['open 0', 'as_default']


def _worker(monkeypatch: pytest.MonkeyPatch, folder: pathlib.Path, rank: int) -> None:
    devices = [{'device_id': str(i), 'rank_id': str(i)} for i in range(2)]
    (folder / 'ranks.json').write_text(json.dumps({'server_list': [{'device': devices}]}))
    for name, value in {'RANK_SIZE': '2', 'RANK_ID': str(rank), 'RANK_TABLE_FILE': str(folder / 'ranks.json'),
                        'ASCEND_DEVICE_ID': str(rank)}.items():  # fmt: skip
        monkeypatch.setenv(name, value)


def test_several_npus(adapter: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    _worker(monkeypatch, tmp_path, 1)
    runner = _open()
    assert (runner.replicas, runner.replica(), runner.chief) == (2, 1, False)
    assert runner.description.endswith('rank 1 of 2') and adapter.device_id == 1
    runner.broadcast([tf.Variable(1.0)])
    runner.mean([tf.ones([2])])
    assert runner.mean([]) == []
    runner.overflowed([])
    assert adapter.calls[2:] == ['broadcast 0', 'all_reduce mean', 'all_reduce sum']
    assert runner.agree(True) and not runner.agree(False) and adapter.calls[5:] == ['all_reduce mean']
    told = runner.explain(RuntimeError('node HcomAllReduce failed'))
    assert told is not None and 'worker 1 of 2' in told and runner.explain(ValueError('x')) is None


def test_a_chief_gives_out_the_ranks(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {'CM_CHIEF_IP': '10.0.0.1', 'CM_CHIEF_PORT': '60001', 'CM_CHIEF_DEVICE': '0',
                        'CM_WORKER_SIZE': '4', 'CM_WORKER_IP': '10.0.0.2'}.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    for name in ('hccl', 'hccl.manage', 'hccl.manage.api'):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules['hccl.manage.api'].get_rank_id = lambda: 3
    runner = _open()
    assert (runner.replicas, runner.replica(), runner.chief) == (4, 3, False)


def test_other_ways_to_several_devices_are_refused(adapter: Any) -> None:
    with pytest.raises(UserError, match='several NPUs are one process each'):
        open_runner('npu', MIXED, sharing=Sharing(devices=2))


def test_float32_is_told_what_a_910_would_do(adapter: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger='ugatit'):
        _open(policy=FLOAT32_POLICY)
    assert any('has no float32 convolution' in line for line in caplog.messages)
