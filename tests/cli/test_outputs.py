"""No command writes over what is not its own: asked of every output flag, before TensorFlow would start."""

from __future__ import annotations

import os
import pathlib
import runpy
import sys
from typing import Any, Callable, Dict, List, NamedTuple

import pytest

from ugatit.cli import main as cli
from ugatit.cli import output_files
from ugatit.cli.commands import checkpoints, compare, dump, model_flags, overflow, ranges, stress
from ugatit.cli.flags import CommandFlags
from ugatit.data.convert import write_file
from ugatit.data.reports import HTML_MARK, SVG_MARK, write_json_report
from ugatit.dumps.table import csv_text
from ugatit.errors import UserError
from ugatit.ranges import RangePlan

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = {name: runpy.run_path(str(REPOSITORY / f'{name}.py'))['FLAGS'] for name in ('infer', 'export')}
COMMANDS: Dict[str, CommandFlags] = {
    **{module.__name__.rpartition('.')[2]: module.FLAGS for module in (checkpoints, compare, dump, overflow, ranges)},
    'stress': stress.FLAGS,
    **SCRIPTS,
}
ALL = [(command, flag) for command, flags in COMMANDS.items() for flag in flags.outputs]
THERE = {  # what may lie where a report is asked for
    'a picture': b'\x89PNG\r\n\x1a\n',
    'a JSON of others': b'{"name": "site", "ugatit": "report"}',
    'a JSON list': b'[]',
    'a sidecar': b'{\n "step": 5\n}',
    'a page of others': b'<!DOCTYPE html>\n<html lang="en"><p>ugatit diagnose</p>',
    'a gallery of ours': b'<!DOCTYPE html>\n<meta name="generator" content="ugatit">',
    'a sheet of others': b'Index,Name\n1,a\n',
    'words': b'shopping',
}


class Refusal(NamedTuple):
    """Where a report is asked for and what is said."""

    place: Callable[[pathlib.Path], Any]
    said: str


def _fifo(root: pathlib.Path) -> pathlib.Path:
    os.mkfifo(root / 'pipe')
    return root / 'pipe'


def _link(root: pathlib.Path) -> pathlib.Path:
    (root / 'link').symlink_to('/dev/null')
    return root / 'link'


def _index(root: pathlib.Path) -> pathlib.Path:
    (root / 'model').mkdir()
    (root / 'model' / 'UGATIT.model-5.index').write_bytes(b'x')
    return root / 'model' / 'UGATIT.model-5.index'


def _file(root: pathlib.Path) -> pathlib.Path:
    (root / 'a').write_bytes(b'')
    return root / 'a' / 'report'


REFUSALS = {
    'a folder': Refusal(lambda root: root, 'must be a file, but .* is a folder'),
    'a new folder': Refusal(lambda root: f'{root}/new/', 'must be a file, but .* is a folder'),
    'a device': Refusal(lambda root: '/dev/null', 'an ordinary file, but /dev/null is a device'),
    'a pipe': Refusal(_fifo, 'an ordinary file, but .*pipe is a device, a pipe'),
    'a link to a device': Refusal(_link, 'an ordinary file, but .*link is a device'),
    'below a file': Refusal(_file, 'cannot be made, because .*a is a file'),
    "a checkpoint's file": Refusal(_index, 'lies in the folder of a checkpoint'),
    'a new sidecar': Refusal(lambda root: _index(root).with_suffix('.json'), 'lies in the folder of a checkpoint'),
    'the state file': Refusal(lambda root: _index(root).with_name('checkpoint'), 'lies in the folder of a checkpoint'),
}


def _check(flags: CommandFlags, *words: str) -> None:
    output_files.check_output_files(flags, flags.parse(words))


def _own(kind: str, path: pathlib.Path) -> None:
    """Writes what the command itself would."""
    if kind == 'json':
        write_json_report(path, {'a': 1})
    elif kind == 'plan':
        RangePlan({'generator_B': {'stem': 1}}).save(path)
    else:
        head = {'html': f'<html><head>{HTML_MARK}', 'svg': f'<svg>{SVG_MARK}', 'csv': csv_text([])}[kind]
        path.write_text(head, encoding='utf-8')


def test_every_flag_for_a_file_is_looked_at() -> None:
    """A new --json defined with `path` would escape all this."""
    files = {'json', 'html', 'svg', 'csv', 'save_plan'}
    found = [(command, flag) for command, flags in COMMANDS.items() for flag in files if flag in flags.values]
    assert {pair for pair in found if pair != ('infer', 'html')} == set(ALL)  # infer's --html is a switch


@pytest.mark.parametrize('case', REFUSALS)
@pytest.mark.parametrize(('command', 'flag'), ALL)
def test_a_place_that_is_no_file_of_its_own(command: str, flag: str, case: str, tmp_path: pathlib.Path) -> None:
    refusal = REFUSALS[case]
    with pytest.raises(UserError, match=f'--{flag}.*{refusal.said}'):
        _check(COMMANDS[command], f'--{flag}={refusal.place(tmp_path)}')


@pytest.mark.parametrize('content', THERE)
@pytest.mark.parametrize(('command', 'flag'), ALL)
def test_somebody_elses_file_is_kept(command: str, flag: str, content: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'x').write_bytes(THERE[content])
    with pytest.raises(UserError, match=f'^--{flag}=.* exists already and is not .* of ours; give another name'):
        _check(COMMANDS[command], f'--{flag}={tmp_path / "x"}')


@pytest.mark.parametrize(('command', 'flag'), ALL)
def test_our_own_is_replaced_and_no_other_kind(command: str, flag: str, tmp_path: pathlib.Path) -> None:
    flags = COMMANDS[command]
    for kind in ('json', 'html', 'svg', 'csv', 'plan'):
        _own(kind, tmp_path / kind)
        if kind == flags.outputs[flag]:
            _check(flags, f'--{flag}={tmp_path / kind}')
        else:
            with pytest.raises(UserError, match='exists already'):
                _check(flags, f'--{flag}={tmp_path / kind}')
    if flags.outputs[flag] == 'html':  # pages written before the mark became that of every report
        (tmp_path / 'old').write_text('<html><head><meta name="generator" content="ugatit diagnose">')
        _check(flags, f'--{flag}={tmp_path / "old"}')
    (tmp_path / 'empty').touch()
    _check(flags, f'--{flag}={tmp_path / "empty"}')
    _check(flags, f'--{flag}={tmp_path / "new" / "folder" / "file"}')


@pytest.mark.parametrize(
    ('command', 'words', 'said'),
    [
        ('ranges', ['--json={r}/a', '--html={r}/a'], '--json=.*a is what --html names, too'),
        ('ranges', ['--json={r}/a', '--html={r}/b/../a'], 'is what --html names, too'),
        ('ranges', ['--json={r}/a', '--html={r}/a/b'], '--html=.* needs a folder of that name'),
        ('ranges', ['--json={r}/new.png', '--input={r}/new.png'], 'is what --input names, too'),
        ('export', ['--json={r}/plan', '--ranges={r}/plan'], 'exists already'),
        ('infer', ['--json={r}/plan', '--ranges={r}/plan'], 'exists already'),
        ('export', ['--json={r}/report', '--ranges={r}/report'], 'is what --ranges names, too'),
        ('infer', ['--json={r}/report', '--variants={r}/report'], 'is what --variants names, too'),
        ('stress', ['--json={r}/new', '--output={r}/new'], 'is what --output names, too'),
        ('checkpoints', ['--json={r}/new', '--slim={r}/new'], 'is what --slim names, too'),
        ('ranges', ['--save_plan={r}/plan', '--input={r}/plan'], 'is what --input names, too'),
    ],
)
def test_two_flags_with_one_file(command: str, words: List[str], said: str, tmp_path: pathlib.Path) -> None:
    _own('plan', tmp_path / 'plan')
    _own('json', tmp_path / 'report')
    with pytest.raises(UserError, match=said):
        _check(COMMANDS[command], *(word.format(r=tmp_path) for word in words))


def test_the_check_comes_before_tensorflow_and_the_command(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(cli, 'import_tensorflow', lambda: pytest.fail('TensorFlow was imported'))
    assert cli.run(lambda _: pytest.fail('it ran'), ranges.FLAGS, [f'--json={tmp_path}']) == cli.BAD_USAGE
    assert capsys.readouterr().err.count('\n') == 1


def test_a_journal_of_others_is_kept(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'r.csv.partial').write_text('download')
    with pytest.raises(UserError, match='not an interrupted comparison of ours'):
        compare._journal(compare.FLAGS.parse([f'--csv={tmp_path / "r.csv"}']))
    (tmp_path / 'r.csv.partial').write_text('{"fingerprint": "0a"}\n{"sequence"')
    assert compare._journal(compare.FLAGS.parse([f'--csv={tmp_path / "r.csv"}'])) is not None


def _save_plan(path: Any) -> None:
    RangePlan({'generator_B': {'stem': 1}}).save(path)


WRITERS: Dict[str, Callable[[Any], None]] = {'write_file': lambda path: write_file(path, b'x'), 'plan': _save_plan}


@pytest.mark.parametrize('writer', WRITERS)
def test_a_special_file_is_never_replaced(writer: str, tmp_path: pathlib.Path) -> None:
    """Renaming over /dev/stdout as root would take it from the whole system."""
    for place in (_fifo(tmp_path), _link(tmp_path), tmp_path):
        before = os.lstat(place)
        with pytest.raises(UserError, match='ordinary file'):
            WRITERS[writer](place)
        assert os.lstat(place).st_ino == before.st_ino
    assert sorted(path.name for path in tmp_path.iterdir()) == ['link', 'pipe']


@pytest.mark.parametrize('writer', WRITERS)
def test_a_link_to_a_file_stays_a_link(writer: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'real').mkdir()
    (tmp_path / 'link').symlink_to('real/file')
    for _ in range(2):  # dangling, then there
        WRITERS[writer](tmp_path / 'link')
        assert (tmp_path / 'link').is_symlink()
        assert (tmp_path / 'real' / 'file').stat().st_size > 0
    assert [path.name for path in (tmp_path / 'real').iterdir()] == ['file']


@pytest.mark.parametrize('writer', WRITERS)
def test_folders_are_made_and_errors_name_what_was_asked_for(writer: str, tmp_path: pathlib.Path) -> None:
    WRITERS[writer](tmp_path / 'a' / 'b' / 'p.json')
    assert [path.name for path in (tmp_path / 'a' / 'b').iterdir()] == ['p.json']
    with pytest.raises(UserError) as caught:
        WRITERS[writer](tmp_path / 'a' / 'b' / 'p.json' / 'q.json')
    assert str(tmp_path / 'a' / 'b' / 'p.json' / 'q.json') in str(caught.value)
    assert '.tmp' not in str(caught.value)


def test_a_file_that_stdout_goes_to_is_not_replaced(tmp_path: pathlib.Path) -> None:
    """`... --json=/dev/stdout > log`: the log is an ordinary file, and what was printed would be lost."""
    code = (
        'from ugatit.data.convert import write_file; from ugatit.errors import UserError\n'
        'try: write_file("/dev/stdout", b"x")\nexcept UserError as error: print(error)'
    )
    log = os.open(tmp_path / 'log', os.O_WRONLY | os.O_CREAT)
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, '-c', code],
        {**os.environ, 'PYTHONPATH': str(REPOSITORY)},
        file_actions=[(os.POSIX_SPAWN_DUP2, log, 1)],
    )
    os.waitpid(pid, 0)
    os.close(log)
    assert 'is where this command prints to' in (tmp_path / 'log').read_text()


def test_the_mark_names_no_single_command() -> None:
    """Reports of ablate.py and of dumps carry it too."""
    assert 'diagnose' not in HTML_MARK


def test_what_was_written_is_said(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    model_flags.write_json(str(tmp_path / 'a.json'), {'a': 1})
    model_flags.write_text(str(tmp_path / 'a.html'), 'page', lambda: HTML_MARK)
    model_flags.write_text(None, 'page', lambda: pytest.fail('drawn for nobody'))
    assert capsys.readouterr().out.splitlines() == [f'report: {tmp_path / "a.json"}', f'page: {tmp_path / "a.html"}']
