"""The compiled engine beside NumPy's: the same numbers, whatever the layout and type, and never a reason to fail."""

from __future__ import annotations

import itertools
import math
import pathlib
import sys
import types
from typing import Tuple

import numpy as np
import pytest

from tests.dumps.made import npu_file
from tests.tolerances import DUMP_ENGINES, DUMP_LOGARITHM
from ugatit.dumps import engines, formats
from ugatit.dumps.compare import compare
from ugatit.dumps.dtypes import data_type_named
from ugatit.dumps.engines import NUMPY, Engine, choose_engine
from ugatit.dumps.extremes import Extremes
from ugatit.dumps.metrics import Metrics, measure
from ugatit.dumps.sums import NumpySums
from ugatit.dumps.tensors import TensorRef
from ugatit.dumps.tree import scan
from ugatit.dumps.writer import Tensor

_TYPES = ('float16', 'bfloat16', 'float32', 'float64')
_RANDOM = np.random.RandomState(7)


@pytest.fixture(scope='module')
def fused() -> types.ModuleType:
    """The compiled engine's module."""
    pytest.importorskip('numba', reason='numba is not installed: pip install "ugatit[fast]"')
    from ugatit.dumps import fused

    return fused


@pytest.fixture(scope='module')
def kernels(fused: types.ModuleType) -> types.ModuleType:
    """Its loops."""
    from ugatit.dumps import kernels

    return kernels


@pytest.fixture(scope='module')
def compiled(fused: types.ModuleType) -> Engine:
    return fused.ENGINE


def _dump(path: pathlib.Path, values: np.ndarray, dtype: str, number: int = formats.ND) -> TensorRef:
    """Values as a type in a layout of the NPU."""
    if dtype == 'bfloat16':
        values = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        values = values.astype(dtype)
    npu_file(path, [Tensor(values, number, data_type=data_type_named(dtype).number)])
    return TensorRef(path, 'dump')


def _both_agree(left: TensorRef, right: TensorRef, compiled: Engine) -> None:
    _agree(*(measure(left.open(), right.open(), engine) for engine in (compiled, NUMPY)))


def _agree(found: Metrics, wanted: Metrics) -> None:
    wanted, found = wanted.to_json(), found.to_json()
    assert found.pop('notes') == wanted.pop('notes')
    for key, value in wanted.items():
        scale = max(1.0, abs(value)) if math.isfinite(value) else 1.0
        assert found[key] == pytest.approx(value, abs=DUMP_ENGINES * scale, nan_ok=True), key


@pytest.mark.parametrize('dtypes', list(itertools.product(_TYPES, _TYPES)))
def test_engines_agree_on_every_pair_of_types(
    dtypes: Tuple[str, str], compiled: Engine, tmp_path: pathlib.Path
) -> None:
    y = _RANDOM.normal(0.5, 2, (3, 5003))
    left = _dump(tmp_path / 'left', y * (1 + 1e-3 * _RANDOM.normal(0, 1, y.shape)), dtypes[0])
    _both_agree(left, _dump(tmp_path / 'right', y, dtypes[1]), compiled)


@pytest.mark.parametrize('count', [1, 3, 4, 1023, 1024, 1025, (1 << 18) - 1, (1 << 18) + 5])
def test_engines_agree_on_any_number_of_values(count: int, compiled: Engine, tmp_path: pathlib.Path) -> None:
    y = _RANDOM.normal(0, 1, count)
    left = _dump(tmp_path / 'left', y, 'float16')
    _both_agree(left, _dump(tmp_path / 'right', y, 'float32'), compiled)


@pytest.mark.parametrize('channels', [16, 20, 64])
@pytest.mark.parametrize('number', [formats.NC1HWC0, formats.NHWC])
def test_engines_agree_on_tiles(number: int, channels: int, compiled: Engine, tmp_path: pathlib.Path) -> None:
    y = _RANDOM.normal(3, 1, (2, 31, 33, channels))
    left = _dump(tmp_path / 'left', y, 'float16', number)
    _both_agree(left, _dump(tmp_path / 'right', y, 'float32'), compiled)


def test_values_in_another_byte_order(compiled: Engine, tmp_path: pathlib.Path) -> None:
    y = _RANDOM.normal(0, 1, 5000)
    np.save(tmp_path / 'right.npy', y.astype('>f4'))
    left, right = _dump(tmp_path / 'left', y, 'float16'), TensorRef(tmp_path / 'right.npy', 'golden')
    _both_agree(left, right, compiled)


_ENDS = {
    'plain': (Extremes(-1.0, 2.0, 0), Extremes(0.0, 1.0, 0), True),
    'constant': (Extremes(3.0, 3.0, 0), Extremes(0.0, 0.0, 0), True),
    'infinity': (Extremes(-1.0, math.inf, 1), Extremes(0.0, 1.0, 0), False),
    'NaN': (Extremes(0.0, 1.0, 0), Extremes(math.nan, math.nan, 1), False),
    'tiny range': (Extremes(0.0, 1e-150, 0), Extremes(0.0, 1.0, 0), False),
    'huge range': (Extremes(0.0, 1.0, 0), Extremes(-1e150, 1.0, 0), False),
    'huge constant': (Extremes(1e150, 1e150, 0), Extremes(0.0, 1.0, 0), False),
}


@pytest.mark.parametrize('case', _ENDS)
def test_what_numpy_must_do_is_left_to_it(case: str, fused: types.ModuleType) -> None:
    *ends, wanted = _ENDS[case]
    doubles = (data_type_named('float64'),) * 2
    assert isinstance(fused.fused_sums(doubles, tuple(ends)), fused.FusedSums if wanted else NumpySums)
    integers = (data_type_named('int8'), doubles[0])
    assert isinstance(fused.fused_sums(integers, tuple(ends)), NumpySums)


def test_logarithms_of_quotients(kernels: types.ModuleType) -> None:
    """Of numbers of like and of unlike size, over all that scaled values can be."""
    p, q = (np.exp2(_RANDOM.uniform(-423, 400, 20000)) for _ in range(2))
    p, q = np.concatenate([p, q * _RANDOM.uniform(0.4, 2.5, q.size)]), np.concatenate([q, q])
    found = np.array([kernels.log_ratio(*pair) for pair in zip(p, q)])
    wanted = np.log(p.astype(np.longdouble) / q).astype(float)
    assert np.max(np.abs(found - wanted) / np.maximum(np.abs(wanted), 1e-3)) < DUMP_LOGARITHM
    assert kernels.log_ratio(3e-7, 3e-7) == 0


def test_every_float16_is_widened_exactly(kernels: types.ModuleType) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16)
    finite = np.sort(halves.view(np.float16)[np.isfinite(halves.view(np.float16))])
    found = np.empty(finite.size)
    kernels.add_side(finite.view(np.uint16), 0.0, -math.inf, found)
    assert np.array_equal(found, finite.astype(np.float64))


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled engine for dumps of any size."""
    monkeypatch.setattr(engines, 'WORTH', 0)


def test_small_dumps_do_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, 'ugatit.dumps.fused', raising=False)
    assert choose_engine(engines.WORTH - 1) is NUMPY
    assert 'ugatit.dumps.fused' not in sys.modules


def test_a_comparison_finds_the_same(
    npu: pathlib.Path, npy: pathlib.Path, monkeypatch: pytest.MonkeyPatch, compiled: Engine
) -> None:
    wanted = compare(scan(npu), scan(npy))
    monkeypatch.setattr(engines, 'WORTH', 0)
    assert choose_engine(1) == compiled
    found = compare(scan(npu), scan(npy))
    assert found.verdict.sentence == wanted.verdict.sentence
    assert len(found.compared) == len(wanted.compared) > 10
    for a, b in zip(found.compared, wanted.compared):
        _agree(a.metrics, b.metrics)


def test_without_numba(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    _forget(monkeypatch)
    monkeypatch.setitem(sys.modules, 'numba', None)
    assert choose_engine(1) is NUMPY


def test_a_numba_that_fails_is_said(
    eager: None, fused: types.ModuleType, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise EOFError('a broken cache')

    monkeypatch.setattr(fused, 'prepare', fail)
    assert choose_engine(1) is NUMPY
    assert 'numba fails (EOFError: a broken cache); comparing with NumPy, slower; install numba again' in caplog.text


def test_no_place_to_keep_what_was_compiled(kernels: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba raises RuntimeError when it is told to cache a function of a file beside which it cannot write."""
    compile_ = kernels.njit

    def njit(**options: object) -> object:
        if options.pop('cache', False):
            raise RuntimeError('cannot cache function: no locator available')
        return compile_(**options)

    monkeypatch.setattr(kernels, 'njit', njit)
    assert kernels._kept(lambda x: x + 1)(1) == 2


def test_no_room_to_keep_what_was_compiled(
    fused: types.ModuleType, kernels: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = kernels.njit(lambda x: x + 1)

    def full(*_: object) -> None:
        raise OSError('no space left on device')

    monkeypatch.setattr(function._cache, 'save_overload', full)
    assert fused._compiled(function, (fused.types.float64,))(1.0) == 2.0


def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the engine had never been imported."""
    import ugatit.dumps

    monkeypatch.delitem(sys.modules, 'ugatit.dumps.fused', raising=False)
    monkeypatch.delattr(ugatit.dumps, 'fused', raising=False)
