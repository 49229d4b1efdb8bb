"""The environment of several NPUs: contradictions are sentences before anything is opened."""

from __future__ import annotations

import json
import pathlib
from typing import Dict

import pytest

from ugatit.errors import UserError
from ugatit.runners.npu_cluster import Cluster, read_cluster

CHIEF = {'CM_CHIEF_IP': '10.0.0.1', 'CM_CHIEF_PORT': '60001', 'CM_CHIEF_DEVICE': '0', 'CM_WORKER_SIZE': '8',
         'CM_WORKER_IP': '10.0.0.2'}  # fmt: skip


@pytest.fixture
def table(tmp_path: pathlib.Path) -> str:
    devices = [{'device_id': str(i), 'device_ip': '10.0.0.1', 'rank_id': str(i)} for i in range(4)]
    path = tmp_path / 'ranks.json'
    path.write_text(json.dumps({'server_list': [{'device': devices[:2]}, {'device': devices[2:]}]}))
    return str(path)


@pytest.mark.parametrize(
    ('environment', 'expected'),
    [
        ({}, Cluster(1, 0, 0)),
        ({'ASCEND_DEVICE_ID': '5'}, Cluster(1, 0, 5)),
        ({'RANK_SIZE': '1', 'RANK_ID': '0'}, Cluster(1, 0, 0)),
        (CHIEF, Cluster(8, None, 0)),
    ],
)
def test_what_is_read(environment: Dict[str, str], expected: Cluster) -> None:
    assert read_cluster(environment) == expected


def test_a_table_of_ranks(table: str) -> None:
    environment = {'RANK_SIZE': '4', 'RANK_ID': '3', 'RANK_TABLE_FILE': table, 'ASCEND_DEVICE_ID': '1'}
    assert read_cluster(environment) == Cluster(4, 3, 1)


@pytest.mark.parametrize(
    ('environment', 'says'),
    [
        ({'RANK_SIZE': '2', 'CM_WORKER_SIZE': '2'}, 'RANK_SIZE and CM_WORKER_SIZE exclude each other'),
        ({'RANK_TABLE_FILE': 'x', 'CM_CHIEF_IP': '10.0.0.1'}, 'RANK_TABLE_FILE and CM_CHIEF_IP exclude each other'),
        ({'RANK_SIZE': '2'}, 'neither RANK_TABLE_FILE nor CM_CHIEF_IP is set'),
        ({'RANK_SIZE': 'two'}, "RANK_SIZE must be a whole number from 1 on, but it is 'two'"),
        ({'RANK_SIZE': '0'}, 'RANK_SIZE must be a whole number from 1 on'),
        ({'ASCEND_DEVICE_ID': '-1'}, 'ASCEND_DEVICE_ID must be a whole number from 0 on'),
        ({'RANK_SIZE': '2', 'RANK_TABLE_FILE': 'x'}, 'RANK_ID must be a whole number from 0 on, but it is not set'),
        ({'RANK_SIZE': '2', 'RANK_ID': '2', 'RANK_TABLE_FILE': 'x'}, 'RANK_ID must be less than RANK_SIZE=2'),
        ({'RANK_SIZE': '2', 'RANK_ID': '1', 'RANK_TABLE_FILE': '/no/x'}, 'must be a JSON file, but it cannot be read'),
        ({'CM_CHIEF_IP': '10.0.0.1'}, 'but CM_CHIEF_PORT, CM_CHIEF_DEVICE, CM_WORKER_SIZE, CM_WORKER_IP is missing'),
        ({**CHIEF, 'CM_CHIEF_PORT': 'x'}, 'CM_CHIEF_PORT must be a whole number'),
        ({**CHIEF, 'CM_WORKER_SIZE': '0'}, 'CM_WORKER_SIZE must be a whole number from 1 on'),
    ],
)
def test_what_is_refused(environment: Dict[str, str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        read_cluster(environment)


def test_a_table_that_does_not_agree(table: str) -> None:
    with pytest.raises(UserError, match='lists the ranks 0, 1, 2, 3, but RANK_SIZE is 8 and RANK_ID is 3'):
        read_cluster({'RANK_SIZE': '8', 'RANK_ID': '3', 'RANK_TABLE_FILE': table})


def test_a_table_of_an_unknown_form_is_left_to_hccl(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'ranks.json').write_text('{"groups": []}')
    environment = {'RANK_SIZE': '2', 'RANK_ID': '1', 'RANK_TABLE_FILE': str(tmp_path / 'ranks.json')}
    assert read_cluster(environment) == Cluster(2, 1, 0)
