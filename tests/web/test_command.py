"""demo.py from its command line: what is wrong is said before anything is loaded, and it ends cleanly."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

import demo
from ugatit.cli.main import run


def _run(*words: str) -> int:
    return run(demo.main, demo.FLAGS, list(words), needs_tensorflow=False)


@pytest.fixture
def gradio_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('ugatit.web.server.require_gradio', lambda: None)


def test_help_begins_with_an_example_and_states_defaults(capsys: pytest.CaptureFixture) -> None:
    assert _run('--help') == 0
    text = capsys.readouterr().out
    assert text.startswith('Examples:\n  python demo.py\n')
    text = ' '.join(text.split())  # lines are wrapped
    for said in ('--port=N', '(default: 7860)', '(default: crop)', '(default: mixed_float16)', 'Server:'):
        assert said in text
    assert '(default: false)' in text[text.index('--[no]share') :]


def test_without_gradio(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    assert _run() == 2
    said = capsys.readouterr().err
    assert 'Gradio' in said and "pip install -e '.[" in said and said.count('\n') == 1


def test_a_port_in_use(gradio_there: None, capsys: pytest.CaptureFixture) -> None:
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        assert _run(f'--port={other.getsockname()[1]}') == 2
    said = capsys.readouterr().err
    assert 'is in use' in said and '--port=0' in said and said.count('\n') == 1


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--port=70000'], '--port'),
        (['--device=npu'], 'auto, cpu or gpu'),
        (['--background=mauveish'], 'mauveish'),
        (['--checkpoint=nowhere'], 'nowhere'),
        (['--resize=official'], '--resize'),
        (['--prot=1'], 'did you mean --port?'),
        (['me.png'], "'me.png' arrived"),
    ],
)
def test_bad_words(gradio_there: None, capsys: pytest.CaptureFixture, words: list, said: str) -> None:
    assert _run('--port=0', *words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_it_serves_until_it_is_told_to_end(repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip('gradio')
    words = [sys.executable, str(repository / 'demo.py'), '--port=0', '--device=cpu']
    environment = {**os.environ, 'TMPDIR': str(tmp_path), 'PYTHONUNBUFFERED': '1', 'HTTP_PROXY': 'http://127.0.0.1:9'}
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True, env=environment, cwd=tmp_path) as process:
        line = process.stdout.readline()
        assert line.startswith('page: http://127.0.0.1:'), process.stderr.read()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(line.split()[1], timeout=20) as answer:
            assert answer.status == 200
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith('ugatit-page-')]
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0 and 'ended' in out and 'Traceback' not in err
    assert list(tmp_path.iterdir()) == []
