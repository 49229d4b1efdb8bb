"""A writer that is killed or runs out of disk, at any moment, leaves a checkpoint that loads."""

from __future__ import annotations

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time
from typing import Iterator, List

import numpy as np
import pytest

from ugatit.checkpoints import CheckpointReader, locate, save_checkpoint
from ugatit.errors import UserError

pytestmark = pytest.mark.skipif(os.name == 'nt', reason='needs fork and SIGKILL')

# Copies argv[1] to argv[2]/0, argv[2]/1, ... and in a fork of its own saves there, killed at moment 0, 1, ... of the
# calls that touch the disk; ends with the first fork that gets through. Prints how many moments there are.
KILLED_AT_EVERY_MOMENT = """
import itertools, os, pathlib, shutil, signal, sys
import numpy as np, tensorflow as tf
from ugatit.checkpoints import save_checkpoint

def hook(owner, name, moment, counter=itertools.count()):
    call = getattr(owner, name)
    def hooked(*args, **kwargs):
        for part in (lambda: None, lambda: call(*args, **kwargs)):
            result = part()
            if next(counter) == moment:
                os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(owner, name, hooked)

def save(folder, moment):
    for owner, name in ((os, 'replace'), (os, 'fsync'), (pathlib.Path, 'unlink'), (shutil, 'rmtree'),
                        (tf.raw_ops, 'SaveV2'), (tf.raw_ops, 'MergeV2Checkpoints')):
        hook(owner, name, moment)
    save_checkpoint(folder, 'UGATIT', int(sys.argv[3]), {'x': np.full(1000, 2, np.float32)}, {}, keep=1)
    os._exit(0)

for moment in itertools.count():
    folder = f'{sys.argv[2]}/{moment}'
    shutil.copytree(sys.argv[1], folder)
    child = os.fork()
    if not child:
        save(folder, moment)
    if os.waitpid(child, 0)[1] == 0:
        break
    assert moment < 100
"""

KILLED_WHILE_WRITING = """
import sys, numpy as np, tensorflow as tf
from ugatit.checkpoints import save_pieces
many = ({f'x{n}': tf.zeros([2**22])} for n in range(200))
save_pieces(sys.argv[1], 'UGATIT', 2, many, keep=1)
"""


@pytest.fixture
def before(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with the checkpoint of step 1, whose x is all 1."""
    return save_checkpoint(tmp_path / 'before', 'UGATIT', 1, {'x': np.full(1000, 1, np.float32)}).folder


def python(program: str, *arguments: object) -> List[str]:
    return [sys.executable, '-c', program, *map(str, arguments)]


def assert_loads(folder: pathlib.Path) -> int:
    """The folder's checkpoint is whole: its x says which step it is of."""
    location = locate(folder)
    assert (CheckpointReader(location).read_one('x').numpy() == location.step).all()
    return location.step


def leftovers(folder: pathlib.Path) -> List[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith('.')]


def test_killed_at_every_moment(before: pathlib.Path, tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    runs = tmp_path / 'runs'
    subprocess.run(python(KILLED_AT_EVERY_MOMENT, before, runs, 2), check=True, cwd=repository)
    folders = sorted(runs.iterdir(), key=lambda folder: int(folder.name))
    loaded = [assert_loads(folder) for folder in folders]
    assert loaded == sorted(loaded) and set(loaded) == {1, 2}  # the old one up to some moment, then the new one
    assert len(folders) > 20 and any(leftovers(folder) for folder in folders) and not leftovers(folders[-1])
    for folder in folders:  # the next save finds its way whatever lies around
        save_checkpoint(folder, 'UGATIT', 3, {'x': np.full(5, 3, np.float32)}, keep=1)
        assert assert_loads(folder) == 3
        assert len(list(folder.iterdir())) == 4  # nothing of step 1 or 2 is left


def test_killed_while_replacing_the_same_number(
    before: pathlib.Path, tmp_path: pathlib.Path, repository: pathlib.Path
) -> None:
    """A mixture of old and new never loads: it is the checkpoint before, or the new one."""
    save_checkpoint(before, 'UGATIT', 2, {'x': np.full(1000, 2, np.float32)})
    runs = tmp_path / 'runs'
    subprocess.run(python(KILLED_AT_EVERY_MOMENT, before, runs, 2), check=True, cwd=repository)
    assert {assert_loads(folder) for folder in runs.iterdir()} == {1, 2}


def test_killed_while_data_is_written(before: pathlib.Path, repository: pathlib.Path) -> None:
    process = subprocess.Popen(python(KILLED_WHILE_WRITING, before), cwd=repository)
    while process.poll() is None and not list(before.glob('.saving-*/*.data-*')):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert leftovers(before) and assert_loads(before) == 1


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Writing beyond `size` bytes fails like on a full disk; needs no rights."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize('size', [0, 100, 2**20])
def test_writing_fails(before: pathlib.Path, size: int) -> None:
    files = sorted(before.iterdir())
    with largest_file(size), pytest.raises(UserError, match='UGATIT.model-2 could not be written'):
        save_checkpoint(before, 'UGATIT', 2, {'x': np.zeros(2**20, np.float32)}, keep=1)
    assert sorted(before.iterdir()) == files and assert_loads(before) == 1


@pytest.fixture
def small_disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A file system of 2 MB."""
    folder = tmp_path / 'disk'
    folder.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', str(folder)]
    if not shutil.which('mount') or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip('mounting a small file system needs rights that this user has not')
    yield folder
    subprocess.run(['umount', str(folder)], check=True)


@pytest.mark.parametrize('bytes_needed', [0, 3 * 2**20])
def test_a_disk_that_is_really_full(small_disk: pathlib.Path, before: pathlib.Path, bytes_needed: int) -> None:
    """Also where the need was not known before, or somebody else filled the disk meanwhile."""
    from ugatit.checkpoints import save_pieces

    folder = pathlib.Path(shutil.copytree(before, small_disk / 'model'))
    files = sorted(folder.iterdir())
    piece = {'x': np.zeros(3 * 2**18, np.float32)}
    with pytest.raises(UserError, match='could not be written' if not bytes_needed else 'needs 4 MB'):
        save_pieces(folder, 'UGATIT', 2, [piece], bytes_needed=bytes_needed)
    assert sorted(folder.iterdir()) == files and assert_loads(folder) == 1
