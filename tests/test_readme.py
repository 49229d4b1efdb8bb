"""The README's commands: there, in the shape that .ci/run runs, and naming only what exists."""

from __future__ import annotations

import pathlib
import re
import shlex
from typing import List

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ('README.md', 'README.zh.md', 'CONTRIBUTING.md', 'CHANGELOG.md')
INSTALL = re.compile(r"python3 -m venv \.venv && \.venv/bin/pip install -e '\.\[([a-z,]+)\]' && (.+)")


def _readme() -> str:
    return (REPOSITORY / 'README.md').read_text('utf-8')


def _commands(name: str) -> List[str]:
    blocks = re.findall(rf'^<!-- command: {name} -->\n```bash\n(.*?)^```', _readme(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize(
    ('name', 'extras', 'last'),
    [
        (
            'run',
            'cpu',
            '.venv/bin/python infer.py --output=results'
            ' && .venv/bin/python diagnose.py strip --output=results/float16.png',
        ),
        ('test', 'cpu,test', '.venv/bin/python -m pytest'),
    ],
)
def test_one_line_sets_up_and_does_the_job(name: str, extras: str, last: str) -> None:
    commands = _commands(name)
    assert len(commands) == 1
    match = INSTALL.fullmatch(commands[0])
    assert match, commands[0]
    assert match.groups() == (extras, last)


def test_extras_in_commands_exist() -> None:
    project = (REPOSITORY / 'pyproject.toml').read_text('utf-8')
    extras = set(re.findall(r'^([a-z]+) = \[$', project.split('[project.optional-dependencies]')[1], re.MULTILINE))
    for document in DOCUMENTS:
        text = (REPOSITORY / document).read_text('utf-8')
        for named in re.findall(r"'?\.\[([a-z,]+)\]", text):
            assert set(named.split(',')) <= extras, (document, named)


@pytest.mark.parametrize('document', DOCUMENTS)
def test_files_that_are_named_exist(document: str) -> None:
    text = (REPOSITORY / document).read_text('utf-8')
    linked = re.findall(r'\]\((?!https?:)([^)#]+)\)', text)
    scripts = [word for line in _fenced(text) for word in shlex.split(line, comments=True) if word.endswith('.py')]
    missing = [name for name in linked + scripts if not (REPOSITORY / name).exists()]
    assert missing == []


def _fenced(text: str) -> List[str]:
    return [
        line
        for block in re.findall(r'^```bash\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]


def test_the_limits_are_stated() -> None:
    text = ' '.join(_readme().split())
    assert 'The real selfie2anime weights were never at hand' in text
    assert 'Nothing here has run on an Ascend NPU' in text
