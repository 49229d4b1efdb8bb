"""`ugatit.load` on a device with a float16 of its own: what is computed natively there, and what is emulated."""

from __future__ import annotations

from typing import Dict

import numpy as np
import pytest
import tensorflow as tf

import ugatit.translate as module
from ugatit.nn.call import Call, Recorder
from ugatit.runners import Runner

SIZE = 16
CONV = 'generator_B/conv/conv2d/Conv2D'


def _open(monkeypatch: pytest.MonkeyPatch, native: bool) -> None:
    """Makes every device the CPU, said to have a float16 of its own or not."""
    runner = Runner('gpu', '/CPU:0', 'a stand-in', native_float16=native)
    monkeypatch.setattr(module, 'open_runner', lambda name, *more: runner)


def _tensors(translate: module.Translator) -> Dict[str, tf.Tensor]:
    recorder = Recorder()
    images = np.random.RandomState(0).uniform(-1, 1, [1, SIZE, SIZE, 3]).astype(np.float32)
    assert translate.generator(tf.constant(images), Call(tap=recorder)).image.dtype == tf.float32
    return recorder.tensors


@pytest.mark.parametrize('precision', ['mixed_float16', 'float16'])
@pytest.mark.parametrize('native, overflow', [(True, 'ieee'), (True, 'saturate'), (False, 'ieee')])
def test_native_float16_is_used_where_the_device_has_it_and_overflows_as_asked(
    monkeypatch: pytest.MonkeyPatch, precision: str, native: bool, overflow: str
) -> None:
    _open(monkeypatch, native)
    translate = module.load_untrained(precision=precision, overflow=overflow, image_size=SIZE)
    wanted = native and overflow == 'ieee'  # no GPU saturates, so that is emulated everywhere
    assert (translate.policy.name, translate.policy.overflow) == (precision, overflow)
    assert translate.policy.native is wanted
    assert _tensors(translate)[CONV].dtype == (tf.float16 if wanted else tf.float32)


def test_float32_stays_float32_on_such_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    _open(monkeypatch, native=True)
    tensors = _tensors(module.load_untrained(image_size=SIZE))
    assert {tensor.dtype for tensor in tensors.values()} == {tf.float32}
