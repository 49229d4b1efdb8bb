"""Opening a device: the CPU always works, the others say what they need."""

from __future__ import annotations

import logging

import pytest

tf = pytest.importorskip('tensorflow')

from ugatit.errors import UserError  # noqa: E402
from ugatit.nn.build import Build  # noqa: E402
from ugatit.runners import NAMES, Sharing, gpu, npu, open_runner  # noqa: E402
from ugatit.runners.workers import Worker  # noqa: E402
from ugatit.training.device import Device  # noqa: E402


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, 'gpus', list)
    monkeypatch.setattr('ugatit.runners.gpus', list)


def test_cpu(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger='ugatit'):
        runner = open_runner('cpu')
    assert (runner.name, runner.device, runner.native_float16) == ('cpu', '/CPU:0', False)
    assert tf.__version__ in runner.description
    assert f'device: {runner.description}' in caplog.messages
    with tf.device(runner.device):
        assert tf.ones([2]).device.endswith('CPU:0')


def test_a_runner_is_the_device_that_training_asks() -> None:
    """One replica, no status of its own: the plain answers."""
    runner = open_runner('cpu')
    assert isinstance(runner, Device) and (runner.replicas, runner.chief, runner.replica()) == (1, True, 0)
    with runner.scope():
        assert tf.ones([2]).device.endswith('CPU:0')
    gradients = [tf.ones([2])]
    assert runner.clear_status() == [] and runner.overflowed(gradients) is None and not runner.has_status
    assert runner.processes == 1 and runner.mean([]) == []
    assert runner.mean(gradients)[0] is gradients[0]
    assert runner.explain(ValueError('x')) is None and runner.broadcast([]) is None
    assert float(runner.compile(lambda x: x + 1.0)(tf.constant(1.0))) == 2.0


def test_auto_takes_the_cpu_where_there_is_no_gpu(no_gpu: None) -> None:
    assert open_runner('auto').name == 'cpu'


def test_gpu_says_what_tensorflow_saw(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('CUDA_VISIBLE_DEVICES', raising=False)
    monkeypatch.setattr(tf.test, 'is_built_with_cuda', lambda: False)
    with pytest.raises(UserError, match=r'built for the CPU only; install the GPU build .*\[gpu\]'):
        open_runner('gpu')
    monkeypatch.setattr(tf.test, 'is_built_with_cuda', lambda: True)
    with pytest.raises(UserError, match=r'found none .*nvidia-smi.*; make it visible, or use --device=cpu\.'):
        open_runner('gpu')


@pytest.mark.parametrize('hidden', ['', '-1'])
def test_a_hidden_gpu_is_named_as_the_reason(no_gpu: None, monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', hidden)
    with pytest.raises(UserError, match='CUDA_VISIBLE_DEVICES is set to'):
        open_runner('gpu')


def test_npu_says_what_it_needs() -> None:
    needs = r"needs Python 3\.7 to 3\.9, TensorFlow 2\.6\.5 and the vendor's npu_device, but here "
    with pytest.raises(UserError, match=needs):
        open_runner('npu')


def test_npu_never_imports_the_adapter_into_a_tensorflow_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npu, 'TENSORFLOW', '1.0.0')
    monkeypatch.setattr(npu.importlib, 'import_module', lambda name: pytest.fail(f'imported {name}'))
    with pytest.raises(UserError, match=f'TensorFlow is {tf.__version__}'):
        open_runner('npu')


def test_an_unknown_device_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(UserError, match=', '.join(NAMES)):
        open_runner('tpu')


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> list:
    """A machine with two; the list is filled with those whose memory grows."""
    grown: list = []
    monkeypatch.setattr(gpu, 'gpus', lambda: ['first', 'second'])
    monkeypatch.setattr(tf.config.experimental, 'set_memory_growth', lambda device, on: grown.append((device, on)))
    monkeypatch.setattr(tf.config.experimental, 'get_device_details', lambda device: {'device_name': 'H1'})
    return grown


def test_a_gpu_takes_memory_as_it_needs_it_and_uses_its_own_float16(two_gpus: list) -> None:
    runner = open_runner('gpu')
    assert two_gpus == [('first', True), ('second', True)]
    assert runner.native_float16 and runner.device == '/GPU:0' and runner.replicas == 1
    assert 'H1 (1 of 2 are used)' in runner.description


def test_more_gpus_than_there_are(two_gpus: list) -> None:
    with pytest.raises(UserError, match='--devices=3 GPUs are wanted, but TensorFlow sees 2; use as many'):
        open_runner('gpu', sharing=Sharing(devices=3))


def test_xla_compiles_and_pads_by_slices(two_gpus: list) -> None:
    runner = open_runner('gpu', sharing=Sharing(xla=True))
    assert runner.adapt(Build()).pad_mode == 'slices' and open_runner('gpu').adapt(Build()).pad_mode == 'mirror'
    compiled = runner.compile(lambda x: tf.nn.relu(x) + 1.0)
    assert compiled(tf.constant([-1.0, 2.0])).numpy().tolist() == [1.0, 3.0]
    assert compiled.experimental_get_compiler_ir(tf.constant([-1.0, 2.0]))(stage='hlo').startswith('HloModule')


def test_xla_is_refused_where_it_would_crash_or_do_nothing() -> None:
    with pytest.raises(UserError, match=r'--xla compiles the step of one device, but --devices=2 asks for several'):
        Sharing(2, xla=True)
    worker = Worker(0, ('127.0.0.1:1', '127.0.0.1:2'))
    with pytest.raises(UserError, match=r'--xla compiles the step of one device, but TF_CONFIG asks for several'):
        Sharing(xla=True, worker=worker)
    with pytest.raises(UserError, match='--xla is for CPUs and GPUs, but the device is npu'):
        open_runner('npu', sharing=Sharing(xla=True))
