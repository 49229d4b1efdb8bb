"""docs/ascend.md says of options and precision modes what the code does."""

from __future__ import annotations

import re

from tests.conftest import REPOSITORY
from tests.npu_stub.options import DUMP, MEMORY, OPTIONS
from ugatit.runners.npu_options import SECTIONS
from ugatit.runners.npu_precision import MODES
from ugatit.runners.npu_session_options import SESSION_OPTIONS

TEXT = (REPOSITORY / 'docs' / 'ascend.md').read_text('utf-8')


def _rows(after: str) -> list:
    lines = TEXT.partition(after)[2].partition('\n\n')[0].splitlines()
    return [[cell.strip() for cell in line.strip('| ').split(' | ')] for line in lines if line.startswith('| `')]


def test_every_session_option_and_what_became_of_it() -> None:
    rows = {row[0].strip('`'): row[1] for row in _rows('<!-- session options -->\n')}
    expected = {name: option.now or f'the same today: `--npu_option={name}=VALUE`'
                for name, option in SESSION_OPTIONS.items()}  # fmt: skip
    assert rows == expected


def test_every_precision_mode() -> None:
    rows = {row[0].strip('`'): (row[1].strip('`'), row[2], row[3]) for row in _rows('| `--precision` |')}
    assert rows == {name: (mode.precision_mode, mode.on_910, mode.on_a2) for name, mode in MODES.items()}


def test_options_that_are_handed_over_exist_today() -> None:
    """By the stand-in's own table, which was written apart from the runner's."""
    legal = {**OPTIONS, **DUMP, **MEMORY}
    ours = {name for table in SECTIONS.values() for name in table}
    assert ours <= set(legal)
    for name, option in SESSION_OPTIONS.items():
        assert not option.handed_over or name in ours, name
    assert {'hcom_multi_mode', 'graph_memory_max_size', 'variable_memory_max_size', 'graph_run_mode',
            'variable_format_optimize'} == set(legal) - ours  # fmt: skip


def test_it_says_that_nothing_has_run_on_an_npu() -> None:
    assert re.search(r'\*\*Nothing on this page has run on an NPU\.\*\*', TEXT)
