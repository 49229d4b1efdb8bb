"""Reading ahead: what is asked for, how far, and that nothing of it can fail a comparison."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import sys
import threading
from typing import List, Tuple

import numpy as np
import pytest

from tests.dumps.made import npu_file
from ugatit.dumps.ahead import ReadAhead
from ugatit.dumps.mapped import Mapped
from ugatit.dumps.tensors import TensorRef, npy_array
from ugatit.dumps.writer import Tensor

pytestmark = pytest.mark.skipif(not hasattr(os, 'posix_fadvise'), reason='the system cannot be asked to read ahead')
_SIZE = 1 << 12


class _Asked:
    """Stands in for the system call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: List[Tuple[int, int]] = []
        self.arrived = threading.Semaphore(0)
        monkeypatch.setattr(os, 'posix_fadvise', self)

    def __call__(self, file: int, offset: int, size: int, advice: int) -> None:
        del file
        assert advice == os.POSIX_FADV_WILLNEED
        self.calls.append((offset, size))
        self.arrived.release()

    def wait(self, count: int) -> None:
        for _ in range(count):
            assert self.arrived.acquire(timeout=30)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> _Asked:
    return _Asked(monkeypatch)


def _files(folder: pathlib.Path, count: int) -> List[List[TensorRef]]:
    for i in range(count):
        (folder / f'{i}.npy').write_bytes(bytes(_SIZE))
    return [[TensorRef(folder / f'{i}.npy', 'golden')] for i in range(count)]


def test_never_further_ahead_than_allowed(asked: _Asked, tmp_path: pathlib.Path) -> None:
    with ReadAhead(_files(tmp_path, 9), most=3 * _SIZE) as ahead:
        asked.wait(3)
        assert not asked.arrived.acquire(timeout=0.1)  # three files wait to be read
        ahead.done(0)
        asked.wait(1)
        assert not asked.arrived.acquire(timeout=0.1)
        ahead.done(6)  # overtaken: not asked for any more
        for number in (1, 2, 3):
            ahead.done(number)
        asked.wait(3)
    assert len(asked.calls) == 7  # 0 to 5, and 7


def test_asks_for_the_tensor_alone(asked: _Asked, tmp_path: pathlib.Path) -> None:
    """A dump file has inputs too, often the larger part, which nobody will read."""
    large, small = np.zeros(5000, np.float32), np.ones(10, np.float32)
    npu_file(tmp_path / 'x', [Tensor(small)], [Tensor(large)])
    with ReadAhead([[TensorRef(tmp_path / 'x', 'dump')]]):
        asked.wait(1)
    assert asked.calls == [((tmp_path / 'x').stat().st_size - small.nbytes, small.nbytes)]


def test_what_cannot_be_read_is_passed_over(asked: _Asked, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'broken').write_bytes(b'short')
    groups = [[TensorRef(tmp_path / 'nowhere.npy', 'golden')], [TensorRef(tmp_path / 'broken', 'dump')], []]
    with ReadAhead(groups + _files(tmp_path, 1)) as ahead:
        ahead.done(0)
        asked.wait(1)
    assert asked.calls == [(0, _SIZE)]


def test_one_huge_file_is_asked_for_in_part(asked: _Asked, tmp_path: pathlib.Path) -> None:
    with ReadAhead(_files(tmp_path, 1), most=_SIZE // 4):
        asked.wait(1)
    assert asked.calls == [(0, _SIZE // 4)]


def test_systems_that_cannot_be_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.delattr(os, 'posix_fadvise')
    with ReadAhead(_files(tmp_path, 2)) as ahead:
        ahead.done(0)


def test_headers_are_read_by_any_number_of_threads(tmp_path: pathlib.Path) -> None:
    """CPython 3.11 raises SystemError where two threads parse at once; without a lock this failed in most runs."""
    path = tmp_path / 'a.npy'
    np.save(path, np.zeros((2, 3), np.float32))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            shapes = list(pool.map(lambda _: npy_array(path, Mapped(path)).shape, range(2000)))
    finally:
        sys.setswitchinterval(before)
    assert set(shapes) == {(2, 3)}
