"""The measures against the vendor's formulas, and their corners."""

from __future__ import annotations

import math
import pathlib
from typing import Tuple

import numpy as np
import pytest

from tests.dumps.made import measured, npu_file, reference
from tests.tolerances import DUMP_METRIC
from ugatit.dumps import metrics
from ugatit.dumps.engines import Engine
from ugatit.dumps.side import BLOCK
from ugatit.dumps.tensors import TensorRef
from ugatit.dumps.writer import Tensor
from ugatit.errors import UserError

_RANDOM = np.random.RandomState(3)
_NORMAL = _RANDOM.normal(0, 1, 3 * BLOCK + 17)  # several blocks and a part
_PAIRS = {
    'independent': (_NORMAL, _NORMAL[::-1].copy()),
    'close': (_NORMAL * (1 + 1e-3 * _NORMAL[::-1]), _NORMAL),
    'activations': (np.maximum(_NORMAL, 0), np.maximum(_NORMAL + 0.01, 0)),
    'far from zero': (_NORMAL + 1000, _NORMAL[::-1] + 1000),
    'constant': (np.full(50, 3.0), np.full(50, 4.0)),
    'constant against values': (np.full(BLOCK + 3, 3.0), _NORMAL[: BLOCK + 3]),
    'left zero': (np.zeros(100), _NORMAL[:100]),
    'right zero': (_NORMAL[:100], np.zeros(100)),
    'both zero': (np.zeros(9), np.zeros(9)),
    'one value': (np.array([2.5]), np.array([2.0])),
    'NaN': (np.array([1.0, np.nan, 3.0]), np.array([1.0, 2.0, 3.0])),
    'infinity over zero': (np.array([1.0, np.inf, 3.0, 0.0]), np.array([1.0, 0.0, 2.0, 0.0])),
    'tiny right side': (np.array([1.0, 2.0, 3.0]), np.array([1e-17, 2.0, -1e-300])),
    'negative': (-np.abs(_NORMAL) - 1, -np.abs(_NORMAL[::-1]) - 2),
    'a zero among large values': (np.append(_NORMAL[:99] + 1000, 0), np.append(_NORMAL[1:100] + 1000, 0)),
    'tiny range': (_NORMAL[:500] * 1e-150, _NORMAL[500:1000]),
    'huge range': (_NORMAL[:500] * 1e150, _NORMAL[500:1000] * 1e-150),
    'infinity of both signs': (np.array([1.0, -np.inf, 3.0]), np.array([np.inf, 2.0, 3.0])),
}


@pytest.mark.parametrize('dtypes', [(np.float64, np.float64), (np.float16, np.float32), (np.float32, np.float16)])
@pytest.mark.parametrize('case', _PAIRS)
def test_equals_the_formulas_in_float64(
    case: str, dtypes: Tuple[type, type], engine: Engine, tmp_path: pathlib.Path
) -> None:
    with np.errstate(over='ignore'):
        left, right = (side.astype(dtype) for side, dtype in zip(_PAIRS[case], dtypes))
    found, wanted = measured(tmp_path, left, right, engine).to_json(), reference(left, right)
    for key, value in wanted.items():
        scale = max(1.0, abs(value)) if math.isfinite(value) else 1.0
        assert found[key] == pytest.approx(value, abs=DUMP_METRIC * scale, nan_ok=True), key


@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.int8, np.uint16, np.int32, np.bool_])
def test_every_stored_type_is_compared_as_numbers(dtype: type, engine: Engine, tmp_path: pathlib.Path) -> None:
    left = np.abs(_NORMAL[:200] * 40).astype(dtype)
    right = (left.astype(np.float64) * 1.01 + 0.1).astype(np.float32)
    found, wanted = measured(tmp_path, left, right, engine), reference(left, right)
    assert found.relative_euclidean == pytest.approx(wanted['relative_euclidean'], rel=DUMP_METRIC)


def test_bfloat16(engine: Engine, tmp_path: pathlib.Path) -> None:
    values = _NORMAL[:300].astype(np.float32)
    stored = (values.view(np.uint32) >> 16).astype(np.uint16)
    exact = (stored.astype(np.uint32) << 16).view(np.float32)
    assert measured(tmp_path, stored, exact, engine, data_type=27).max_absolute == 0


def test_a_scalar_has_cosine_one(engine: Engine, tmp_path: pathlib.Path) -> None:
    found = measured(tmp_path, np.float32(3.0), np.float32(-4.0), engine)
    assert (found.cosine, found.max_absolute) == (1.0, 7.0)
    assert any('scalar' in note for note in found.notes)


def test_saturation_is_counted_in_float16_only(engine: Engine, tmp_path: pathlib.Path) -> None:
    right = np.array([1.0, 70000.0, -80000.0, 65504.0], np.float32)
    left = np.clip(right, -65504, 65504)
    assert measured(tmp_path, left.astype(np.float16), right, engine).left_saturated == 0.75
    assert measured(tmp_path, left, right, engine).left_saturated == 0
    broken = np.array([1.0, np.nan, np.inf, 2.0], np.float32)  # not saturated: it is no float16
    assert measured(tmp_path, broken, right, engine).left_saturated == 0
    assert measured(tmp_path, broken.astype(np.float16), right, engine).left_saturated == 0.5
    assert measured(tmp_path, left, right, engine).right_over == 0.5
    with np.errstate(over='ignore'):
        assert measured(tmp_path, right.astype(np.float16), right, engine).left_saturated == 0.75  # inf instead


def test_a_zero_right_side_is_said(engine: Engine, tmp_path: pathlib.Path) -> None:
    found = measured(tmp_path, np.ones(5), np.zeros(5), engine)
    assert found.relative_euclidean == 0 and math.isnan(found.cosine)
    assert any('right side is zero' in note for note in found.notes)


def test_sizes_must_be_equal(engine: Engine, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match=r'12 values of shape \[3, 4\] against 10'):
        measured(tmp_path, np.zeros((3, 4)), np.zeros(10), engine)


def test_nothing_to_compare(engine: Engine, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match='empty'):
        measured(tmp_path, np.zeros((0, 4)), np.zeros(0), engine)


def test_blocks_of_both_sides_need_not_meet(engine: Engine, tmp_path: pathlib.Path) -> None:
    """A tiled tensor comes in blocks of other lengths than a plain one."""
    values = _RANDOM.normal(0, 1, (3, 37, 41, 21)).astype(np.float32)
    npu_file(tmp_path / 'tiled', [Tensor(values, 3)])
    npu_file(tmp_path / 'plain', [Tensor(values)])
    found = metrics.measure(*(TensorRef(tmp_path / name, 'dump').open() for name in ('tiled', 'plain')), engine)
    assert (found.max_absolute, found.count) == (0, values.size)
