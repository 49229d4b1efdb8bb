"""The text of `--help`: examples first, then what the command does, then its flags in groups with their defaults."""

from __future__ import annotations

import shutil
import textwrap
from typing import Any, Iterable, List, Mapping, NamedTuple, Sequence

_COLUMN = 28  # where explanations start; longer flags get a line of their own


class Entry(NamedTuple):
    """One flag as the help shows it."""

    name: str
    value: str  # what stands after '=': 'PATH', 'N', 'a2b|b2a'; empty for a boolean
    default: Any  # None: nothing is said, the explanation tells what happens then
    help: str


def render(script: str, summary: str, examples: Sequence[str], groups: Mapping[str, Iterable[Entry]]) -> str:
    """The whole text, wrapped to the terminal's width."""
    width = max(60, min(120, shutil.get_terminal_size((100, 24)).columns))
    blocks = []
    if examples:
        blocks.append('\n'.join(['Examples:', *(f'  {line}' for line in examples)]))
    blocks.append(textwrap.fill(summary, width))
    for title, entries in groups.items():
        blocks.append('\n'.join([f'{title}:', *(_flag(entry, width) for entry in entries)]))
    if not examples:
        blocks.insert(0, f'Usage: python {script} [flags]')
    return '\n\n'.join(blocks) + '\n'


def table(rows: Mapping[str, str]) -> str:
    """Names with explanations, as the flags are laid out: the list of a script's commands."""
    width = max(60, min(120, shutil.get_terminal_size((100, 24)).columns))
    return '\n'.join(_row(name, text, width) for name, text in rows.items())


def _flag(entry: Entry, width: int) -> str:
    if isinstance(entry.default, bool):
        head = f'--[no]{entry.name}'
    else:
        head = f'--{entry.name}={entry.value}'
    return _row(head, f'{entry.help}{_default(entry.default)}', width)


def _default(default: Any) -> str:
    if default is None:
        return ''
    shown = str(default).lower() if isinstance(default, bool) else default
    return f' (default: {shown})'


def _row(head: str, text: str, width: int) -> str:
    indent = ' ' * _COLUMN
    lines: List[str] = textwrap.wrap(text, width - _COLUMN, break_on_hyphens=False, break_long_words=False)
    if len(head) + 4 > _COLUMN:
        return '\n'.join([f'  {head}', *(indent + line for line in lines)])
    return '\n'.join([f'  {head}'.ljust(_COLUMN) + lines[0], *(indent + line for line in lines[1:])])
