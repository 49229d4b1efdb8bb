"""The progress line: silent for a few items, a renewing line on a terminal, sparse lines in a file."""

from __future__ import annotations

import io
from typing import Iterator, List

import pytest

from ugatit.cli.progress import Progress, duration


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _clock(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


def _written(count: int, stream: io.StringIO, seconds_per_look: float) -> str:
    ticks = _clock(seconds_per_look)
    items: List[int] = list(Progress(range(count), 'pictures', stream, lambda: next(ticks)))
    assert items == list(range(count))
    return stream.getvalue()


def test_a_few_items_say_nothing() -> None:
    assert _written(4, _Terminal(), 100.0) == ''
    assert _written(0, _Terminal(), 100.0) == ''


def test_a_terminal_gets_one_line_that_is_taken_away_at_the_end() -> None:
    text = _written(10, _Terminal(), 1.0)
    assert '\n' not in text
    assert text.startswith('\r1 of 10 pictures, ')
    assert text.endswith(' \r')


def test_a_file_gets_few_lines() -> None:
    lines = _written(100, io.StringIO(), 1.0).splitlines()
    assert 1 <= len(lines) <= 4
    assert all('\r' not in line for line in lines)


def test_the_line_says_rate_and_time_left() -> None:
    now = [0.0]
    progress = Progress(range(500), 'pictures', io.StringIO(), lambda: now[0])
    assert progress.line() == '0 of 500 pictures'
    now[0] = 50.0
    with progress:
        progress.advance(100)
    assert progress.line() == '100 of 500 pictures, 2.0 pictures/s, 3 min 20 s left'
    now[0] = 400.0
    assert progress.line() == '100 of 500 pictures, 4.0 s each, 26 min 40 s left'


def test_a_narrow_terminal_is_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('COLUMNS', '20')
    longest = max(_written(10, _Terminal(), 1.0).split('\r'), key=len)
    assert len(longest) <= 19


@pytest.mark.parametrize(
    ('seconds', 'text'),
    [(0.4, '0 s'), (59.4, '59 s'), (157, '2 min 37 s'), (3900, '1 h 05 min'), (273600, '3 d 4 h')],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text
