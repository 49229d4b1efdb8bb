"""Around the page: what is missing or in the way is a sentence, and no file stays."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import socket
import stat
import subprocess
import sys
import tempfile

import pytest

from ugatit.errors import UserError
from ugatit.web import server


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `private_folder` sets for the whole process is taken back."""
    for name in [*server._QUIET, 'GRADIO_TEMP_DIR', 'no_proxy', 'NO_PROXY']:
        monkeypatch.setenv(name, os.environ.get(name, ''))


@pytest.fixture
def place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    return tmp_path


def test_gradio_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, 'version_info', (3, 11))
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    with pytest.raises(UserError, match=r"Gradio, but it is not installed .*; pip install -e '.\[web\]'"):
        server.require_gradio()


def test_python_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, 'version_info', (3, 9, 18))
    with pytest.raises(UserError, match='Python 3.10 or newer, but this is Python 3.9'):
        server.require_gradio()


def test_a_port_that_is_taken_and_one_that_is_free() -> None:
    with socket.socket() as other:
        other.bind((server.HOST, 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(UserError, match=f'Port {taken} is in use, perhaps by this page .*--port=0'):
            server.free_port(taken)
        assert server.free_port(0) not in (0, taken)
    assert server.free_port(taken) == taken


def test_the_folder_is_private_and_goes(place: pathlib.Path) -> None:
    with server.private_folder() as folder:
        assert folder.parent == place and stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert pathlib.Path(os.environ['GRADIO_TEMP_DIR']).parent == folder
        (folder / 'pictures').mkdir()
        (folder / 'pictures' / 'me.png').write_bytes(b'x')
    assert list(place.iterdir()) == []


def test_it_goes_after_an_error_too(place: pathlib.Path) -> None:
    with pytest.raises(RuntimeError), server.private_folder():
        raise RuntimeError
    assert list(place.iterdir()) == []


def test_what_a_killed_page_left_is_deleted_and_what_a_running_one_has_is_not(place: pathlib.Path) -> None:
    other = 'from ugatit.web.server import private_folder\nwith private_folder() as f: print(f, flush=True); input()'
    environment = {**os.environ, 'TMPDIR': str(place)}
    with subprocess.Popen([sys.executable, '-c', other], stdin=-1, stdout=-1, text=True, env=environment) as process:
        left = pathlib.Path(process.stdout.readline().strip())
        mine = place / 'ugatit-page-notes'
        mine.mkdir()
        with server.private_folder():
            assert left.is_dir()
        process.kill()
        process.wait()
        with server.private_folder():
            assert not left.exists() and mine.is_dir()  # no lock in it: not a page's


def test_loopback_is_spared_the_proxy(place: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('NO_PROXY', 'intern.example')
    for _ in range(2):
        with server.private_folder():
            assert os.environ['NO_PROXY'] == 'intern.example,127.0.0.1,localhost'
