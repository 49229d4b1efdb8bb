"""TF_CONFIG: what it means, and one sentence for each way of getting it wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ugatit.errors import UserError
from ugatit.runners.replicas import Sharing
from ugatit.runners.workers import ALONE, read_worker
from ugatit.training.device import check_batch

HOSTS = ['10.0.0.1:12345', 'node-2.cluster:80']


def _environment(cluster: Any = None, kind: Any = 'worker', index: Any = 0, **more: Any) -> dict:
    cluster = {'worker': HOSTS} if cluster is None else cluster
    return {'TF_CONFIG': json.dumps({'cluster': cluster, 'task': {'type': kind, 'index': index}, **more})}


@pytest.mark.parametrize('environment', [{}, {'TF_CONFIG': ''}, {'TF_CONFIG': '{}'}, {'TF_CONFIG': '{"cluster": {}}'}])
def test_without_a_cluster_a_process_is_alone(environment: dict) -> None:
    assert read_worker(environment) is ALONE
    assert (ALONE.index, ALONE.count) == (0, 1)


def test_the_place_in_the_cluster() -> None:
    worker = read_worker(_environment(index=1))
    assert (worker.index, worker.count, worker.addresses) == (1, 2, tuple(HOSTS))
    cluster = {'chief': HOSTS[:1], 'worker': HOSTS[1:]}
    assert read_worker(_environment(cluster, 'chief')).index == 0
    assert read_worker(_environment(cluster, 'worker')).index == 1
    assert read_worker(_environment({'worker': ['[::1]:99']})).count == 1


@pytest.mark.parametrize(
    ('environment', 'told'),
    [
        ({'TF_CONFIG': 'worker 0'}, 'it is not JSON'),
        ({'TF_CONFIG': '[1]'}, 'TF_CONFIG must be an object'),
        ({'TF_CONFIG': '[' * 100_000}, 'it is not JSON'),
        ({'TF_CONFIG': '{"cluster": [1]}'}, 'its "cluster" must be an object'),
        ({'TF_CONFIG': '{"cluster": {"worker": ["a:1"]}}'}, 'its "task" must be an object'),
        (_environment({'ps': HOSTS}), "but it has 'ps'"),
        (_environment({'worker': []}), 'the cluster has no worker'),
        (_environment({'worker': 'a:1'}), 'must be a list of addresses'),
        (_environment({'worker': ['a']}), "HOST:PORT, but 'a' arrived"),
        (_environment({'worker': ['a:70000']}), "HOST:PORT, but 'a:70000' arrived"),
        (_environment({'worker': ['http://a:1']}), 'HOST:PORT'),
        (_environment({'worker': [7]}), 'HOST:PORT, but 7 arrived'),
        (_environment({'worker': ['a:1', 'a:1']}), 'the same address'),
        (_environment({'chief': HOSTS}, 'chief'), 'one chief at most, but 2'),
        (_environment(index=2), 'from 0 to 1, but 2 arrived'),
        (_environment(index='0'), "from 0 to 1, but '0' arrived"),
        (_environment(index=True), 'from 0 to 1, but True arrived'),
        (_environment(kind='chief'), "its type is 'chief'"),
        (_environment(kind='evaluator'), "its type is 'evaluator'"),
    ],
)
def test_a_mistake_is_one_sentence_with_an_example(environment: dict, told: str) -> None:
    with pytest.raises(UserError) as raised:
        read_worker(environment)
    assert told in str(raised.value)
    assert str(raised.value).startswith('TF_CONFIG is set, but ') and 'or unset it' in str(raised.value)


def test_a_batch_must_be_shared_evenly() -> None:
    check_batch(4, 2)
    with pytest.raises(UserError, match='a multiple of the 2 devices that share it, but 1 arrived; use 2'):
        check_batch(1, 2)
    with pytest.raises(UserError, match='multiple of the 4 devices.*but 6 arrived; use 8'):
        check_batch(6, 4)


def test_devices_are_at_least_one() -> None:
    with pytest.raises(UserError, match='--devices must be at least 1, but 0 arrived'):
        Sharing(devices=0)
