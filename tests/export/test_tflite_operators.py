"""What a TFLite interpreter must know: operators of its own set only, and which."""

from __future__ import annotations

import pathlib
from typing import Set

import pytest

from tests.export.models import Model
from ugatit.export import tflite

NETWORK = {'ADD', 'CONCATENATION', 'CONV_2D', 'FULLY_CONNECTED', 'MEAN', 'MIRROR_PAD', 'MUL', 'RESIZE_NEAREST_NEIGHBOR',
           'RSQRT', 'SQUARED_DIFFERENCE', 'SUB', 'TANH'}  # fmt: skip
OF_2_6 = {'RESHAPE'}  # around its dense layers
PRESCALED = {'ABS', 'BROADCAST_TO', 'DIV', 'GREATER', 'GREATER_EQUAL', 'MAXIMUM', 'REDUCE_MAX', 'RESHAPE', 'SQUARE',
             'STRIDED_SLICE'}  # fmt: skip
CHOICES = {'SELECT', 'SELECT_V2'}  # TensorFlow 2.6, current
UINT8 = {'CAST', 'FLOOR', 'MINIMUM', 'RELU'}


def _operators(model: Model, folder: pathlib.Path, statistics: str, half: bool, **chosen: object) -> Set[str]:
    interface = {key: value for key, value in chosen.items() if key != 'reflect_pad'}
    pad = str(chosen.get('reflect_pad', 'mirror'))
    traced = model.trace(model.load(True, statistics), reflect_pad=pad, **interface)
    tflite.write(traced, folder / 'a.tflite', half)
    return operators(folder / 'a.tflite')


def operators(path: pathlib.Path) -> Set[str]:
    """By the file itself: delegates, which replace operators when it is opened, are left out."""
    from tensorflow.lite.python import interpreter

    resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    opened = interpreter.Interpreter(str(path), experimental_op_resolver_type=resolver)
    return {found['op_name'] for found in opened._get_ops_details()}


@pytest.mark.filterwarnings('ignore')  # of the interpreter, that it will move to another package
def test_operators(healthy: Model, tmp_path: pathlib.Path) -> None:
    assert _operators(healthy, tmp_path, 'plain', False) - OF_2_6 == NETWORK
    assert _operators(healthy, tmp_path, 'plain', True) - OF_2_6 == NETWORK | {'DEQUANTIZE'}
    assert _operators(healthy, tmp_path, 'plain', False, uint8=True) - OF_2_6 == NETWORK | UINT8


@pytest.mark.filterwarnings('ignore')
def test_slices_and_prescaled_statistics(healthy: Model, tmp_path: pathlib.Path) -> None:
    slices = _operators(healthy, tmp_path, 'plain', False, reflect_pad='slices')
    assert slices - OF_2_6 == (NETWORK - {'MIRROR_PAD'}) | {'SLICE'}
    prescaled = _operators(healthy, tmp_path, 'prescaled', False)
    assert prescaled - CHOICES == (NETWORK - {'SQUARED_DIFFERENCE'}) | PRESCALED and prescaled & CHOICES
