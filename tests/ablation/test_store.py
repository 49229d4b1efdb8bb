"""The folder of an ablation: what is damaged is as if it were not there."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from ugatit.ablation.store import Store

RESULTS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(1, 2, 2, 3)


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Store:
    """With a reference in it."""
    found = Store(tmp_path / 'out', 'inference')
    found.begin()
    found.save_reference({'a': 1}, RESULTS)
    return found


def test_the_reference_comes_back_for_what_it_depends_on(store: Store) -> None:
    assert np.array_equal(store.reference({'a': 1}), RESULTS) and store.reference({'a': 2}) is None


@pytest.mark.parametrize('kept', [0, 10, 200, -30])
def test_a_torn_reference_is_none(store: Store, kept: int) -> None:
    file = store.folder / 'reference.npz'
    file.write_bytes(file.read_bytes()[:kept])
    assert store.reference({'a': 1}) is None


def test_a_reference_that_cannot_be_written_leaves_the_old_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed or out of space halfway: the file is written beside, and takes the name when it is whole."""

    def halfway(path: object, **arrays: np.ndarray) -> None:
        target = path if hasattr(path, 'write') else open(path, 'wb')
        target.write(b'PK half')
        target.flush()
        raise OSError('no space left')

    monkeypatch.setattr(np, 'savez', halfway)
    with pytest.raises(OSError):
        store.save_reference({'a': 2}, RESULTS)
    monkeypatch.undo()
    assert np.array_equal(store.reference({'a': 1}), RESULTS)
