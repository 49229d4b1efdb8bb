"""What is checked before a run reads its pictures."""

from __future__ import annotations

import pathlib
from typing import Any, List

import pytest

from tests.training.tiny_run import CPU, make_settings, write_pictures
from ugatit.errors import UserError
from ugatit.runners import Runner
from ugatit.training import run


class _Four(Runner):
    """Four devices that share a batch."""

    replicas = 4


class _Enough(Exception):
    """The estimate was made."""


@pytest.mark.parametrize(('device', 'share'), [('gpu', 2), ('npu', 2), ('cpu', 8)])
def test_memory_is_estimated_for_one_device(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, device: str, share: int
) -> None:
    """Each GPU or NPU has a memory of its own; parts of a CPU have one together."""
    batches: List[int] = []

    def estimate(architecture: Any, batch_size: int, variants: Any) -> Any:
        batches.append(batch_size)
        raise _Enough

    monkeypatch.setattr(run, 'estimate_memory', estimate)
    data = write_pictures(tmp_path / 'tiny')
    with pytest.raises(_Enough):
        run.train(make_settings(batch_size=8), str(data), str(tmp_path / 'run'), _Four(device))
    assert batches == [share]


def test_recomputing_is_refused_with_running_statistics(tmp_path: pathlib.Path) -> None:
    settings = make_settings({'variants': 'batch'}, recompute=True)
    data = write_pictures(tmp_path / 'tiny')
    with pytest.raises(UserError, match='recompute computes fakes twice, which running statistics would count twice'):
        run.train(settings, str(data), str(tmp_path / 'run'), CPU)
