"""Disks that fill up or turn read-only in the middle of a run: a sentence, and the last good checkpoint intact."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Callable, Iterator

import pytest
import tensorflow as tf

from tests.training.tiny_run import checkpoint, make_settings, run, same_run, stored, write_pictures
from ugatit.cli.main import explain
from ugatit.errors import UserError

SHORT = make_settings(epochs=3, steps_per_epoch=1, save_every=1)
_DISK = '6m'  # three checkpoints of the tiny network and what else a run writes


@pytest.fixture(autouse=True)
def _eager() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.fixture(scope='module')
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_pictures(tmp_path_factory.mktemp('pictures') / 'tiny')


@pytest.fixture(scope='module')
def whole(data: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Three steps without a stop."""
    workdir = tmp_path_factory.mktemp('whole')
    tf.config.run_functions_eagerly(True)
    assert run(SHORT, data, workdir) == 0
    return workdir


@pytest.fixture
def disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A small file system of its own; only root may mount one."""
    place = tmp_path / 'disk'
    place.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', f'size={_DISK}', 'tmpfs', str(place)]
    if shutil.which('mount') is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip('no file system can be mounted here: that needs root, and a container that allows it')
    yield place
    subprocess.run(['umount', '-l', str(place)], check=True)


def _at(step: int, act: Callable[[], object]) -> Callable[[int], object]:
    return lambda done: act() if done == step else None


def _fill(place: pathlib.Path) -> None:
    """Leaves 40 kB: enough for a row of the table, too little for a checkpoint."""
    with (place / 'filler').open('wb') as file:
        file.write(b'x' * (shutil.disk_usage(place).free - 40_000))


def test_a_full_disk(data: pathlib.Path, whole: pathlib.Path, disk: pathlib.Path) -> None:
    with pytest.raises(UserError, match=r'needs .* MB for the checkpoint, but 0 MB are free') as told:
        run(SHORT, data, disk / 'run', _at(2, lambda: _fill(disk)))
    assert '\n' not in str(told.value)
    assert checkpoint(disk / 'run').location.name == 'UGATIT_light.model-2'
    assert len(stored(disk / 'run')) > 100
    (disk / 'filler').unlink()
    assert run(SHORT, data, disk / 'run') == 0
    same_run(whole, disk / 'run')


def test_a_disk_that_turns_read_only(data: pathlib.Path, whole: pathlib.Path, disk: pathlib.Path) -> None:
    def remount(how: str) -> None:
        # Open files keep a file system writable, and a run has two: a checkpoint folder of its own is what turns.
        subprocess.run(['mount', '-o', f'remount,{how},bind', str(disk)], check=True)

    place = disk.parent / 'run'
    place.mkdir()
    (place / 'checkpoints').symlink_to(disk)
    with pytest.raises(UserError, match=r'could not be written \(is the disk full or read-only\?\).*Read-only file'):
        run(SHORT, data, place, _at(2, lambda: remount('ro')))
    assert checkpoint(place).location.name == 'UGATIT_light.model-2'
    remount('rw')
    assert run(SHORT, data, place) == 0
    same_run(whole, place)


@pytest.mark.parametrize(
    'failure',
    [
        OSError(28, 'No space left on device'),
        pytest.param(OSError(30, 'Read-only file system'), marks=pytest.mark.slow),
        pytest.param(PermissionError(13, 'Permission denied'), marks=pytest.mark.slow),
    ],
    ids=['full', 'read-only', 'forbidden'],
)
def test_a_write_that_fails_at_the_last_moment(
    data: pathlib.Path,
    tmp_path: pathlib.Path,
    failure: OSError,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Everywhere, also without root: the system refuses when the finished file is moved into place."""
    replace = os.replace

    def refuse(source: object, target: object) -> None:
        if 'model-3' in str(target):
            raise failure
        replace(source, target)

    caplog.set_level('INFO', 'ugatit')
    monkeypatch.setattr(os, 'replace', refuse)
    with pytest.raises(UserError, match=failure.strerror):
        run(SHORT, data, tmp_path)
    assert checkpoint(tmp_path).location.name == 'UGATIT_light.model-2'
    assert 'the run is saved at step 1; the same command continues it' in caplog.text
    assert not list((tmp_path / 'checkpoints').rglob('.saving-*'))


def test_a_table_that_cannot_be_written_stops_the_run_saved(
    data: pathlib.Path, whole: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the checkpoint fails but a record; what is done is saved, and the repeated row is not doubled."""
    with monkeypatch.context() as patch:

        def refuse(self: object) -> None:
            raise OSError(28, 'No space left on device', str(tmp_path / 'losses.csv'))

        def arm() -> None:
            patch.setattr('ugatit.training.table.LossTable.write', lambda self, *row: refuse(self))

        with pytest.raises(OSError) as told:
            run(SHORT, data, tmp_path, _at(2, arm))
    assert explain(told.value).endswith('losses.csv: the disk is full; free some space or write to another one.')
    assert checkpoint(tmp_path).location.name == 'UGATIT_light.model-3'
    assert run(SHORT, data, tmp_path) == 0
    assert stored(tmp_path) == stored(whole)


def test_a_work_directory_that_is_a_file(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'run').write_text('x')
    with pytest.raises(UserError, match='--workdir=.*run cannot be written .*; choose another place'):
        run(make_settings(), data, tmp_path / 'run')
