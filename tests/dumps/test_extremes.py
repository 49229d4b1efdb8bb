"""Both ends of a stored tensor, read in any order, against numpy's own; and float16 widened by moving bits."""

from __future__ import annotations

import pathlib
from typing import Optional

import numpy as np
import pytest

from tests.dumps.made import npu_file
from tests.tolerances import BFLOAT16_TRUNCATION
from ugatit.dumps import formats
from ugatit.dumps.dtypes import ToFloat64, data_type_named
from ugatit.dumps.engines import Engine
from ugatit.dumps.extremes import Extremes, extremes
from ugatit.dumps.tensors import OpenTensor, TensorRef
from ugatit.dumps.writer import Tensor

_HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
_FINITE = _HALVES[np.isfinite(_HALVES)]
_SETS = {
    'both signs': [3.0, -2.5, 0.0, 1e-7],
    'positive': [3.0, 2.5, 6e-8],
    'negative': [-3.0, -2.5, -6e-8],
    'zeros of both signs': [0.0, -0.0],
    'one number': [-7.0],
    'infinity': [1.0, np.inf],
    'both infinities': [-np.inf, np.inf, 0.0],
    'NaN': [1.0, np.nan, -2.0],
    'NaN among negatives': [-1.0, np.nan, -2.0],
    'negative NaN': [1.0, -np.float16('nan'), 2.0],
}


def _stored(
    folder: pathlib.Path, values: np.ndarray, number: int = formats.ND, kind: Optional[int] = None
) -> OpenTensor:
    npu_file(folder / 'x', [Tensor(values, number, data_type=kind)])
    return TensorRef(folder / 'x', 'dump').open()


@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64])
@pytest.mark.parametrize('case', _SETS)
def test_both_ends(case: str, dtype: type, engine: Engine, tmp_path: pathlib.Path) -> None:
    values = np.array(_SETS[case]).astype(dtype)
    found = extremes(_stored(tmp_path, values), ends=engine.ends)
    assert np.array_equal(np.array(found[:2]), [values.min(), values.max()], equal_nan=True)
    assert found.finite == bool(np.isfinite(values).all())


@pytest.mark.parametrize('number', [formats.NC1HWC0, formats.NHWC])
@pytest.mark.parametrize('channels', [16, 20])
def test_padding_is_no_value(number: int, channels: int, engine: Engine, tmp_path: pathlib.Path) -> None:
    """Tiles without padding are read as they lie; zeros of padding must not become the smallest value."""
    values = np.random.RandomState(0).uniform(1, 2, (1, 3, 5, channels)).astype(np.float16)
    tensor = _stored(tmp_path, values, number)
    assert (tensor.stored is None) == (number == formats.NC1HWC0 and channels == 20)
    assert extremes(tensor, ends=engine.ends)[:2] == (values.min(), values.max())
    assert tensor.stored is None or np.array_equal(np.sort(tensor.stored), np.sort(values.ravel()))


@pytest.mark.parametrize('dtype', [np.int8, np.uint16, np.int64, np.bool_])
def test_integers(dtype: type, engine: Engine, tmp_path: pathlib.Path) -> None:
    values = np.array([-128, 5, 127]).astype(dtype)
    assert extremes(_stored(tmp_path, values), limit=100.0, ends=engine.ends) == Extremes(
        values.min(), values.max(), int(np.sum(np.abs(values.astype(float)) > 100))
    )


def test_bfloat16(engine: Engine, tmp_path: pathlib.Path) -> None:
    values = np.array([1.5, -3e38, 2.0], np.float32)
    tensor = _stored(tmp_path, (values.view(np.uint32) >> 16).astype(np.uint16), kind=27)
    assert extremes(tensor, ends=engine.ends).high == 2.0 and extremes(tensor, ends=engine.ends).low == pytest.approx(
        -3e38, rel=BFLOAT16_TRUNCATION
    )


@pytest.mark.parametrize('dtype', [np.float16, np.float32])
def test_beyond_a_limit_counts_nan_and_infinity(dtype: type, engine: Engine, tmp_path: pathlib.Path) -> None:
    values = np.array([65472, -65472, 65504, -65504, np.inf, -np.inf, np.nan, 0, 1e-7]).astype(dtype)
    assert extremes(_stored(tmp_path, values), limit=65472.0, ends=engine.ends).beyond == 5
    assert extremes(_stored(tmp_path, values), limit=65504.0, ends=engine.ends).beyond == 3


def test_every_float16_is_widened_exactly() -> None:
    def widened(values: np.ndarray, finite: bool) -> np.ndarray:
        return ToFloat64(data_type_named('float16'), finite, values.size)(values, np.empty(values.size))

    assert np.array_equal(widened(_FINITE, True), _FINITE.astype(np.float64))
    assert np.array_equal(np.signbit(widened(_FINITE, True)), np.signbit(_FINITE))
    assert np.array_equal(widened(_HALVES, False), _HALVES.astype(np.float64), equal_nan=True)
    moved = widened(_HALVES, True)
    assert not np.array_equal(moved, _HALVES.astype(np.float64), equal_nan=True)  # infinity needs the other way
