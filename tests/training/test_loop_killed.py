"""kill -9 at random moments, half of them inside a save: what is continued ends with the bits of an untouched run."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from tests.training.tiny_run import same_run, stored

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
KILLS = 20

# One process imports TensorFlow and forks a run after another: importing would take longer than the runs.
_SERVER = """
import os, pathlib, random, signal, sys, time
from unittest import mock
import tensorflow as tf
from tests.training.tiny_run import make_settings, run, write_pictures
import ugatit.checkpoints.writer as writer

work, kills = pathlib.Path(sys.argv[1]), int(sys.argv[2])
data = write_pictures(work / 'tiny')
settings = make_settings(epochs=2, steps_per_epoch=12, save_every=1)
draw = random.Random(11)

def train(workdir, attempt):
    tf.config.run_functions_eagerly(True)
    os._exit(run(settings, data, workdir))

def train_and_die_saving(workdir, attempt):
    # Before or after the k-th file operation of the first save.
    left, after = [draw.randrange(12)], draw.random() < 0.5
    def counted(function):
        def call(*args, **kwargs):
            left[0] -= 1
            if left[0] < 0 and not after: os.kill(os.getpid(), signal.SIGKILL)
            result = function(*args, **kwargs)
            if left[0] < 0: os.kill(os.getpid(), signal.SIGKILL)
            return result
        return call
    for name in ('_write', '_flush', '_publish', '_delete', 'write_state_file', '_delete_others', '_check_disk'):
        setattr(writer, name, counted(getattr(writer, name)))
    os.replace = counted(os.replace)
    train(workdir, attempt)

def fork(function, workdir, attempt, seconds=None):
    draw.seed(attempt)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        function(workdir, attempt)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]

begin = time.monotonic()
assert fork(train, work / 'whole', -1) == 0
longest = time.monotonic() - begin
killed = 0
for attempt in range(kills):
    if attempt % 2:
        status = fork(train_and_die_saving, work / 'killed', attempt)
    else:
        status = fork(train, work / 'killed', attempt, random.Random(attempt).uniform(0.0, 0.15 * longest))
    killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    print(attempt, status, flush=True)
print('killed', killed, flush=True)
assert fork(train, work / 'killed', kills) == 0
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs fork')
def test_killed_twenty_times(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, '-c', _SERVER, str(tmp_path), str(KILLS)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert f'killed {KILLS}' in done.stdout, done.stdout
    assert len(stored(tmp_path / 'killed')) > 100
    same_run(tmp_path / 'whole', tmp_path / 'killed')
    assert not list((tmp_path / 'killed' / 'checkpoints').rglob('.saving-*'))
