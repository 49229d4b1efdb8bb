"""An NPU for tests: the stand-in for the adapter, and this TensorFlow declared the one that it supports."""

from __future__ import annotations

import sys
from typing import Any, Iterator

import pytest
import tensorflow as tf

from tests import npu_stub
from ugatit.runners import npu

VARIABLES = ('RANK_SIZE', 'RANK_ID', 'RANK_TABLE_FILE', 'ASCEND_DEVICE_ID', 'CM_CHIEF_IP', 'CM_CHIEF_PORT',
             'CM_CHIEF_DEVICE', 'CM_WORKER_SIZE', 'CM_WORKER_IP', 'DUMP_GE_GRAPH', 'DUMP_GRAPH_LEVEL',
             'DUMP_GRAPH_PATH')  # fmt: skip


def supported(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow 2.6.5 on Python 3.9 is real; with any other the versions are made to fit."""
    monkeypatch.setattr(npu, 'TENSORFLOW', tf.__version__)
    monkeypatch.setattr(npu, 'PYTHON', ((3, 7), sys.version_info[:2]))
    for name in VARIABLES:
        monkeypatch.setenv(name, '')  # so that it is put back whatever the runner sets
        monkeypatch.delenv(name)


@pytest.fixture(name='adapter')
def adapter_fixture(monkeypatch: pytest.MonkeyPatch) -> Iterator[npu_stub.Adapter]:
    """An emulated 910."""
    supported(monkeypatch)
    with npu_stub.installed() as installed:
        yield installed


@pytest.fixture(name='a2')
def a2_fixture(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An emulated A2."""
    supported(monkeypatch)
    with npu_stub.installed('A2') as installed:
        yield installed
