"""The stand-in for `npu_device` refuses what the documents say the real one refuses, and saturates as they say."""

from __future__ import annotations

import importlib
import pathlib
import sys
from typing import Any, Dict, Iterator

import numpy as np
import pytest
import tensorflow as tf

from tests import npu_stub
from tests.npu_stub.scope import ATTRIBUTE
from ugatit.nn.policy import make_policy


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('RANK_SIZE', 'RANK_ID', 'RANK_TABLE_FILE', 'CM_CHIEF_IP', 'CM_WORKER_SIZE', 'ASCEND_DEVICE_ID'):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def adapter() -> Iterator[npu_stub.Adapter]:
    with npu_stub.installed() as installed:
        yield installed


@pytest.fixture
def npu(adapter: npu_stub.Adapter) -> Any:
    return importlib.import_module('npu_device')


def test_it_is_there_only_inside(adapter: npu_stub.Adapter) -> None:
    assert 'npu_device' in sys.modules


def test_and_afterwards_nothing_is_left() -> None:
    before = tf.nn.conv2d, tf.matmul, tf.function
    with npu_stub.installed() as adapter:
        adapter.open().as_default()
        assert tf.nn.conv2d is not before[0]
    assert 'npu_device' not in sys.modules
    assert (tf.nn.conv2d, tf.matmul, tf.function) == before


@pytest.mark.parametrize(
    ('name', 'value', 'error', 'says'),
    [
        ('precision', 'fp16', ValueError, 'has no option precision'),
        ('precision_mode', 'allow_fp32', ValueError, 'precision_mode must be one of'),  # a community page advises it
        ('precision_mode', 16, TypeError, 'Expected str, got int'),
        ('jit_compile', True, TypeError, 'Expected str, got bool'),
        ('jit_compile', 'maybe', ValueError, 'jit_compile must be one of'),
        ('deterministic', 2, ValueError, 'deterministic must be one of'),
        ('modify_mixlist', 3, TypeError, 'Expected str, got int'),
        ('hcom_parallel', 'yes', TypeError, 'Expected bool, got str'),
        ('stream_sync_timeout', '5', TypeError, 'Expected int, got str'),
    ],
)
def test_options_are_refused_by_name_value_and_type(npu: Any, name: str, value: Any, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        setattr(npu.global_options(), name, value)


def test_options_of_sections(npu: Any) -> None:
    with pytest.raises(ValueError, match='has no option dump_place'):
        npu.global_options().dump_config.dump_place = '/tmp'
    with pytest.raises(ValueError, match='dump_mode must be one of'):
        npu.global_options().dump_config.dump_mode = 'everything'
    npu.global_options().memory_config.static_memory_policy = 2


def test_one_counts_as_true(npu: Any) -> None:
    npu.global_options().hcom_parallel = 1
    assert npu.global_options().as_dict()['hcom_parallel'] == '1'


def test_as_dict_is_flat_text_without_what_is_none_or_deprecated(npu: Any) -> None:
    npu.global_options().precision_mode = 'force_fp32'
    flat = npu.global_options().as_dict()
    assert (flat['precision_mode'], flat['dump_mode'], flat['is_tailing_optimization']) == ('force_fp32', 'output', '0')
    assert all(isinstance(value, str) for value in flat.values())
    assert not {'modify_mixlist', 'op_select_implmode', 'op_debug_level', 'dump_path'} & set(flat)


def test_one_device_per_process(npu: Any) -> None:
    npu.open(1)
    npu.open(1)
    with pytest.raises(RuntimeError, match='Failed create npu instance on device 2 as existed instance on 1'):
        npu.open(2)


def test_the_device_comes_from_the_environment(adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ASCEND_DEVICE_ID', '5')
    adapter.open()
    assert adapter.device_id == 5


def test_dump_and_overflow_dump_exclude_each_other(npu: Any, tmp_path: pathlib.Path) -> None:
    dump = npu.global_options().dump_config
    dump.enable_dump = dump.enable_dump_debug = True
    dump.dump_path = str(tmp_path)
    with pytest.raises(ValueError, match='must not both be True'):
        npu.open()


def test_the_dump_folder_must_exist(npu: Any, tmp_path: pathlib.Path) -> None:
    dump = npu.global_options().dump_config
    dump.enable_dump, dump.dump_path = True, str(tmp_path / 'nowhere')
    with pytest.raises(ValueError, match='does not exist'):
        npu.open()


@pytest.mark.parametrize(
    ('environment', 'error'),
    [
        ({'RANK_SIZE': '2', 'CM_WORKER_SIZE': '2'}, ValueError),
        ({'RANK_SIZE': '2', 'CM_CHIEF_IP': '10.0.0.1', 'RANK_TABLE_FILE': 'x'}, RuntimeError),
        ({'RANK_SIZE': '2'}, RuntimeError),
    ],
)
def test_cluster_variables_that_contradict(
    npu: Any, monkeypatch: pytest.MonkeyPatch, environment: Dict[str, str], error: type
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(error):
        npu.open()


def test_the_910_has_the_saturation_mode_only(npu: Any) -> None:
    npu.set_device_sat_mode(0)
    with pytest.raises(RuntimeError, match='saturation mode only'):
        npu.set_device_sat_mode(1)
    assert not npu.is_inf_nan_enabled()
    with npu_stub.installed('A2') as later:
        assert later.sat_mode == 1


def test_the_910_has_no_bfloat16(npu: Any) -> None:
    npu.global_options().precision_mode = 'allow_fp32_to_bf16'
    with pytest.raises(RuntimeError, match='does not support bfloat16'):
        npu.open()


def test_optimisers_of_tensorflow_1_and_nested_ones_are_refused(npu: Any) -> None:
    wrap = npu.train.optimizer.NpuLossScaleOptimizer
    with pytest.raises(TypeError, match='must be a tf.keras.optimizers.Optimizer'):
        wrap(tf.compat.v1.train.AdamOptimizer())
    inner = wrap(tf.keras.optimizers.SGD())
    assert (inner.initial_scale, inner.dynamic_growth_steps) == (32768.0, 2000)
    with pytest.raises(TypeError, match='nested'):
        wrap(inner)
    with pytest.raises(ValueError, match='needs an initial_scale'):
        wrap(tf.keras.optimizers.SGD(), dynamic=False)


def _conv(x: Any, kernel: Any) -> np.ndarray:
    return tf.nn.conv2d(tf.constant(x, tf.float32), tf.constant(kernel, tf.float32), 1, 'VALID').numpy()


def test_nothing_changes_before_as_default(npu: Any) -> None:
    npu.open()
    assert _conv([[[[300.0]]]], [[[[300.0]]]]).item() == 90000.0


def test_convolutions_are_the_emulations(npu: Any, adapter: Any) -> None:
    draw, policy = np.random.RandomState(1), make_policy('mixed_float16', 'saturate')
    x, kernel = draw.normal(0, 100, [2, 9, 9, 8]), draw.normal(0, 30, [3, 3, 8, 4])
    halves = [policy.operand(tf.constant(value, tf.float32)) for value in (x, kernel)]
    expected = policy.result(tf.nn.conv2d(*halves, 1, 'VALID')).numpy()
    npu.open().as_default()
    found = _conv(x, kernel)
    assert np.array_equal(found, expected) and np.abs(found).max() == 65504.0
    assert not np.array_equal(found, tf.nn.conv2d(x.astype('f'), 2 * kernel.astype('f'), 1, 'VALID'))


def test_the_register_remembers_until_it_is_cleared(npu: Any) -> None:
    npu.open().as_default()
    ops = npu.gen_npu_ops

    @tf.function
    def product(x: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x, x)

    product(tf.constant([[100.0]]))
    assert not np.any(ops.npu_get_float_status_v2())
    assert product(tf.constant([[300.0]])).numpy().item() == 65504.0
    product(tf.constant([[1.0]]))  # charged with what was before
    status = ops.npu_get_float_status_v2().numpy()
    assert status.shape == (8,) and status.dtype == np.int32 and np.any(status)
    ops.npu_clear_float_status_v2()
    assert not np.any(ops.npu_get_float_status_v2())


def test_saturation_is_blind_to_nan(npu: Any) -> None:
    npu.open().as_default()
    assert _conv([[[[np.nan]]]], [[[[1.0]]]]).item() == 0.0
    assert _conv([[[[np.inf]]]], [[[[1.0]]]]).item() == 65504.0


def test_gradients_are_halves_to_the_input_and_float32_to_the_kernel(npu: Any) -> None:
    npu.open().as_default()
    x, kernel = tf.constant(1.0, shape=[1, 4, 4, 1]), tf.constant(1.0, shape=[1, 1, 1, 1])
    with tf.GradientTape() as tape:
        tape.watch([x, kernel])
        y = tf.reduce_sum(tf.nn.conv2d(x, kernel, 1, 'VALID') * 60000.0)
    to_x, to_kernel = tape.gradient(y, [x, kernel])
    assert to_kernel.numpy().item() == 960000.0  # beyond float16
    assert np.all(to_x == 60000.0)


def test_gradients_of_gradients(npu: Any) -> None:
    """A gradient penalty needs them; here of (w x)**2 by x and then by w, 4 w x."""
    npu.open().as_default()
    x, kernel = tf.constant(3.0, shape=[1, 1, 1, 1]), tf.constant(5.0, shape=[1, 1, 1, 1])
    with tf.GradientTape() as outer:
        outer.watch(kernel)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.nn.conv2d(x, kernel, 1, 'VALID') ** 2)
        slope = inner.gradient(y, x)
    assert outer.gradient(slope, kernel).numpy().item() == 4 * 5.0 * 3.0


def test_a_float32_convolution_needs_another_chip(npu: Any) -> None:
    npu.global_options().precision_mode = 'must_keep_origin_dtype'
    npu.open().as_default()
    with pytest.raises(RuntimeError, match='no kernel of this chip takes float32'):
        _conv([[[[1.0]]]], [[[[1.0]]]])
    with npu_stub.installed('A2') as other:
        other.open().as_default()
        assert _conv([[[[300.0]]]], [[[[300.0]]]]).item() == 90000.0


def test_keep_dtype_scope_marks_operators_and_keeps_products_in_float32(npu: Any) -> None:
    npu.open().as_default()

    def square(x: tf.Tensor) -> tf.Tensor:
        with npu.keep_dtype_scope():
            y = tf.matmul(x, x)
        return y + 1.0

    graph = tf.function(square).get_concrete_function(tf.TensorSpec([1, 1], tf.float32)).graph.as_graph_def()
    assert {node.op for node in graph.node if ATTRIBUTE in node.attr} == {'MatMul'}
    assert square(tf.constant([[300.0]])).numpy().item() == 90001.0
