"""--help of every script: an example first, flags in groups, defaults stated, nothing of a library; examples parse."""

from __future__ import annotations

import re
import shlex
from typing import Dict

import pytest

import ablate
import demo
import diagnose
import export
import infer
import train
from ugatit.cli.commands import avatars, checkpoints
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import run_command

SCRIPTS: Dict[str, CommandFlags] = {
    'infer.py': infer.FLAGS,
    'train.py': train.FLAGS,
    'ablate.py': ablate.FLAGS,
    'export.py': export.FLAGS,
    'demo.py': demo.FLAGS,
    '-m ugatit.data': avatars.COMMAND.flags,
    '-m ugatit.checkpoints': checkpoints.COMMAND.flags,
    **{f'diagnose.py {name}': command.flags for name, command in diagnose.COMMANDS.items()},
}


@pytest.mark.parametrize('script', SCRIPTS)
def test_an_example_comes_first_and_every_example_is_legal(script: str) -> None:
    flags = SCRIPTS[script]
    assert flags.help().startswith('Examples:\n  python ')
    for example in flags.examples:
        words = shlex.split(example)
        name = script.split()
        assert words[: 1 + len(name)] == ['python', *name]
        flags.parse(words[1 + len(name) :])


@pytest.mark.parametrize('script', SCRIPTS)
def test_flags_are_grouped_and_are_ours(script: str) -> None:
    flags = SCRIPTS[script]
    assert 'Flags' not in flags.groups and flags.groups
    listed = {entry.name for entries in flags.groups.values() for entry in entries}
    assert {name for name in flags.values if name != '?' and not name.startswith('config')} <= listed
    assert not listed & {'flagfile', 'undefok', 'verbosity', 'logtostderr', 'pdb', 'helpfull'}


@pytest.mark.parametrize('script', SCRIPTS)
def test_defaults_are_stated_and_lines_fit(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('COLUMNS', '100')
    flags = SCRIPTS[script]
    body = flags.help().partition('\n\n')[2]  # examples are to be copied, whatever their length
    assert max(len(line) for line in body.splitlines() if not re.match(r'  --\S+$', line)) <= 100
    flat = ' '.join(body.split())
    for entries in flags.groups.values():
        for entry in entries:
            assert entry.help and entry.help[0] != ' ', entry.name
            if entry.default is not None:
                shown = str(entry.default).lower() if isinstance(entry.default, bool) else entry.default
                assert f'(default: {shown})' in flat, entry.name


def test_a_script_of_commands_shows_one_example_of_each(capsys: pytest.CaptureFixture) -> None:
    assert run_command('diagnose.py', 'Finds out.', diagnose.COMMANDS, ['--help']) == 0
    text = capsys.readouterr().out
    assert text.startswith('Examples:\n  python diagnose.py ranges --checkpoint=')
    assert all(
        f'  python diagnose.py {name} ' in text or f'  python diagnose.py {name}\n' in text
        for name in diagnose.COMMANDS
    )
