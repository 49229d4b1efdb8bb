"""From a command line to an exit code: the one place where exceptions become sentences.

A script ends with `sys.exit(run(main, FLAGS))`; `main(options)` does the work and returns an exit code or None. What
it needs of the library it imports inside `main`: then `--help` is quick, and TensorFlow's start-up messages stay away.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
import traceback
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, TextIO

from ugatit.cli import help_text
from ugatit.cli.flags import CommandFlags, HelpRequested
from ugatit.cli.hints import did_you_mean, either, sentence
from ugatit.cli.output_files import check_output_files
from ugatit.cli.tensorflow import import_tensorflow
from ugatit.errors import UserError

DONE = 0
SOME_FAILED = 1  # all other inputs are done, the failures are listed at the end
BAD_USAGE = 2  # or nothing usable
THRESHOLD_PASSED = 3  # a limit that the user asked for was passed
OUR_BUG = 70  # EX_SOFTWARE of sysexits.h, so that a crash is never taken for "some inputs failed"
INTERRUPTED = 130  # 128 + SIGINT, as shells count it
BROKEN_PIPE = 141  # 128 + SIGPIPE: the reader of our output went away (`... | head`)

_REMEDIES = {
    errno.EACCES: '; check its permissions or choose another place',
    errno.EPERM: '; check its permissions or choose another place',
    errno.EROFS: '; choose a place that can be written',
    errno.ENOENT: '; check the path',
    errno.ENOTDIR: '; a part of the path is a file, choose another',
    errno.EISDIR: '; name a file, not a folder',
    errno.ENAMETOOLONG: '; choose a shorter name',
}
MEMORY_ADVICE = 'use a smaller --batch_size or --image_size, a light model, or --device=cpu'

Main = Callable[[Any], Optional[int]]


class Command(NamedTuple):
    """One of a script's commands: `diagnose.py ranges`."""

    main: Main
    flags: CommandFlags
    needs_tensorflow: bool = True


def run(
    main: Main,
    flags: CommandFlags,
    arguments: Optional[Sequence[str]] = None,  # None: the process's own
    memory_advice: str = MEMORY_ADVICE,  # what to do when memory runs out, after 'out of memory: '
    needs_tensorflow: bool = True,  # imported quietly before `main`, never for --help or a mistyped flag
) -> int:
    """Parses, runs, and returns the exit code; a user's mistake is one sentence on stderr, our bug keeps its trace."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with _output():
            options = flags.parse(words)
            check_output_files(flags, options)
            if needs_tensorflow:
                import_tensorflow()
            code = main(options)
            sys.stdout.flush()
        return DONE if code is None else code
    except HelpRequested as help_request:
        return _print_help(str(help_request))
    except KeyboardInterrupt:
        return _say('interrupted; files that were complete are kept.', INTERRUPTED)
    except BrokenPipeError:
        return _drop_stdout()
    except Exception as error:
        explanation = explain(error, memory_advice)
        if explanation is None:
            traceback.print_exc()
            return _say('this is a bug in ugatit, not in what you gave it: please report the lines above.', OUR_BUG)
        return _say(f'error: {explanation}', BAD_USAGE)


def run_command(
    script: str,
    summary: str,
    commands: Mapping[str, Command],
    arguments: Optional[Sequence[str]] = None,
) -> int:
    """As `run`, for a script whose first word chooses the command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in commands:
        command = commands[words[0]]
        return run(command.main, command.flags, words[1:], needs_tensorflow=command.needs_tensorflow)
    listed = help_text.table({name: command.flags.summary for name, command in commands.items()})
    examples = ''.join(f'  {command.flags.examples[0]}\n' for command in commands.values() if command.flags.examples)
    text = f'Examples:\n{examples}\n' if examples else f'Usage: python {script} COMMAND [flags]\n\n'
    text += f'{summary}\n\nCommands:\n{listed}\n\n'
    text += f'python {script} COMMAND --help lists the flags of one.\n'
    if words and words[0] in ('--help', '-h'):
        return _print_help(text)
    arrived = f'{words[0]!r} arrived' if words else 'nothing arrived'
    hint = did_you_mean(words[0], commands) if words else ''
    clause = f'the first word must be a command, {either(commands)}, but {arrived}{hint}'
    return _say(f'error: {sentence(clause)}', BAD_USAGE)


def explain(error: BaseException, memory_advice: str = MEMORY_ADVICE) -> Optional[str]:
    """The sentence for an exception that the user can do something about; None for a bug of ours."""
    if isinstance(error, UserError):
        return str(error)
    if 'No space left on device' in str(error):  # TensorFlow reports a full disk as an exhausted resource
        return f'{_place(error)}the disk is full; free some space or write to another one.'
    if isinstance(error, MemoryError) or _is_tensorflow(error, 'ResourceExhaustedError'):
        return f'out of memory: {memory_advice}.'
    if isinstance(error, OSError) and error.errno is not None:
        return f'{_place(error)}{os.strerror(error.errno)}{_REMEDIES.get(error.errno, "")}.'
    if _is_tensorflow(error, 'PermissionDeniedError'):
        return f'TensorFlow may not read or write a file: {str(error).splitlines()[0]}.'
    return None


def _is_tensorflow(error: BaseException, name: str) -> bool:
    """isinstance without importing TensorFlow: where it is not loaded, the error cannot be its own."""
    tensorflow = sys.modules.get('tensorflow')
    kind = getattr(getattr(tensorflow, 'errors', None), name, ())
    return isinstance(error, kind)


def _place(error: BaseException) -> str:
    name = getattr(error, 'filename', None)
    return f'{os.fsdecode(name)}: ' if isinstance(name, (str, bytes, os.PathLike)) else ''


class _Log(logging.StreamHandler):
    """Plain lines on whatever stderr is now, on top of a progress line if one stands there."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(logging.Formatter('%(message)s'))

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    def format(self, record: logging.LogRecord) -> str:
        return ('\r\033[K' if self.stream.isatty() else '') + super().format(record)


@contextlib.contextmanager
def _output() -> Iterator[None]:
    """While a command runs: our log as plain lines on stderr and nowhere else, and any file name printable."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, 'reconfigure'):
            stream.reconfigure(errors='backslashreplace')
    log, handler = logging.getLogger('ugatit'), _Log()
    before = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        log.propagate = before[1]


def _print_help(text: str) -> int:
    try:
        print(text, end='', flush=True)
    except BrokenPipeError:
        return _drop_stdout()
    return DONE


def _say(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr, flush=True)
    return code


def _drop_stdout() -> int:
    """Python would complain once more when it flushes at exit; a closed pipe needs no words."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
