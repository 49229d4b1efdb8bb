"""Two devices, two processes: the weights of one device with the whole batch, and what happens when one is killed."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys
from typing import Dict, List, Sequence, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.training.tiny_run import checkpoint, write_pictures
from ugatit.runners.replicas import ReplicatedRunner
from ugatit.runners.workers import Worker
from ugatit.training.table import read_rows

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
STEPS = 5


def _start(output: pathlib.Path, *words: str, worker: int = -1, ports: Sequence[int] = ()) -> subprocess.Popen:
    command = ['-m', 'tests.runners.replica_run', str(output), f'--steps={STEPS}', *words]
    return _launch(command, worker, ports)


def _launch(command: Sequence[str], worker: int, ports: Sequence[int]) -> subprocess.Popen:
    environment = {**os.environ, 'PYTHONPATH': str(REPOSITORY)}
    environment.pop('TF_CONFIG', None)
    if worker >= 0:
        addresses = [f'127.0.0.1:{port}' for port in ports]
        task = {'type': 'worker', 'index': worker}
        environment['TF_CONFIG'] = json.dumps({'cluster': {'worker': addresses}, 'task': task})
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}
    return subprocess.Popen([sys.executable, *command], cwd=REPOSITORY, env=environment, text=True, **pipes)


def _end(process: subprocess.Popen) -> str:
    told = process.communicate(timeout=900)[1]
    assert process.returncode == 0, told
    return told


def _free_ports(count: int) -> List[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(('127.0.0.1', 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _comparable(name: str) -> bool:
    """Not the 22 biases in front of an instance norm: their true gradient is zero, and Adam moves them by noise."""
    leaf = name.partition('/')[2]
    in_front = leaf.endswith('conv2d/bias') and leaf.startswith(('conv/', 'conv_0/', 'conv_1/', 'resblock_'))
    return not (name.startswith('generator_') and in_front)


def _differences(left: pathlib.Path, right: pathlib.Path) -> Dict[str, float]:
    with np.load(left) as ours, np.load(right) as theirs:
        assert set(ours) == set(theirs)
        weights = [name for name in ours if not name.endswith(('/Adam', '/Adam_1')) and 'loss' not in name]
        return {name: float(np.max(np.abs(ours[name] - theirs[name]))) for name in weights if _comparable(name)}


@pytest.mark.slow
def test_one_device_two_devices_and_two_processes_train_alike(tmp_path: pathlib.Path) -> None:
    """Five steps with the same two pictures: 2 on one device, 1 + 1 on two, 1 + 1 in two processes."""
    paths = {name: tmp_path / f'{name}.npz' for name in ('one', 'two', 'first', 'second')}
    ports = _free_ports(2)
    _end(_start(paths['one'], '--eager'))
    _end(_start(paths['two'], '--eager', '--devices=2'))
    workers = [_start(paths[name], '--eager', worker=k, ports=ports) for k, name in enumerate(('first', 'second'))]
    for worker in workers:
        _end(worker)
    for name in ('two', 'first', 'second'):
        differences = _differences(paths['one'], paths[name])
        assert len(differences) > 150
        assert max(differences.values()) <= tolerances.REPLICAS, (name, max(differences, key=differences.get))
    both = np.load(paths['first']), np.load(paths['second'])
    assert all(np.array_equal(both[0][name], both[1][name]) for name in both[0])  # all, to the last bit


@pytest.mark.slow
@pytest.mark.parametrize('words', [(), ('--algebra',)])
def test_two_devices_compiled(words: Sequence[str], tmp_path: pathlib.Path) -> None:
    """As training runs, against one device that is not compiled. Two steps: compiled sums are in another order."""
    paths = {name: tmp_path / f'{name}.npz' for name in ('one', 'two')}
    _end(_start(paths['one'], '--eager', '--steps=2', *words))
    _end(_start(paths['two'], '--devices=2', '--steps=2', *words))
    differences = _differences(paths['one'], paths['two'])
    print(max(differences.values()))
    assert max(differences.values()) <= tolerances.REPLICAS, max(differences, key=differences.get)


@pytest.mark.slow
@pytest.mark.parametrize('ranges', ['live', 'none'])
def test_two_devices_in_float16(ranges: str, tmp_path: pathlib.Path) -> None:
    """Scales are settled and updates skipped on both alike; moments are those of one device, but for rounding."""
    paths = {name: tmp_path / f'{name}.npz' for name in ('one', 'two')}
    words = ('--eager', '--steps=2', '--precision=mixed_float16', f'--ranges={ranges}')
    _end(_start(paths['one'], *words))
    _end(_start(paths['two'], *words, '--devices=2'))
    with np.load(paths['one']) as one, np.load(paths['two']) as two:
        for name in one:
            if name.startswith(('loss/skipped', 'loss/loss_scale', 'loss/exponent')):
                assert one[name] == two[name], name
        assert one['loss/loss_scale_generators'] < 2.0**6 and one['loss/skipped_generators'] == 0.0
        moments = [name for name in one if name.endswith('/Adam') and _comparable(name[: -len('/Adam')])]
        apart = np.sqrt(sum(np.sum(np.square(one[name] - two[name])) for name in moments))
        size = np.sqrt(sum(np.sum(np.square(one[name])) for name in moments))
    print(apart / size)
    assert apart / size < tolerances.FLOAT16_GRADIENT


@pytest.mark.slow
def test_a_killed_worker_leaves_a_sentence_and_a_checkpoint_that_continues(tmp_path: pathlib.Path) -> None:
    """The chief is killed after the second of three steps; the other says so; both start again and finish."""
    pictures, workdir = write_pictures(tmp_path / 'tiny'), tmp_path / 'run'

    def train(*words: str) -> List[Tuple[int, str]]:
        ports = _free_ports(2)
        command = ['-m', 'tests.runners.train_run', str(pictures), str(workdir)]
        workers = [_launch([*command, *more], k, ports) for k, more in enumerate((words, ()))]
        told = [worker.communicate(timeout=900) for worker in workers]
        return [(worker.returncode, ''.join(text)) for worker, text in zip(workers, told)]

    killed, survivor = train('--die=2')
    assert killed[0] == -9 and survivor[0] == 2, survivor[1]
    assert 'error: worker 1 of 2 lost the others: one of them has ended' in survivor[1]
    assert 'from its last checkpoint' in survivor[1]
    assert checkpoint(workdir).location.step == 2  # one step is saved; the second was not
    for code, told in train():
        assert code == 0 and 'step 1 of 3, continued' in told and 'finished: 3 steps' in told
    assert checkpoint(workdir).location.step == 4
    assert [row['step'] for row in read_rows(workdir / 'losses.csv')] == ['1', '2', '3']


def test_only_lost_workers_are_explained() -> None:
    runner = ReplicatedRunner('cpu', '/CPU:0', '', False, worker=Worker(1, ('a:1', 'b:1')))
    assert 'worker 1 of 2 lost the others' in runner.explain(tf.errors.UnavailableError(None, None, 'Socket closed'))
    assert 'worker 1 of 2' in runner.explain(tf.errors.InternalError(None, None, 'Collective ops is aborted by: x'))
    assert runner.explain(tf.errors.InvalidArgumentError(None, None, 'shapes')) is None
    assert not runner.chief
    alone = ReplicatedRunner('cpu', '/CPU:0', '', False)
    assert alone.chief and alone.agree(True) and not alone.agree(False)
    assert alone.explain(tf.errors.UnavailableError(None, None, 'x')) is None
