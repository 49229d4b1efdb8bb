"""Exit codes and sentences: what a command's exceptions become."""

from __future__ import annotations

import errno
import logging
import os
import pathlib
import re
import subprocess
import sys
from typing import Any, Optional

import pytest

from ugatit.cli import main as cli
from ugatit.cli.flags import CommandFlags
from ugatit.errors import UserError


def _run(error: Optional[BaseException] = None, code: Optional[int] = None, words: tuple = ()) -> int:
    def main(options: Any) -> Optional[int]:
        if error is not None:
            raise error
        return code

    return cli.run(main, CommandFlags('draw.py', 'Draws.'), list(words), needs_tensorflow=False)


@pytest.mark.parametrize(('code', 'expected'), [(None, 0), (0, 0), (1, cli.SOME_FAILED), (3, cli.THRESHOLD_PASSED)])
def test_a_command_chooses_its_exit_code(code: Optional[int], expected: int) -> None:
    assert _run(code=code) == expected


@pytest.mark.parametrize(
    ('error', 'sentence'),
    [
        (UserError('expected a, got b; do c.'), 'expected a, got b; do c.'),
        (OSError(errno.ENOSPC, 'No space left on device', 'out/a.png'), 'out/a.png: the disk is full; free some'),
        (RuntimeError('x.data: No space left on device'), 'the disk is full; free some space'),
        (PermissionError(errno.EACCES, 'x', 'out'), 'out: Permission denied; check its permissions'),
        (FileNotFoundError(errno.ENOENT, 'x', b'caf\xc3\xa9'), 'café: No such file or directory; check the path.'),
        (NotADirectoryError(errno.ENOTDIR, 'x', pathlib.Path('a/b')), 'a part of the path is a file'),
        (OSError(errno.EIO, 'x'), 'Input/output error.'),
        (MemoryError(), 'out of memory: use a smaller --batch_size'),
    ],
)
def test_a_users_mistake_is_one_sentence(capsys: pytest.CaptureFixture, error: Exception, sentence: str) -> None:
    assert _run(error) == cli.BAD_USAGE
    stdout, stderr = capsys.readouterr()
    assert stdout == ''
    assert stderr.startswith('error: ')
    assert sentence in stderr
    assert stderr.count('\n') == 1


def test_tensorflows_out_of_memory_is_explained(capsys: pytest.CaptureFixture) -> None:
    tf = pytest.importorskip('tensorflow')
    assert _run(tf.errors.ResourceExhaustedError(None, None, 'OOM when allocating tensor')) == cli.BAD_USAGE
    assert 'out of memory: use a smaller --batch_size or --image_size' in capsys.readouterr().err


@pytest.mark.parametrize('error', [KeyError('x'), OSError('no number'), AssertionError()])
def test_our_bug_keeps_its_traceback(capsys: pytest.CaptureFixture, error: Exception) -> None:
    assert _run(error) == cli.OUR_BUG
    stderr = capsys.readouterr().err
    assert 'Traceback' in stderr
    assert stderr.rstrip().endswith('please report the lines above.')


def test_interruption(capsys: pytest.CaptureFixture) -> None:
    assert _run(KeyboardInterrupt()) == cli.INTERRUPTED
    assert capsys.readouterr().err.startswith('interrupted')


def test_a_bad_flag_is_bad_usage_and_help_is_none(capsys: pytest.CaptureFixture) -> None:
    assert _run(AssertionError('must not run'), words=('--nonsense',)) == cli.BAD_USAGE
    assert capsys.readouterr().err.startswith('error: draw.py has no flag --nonsense')
    assert _run(AssertionError('must not run'), words=('--help',)) == cli.DONE
    assert capsys.readouterr().out.startswith('Usage: python draw.py')


def test_the_log_is_shown_once_and_only_while_a_command_runs(capsys: pytest.CaptureFixture) -> None:
    log = logging.getLogger('ugatit.somewhere')
    cli.run(lambda _: log.info('device: cpu'), CommandFlags('draw.py', ''), [], needs_tensorflow=False)
    log.info('unheard')
    assert capsys.readouterr().err == 'device: cpu\n'


def test_commands_are_the_first_word(capsys: pytest.CaptureFixture) -> None:
    commands = {
        name: cli.Command(lambda _, code=code: code, CommandFlags(f'look.py {name}', f'Looks at {name}.'), False)
        for name, code in (('ranges', 0), ('compare', 3))
    }
    assert cli.run_command('look.py', 'Looks.', commands, ['ranges']) == 0
    assert cli.run_command('look.py', 'Looks.', commands, ['compare']) == 3
    assert cli.run_command('look.py', 'Looks.', commands, ['--help']) == 0
    listing = capsys.readouterr().out
    assert 'ranges' in listing
    assert 'Looks at compare.' in listing
    assert cli.run_command('look.py', 'Looks.', commands, ['range']) == 2
    assert "ranges or compare, but 'range' arrived; did you mean ranges?" in capsys.readouterr().err
    assert cli.run_command('look.py', 'Looks.', commands, []) == 2
    assert 'but nothing arrived.' in capsys.readouterr().err


_SCRIPT = """
import sys
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import run
def main(options):
    import tensorflow
    print('version', tensorflow.__version__)
    print('odd name: ' + bytes([0x66, 0xff]).decode('utf8', 'surrogateescape'))
sys.exit(run(main, CommandFlags('draw.py', 'Draws.')))
"""


def _subprocess(repository: pathlib.Path, words: str = '', **environment: str) -> subprocess.CompletedProcess:
    base = {name: value for name, value in os.environ.items() if name != 'TF_CPP_MIN_LOG_LEVEL'}
    command = [sys.executable, '-c', _SCRIPT, *words.split()]
    return subprocess.run(command, env={**base, **environment}, cwd=repository, capture_output=True, text=True)


def test_tensorflow_starts_silently_and_odd_file_names_print(repository: pathlib.Path) -> None:
    done = _subprocess(repository)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ''
    assert 'odd name: f\\udcff' in done.stdout


@pytest.mark.parametrize('program', ['infer.py', 'train.py', 'demo.py', '-m ugatit.data', '-m ugatit.checkpoints'])
def test_another_python_is_told_so(repository: pathlib.Path, program: str) -> None:
    """Without any package, as a system's own Python is."""
    command = [sys.executable, '-S', *program.split(), '--help']
    done = subprocess.run(command, env={'PATH': ''}, cwd=repository, capture_output=True, text=True)
    assert done.returncode == cli.BAD_USAGE and done.stdout == ''
    assert re.fullmatch(
        r'error: this Python has not what ugatit needs [(]absl, .*PIL[)]: .*[.]venv/bin/python.*[.]\n', done.stderr
    )


def test_a_missing_tensorflow_is_a_sentence(repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'tensorflow.py').write_text('raise ModuleNotFoundError("no", name="tensorflow")')
    done = _subprocess(repository, PYTHONPATH=str(tmp_path))
    assert done.returncode == cli.BAD_USAGE
    assert done.stderr.startswith('error: TensorFlow is not installed in this Python environment; install it with')


def test_an_old_tensorflow_is_a_sentence(repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'tensorflow.py').write_text('__version__ = "1.15.5"')
    done = _subprocess(repository, PYTHONPATH=str(tmp_path))
    assert done.returncode == cli.BAD_USAGE
    assert done.stderr.startswith('error: TensorFlow 2.6 or newer is needed, but 1.15.5 is installed')


def test_what_a_failing_import_wrote_is_shown(repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'tensorflow.py').write_text('import os; os.write(2, b"no AVX here"); raise RuntimeError("broken")')
    done = _subprocess(repository, PYTHONPATH=str(tmp_path))
    assert done.returncode == cli.OUR_BUG
    assert 'no AVX here' in done.stderr
    assert 'RuntimeError: broken' in done.stderr


def test_help_does_not_wait_for_tensorflow(repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'tensorflow.py').write_text('raise AssertionError("imported")')
    assert _subprocess(repository, '--help', PYTHONPATH=str(tmp_path)).returncode == cli.DONE


def test_a_closed_pipe_is_silent(repository: pathlib.Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, '-c', _SCRIPT, '--help']
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, cwd=repository)
    os.close(writer)
    assert (done.returncode, done.stderr) == (cli.BROKEN_PIPE, b'')
