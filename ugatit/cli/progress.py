"""How far a long job is: one line that renews itself on a terminal, a line every minute in a log file.

    for path in Progress(paths, 'pictures'):
        ...

Nothing at all for a few items.
"""

from __future__ import annotations

import shutil
import sys
import time
from typing import Callable, Collection, Generic, Iterator, Optional, TextIO, TypeVar

Item = TypeVar('Item')

_FEW = 4  # up to so many items say nothing
_TERMINAL_SECONDS = 0.2  # between two looks of the line on a terminal
_LOG_SECONDS = 60.0  # between two lines where stderr is a file or a pipe


class Progress(Generic[Item]):
    """Counts items with rate and time left on stderr: iterate over it, or `with` and `advance` for batches."""

    def __init__(
        self,
        items: Collection[Item],  # what to iterate over, or a range(n) where only `advance` is used
        noun: str,  # plural, for the line: '12 of 500 pictures'
        stream: Optional[TextIO] = None,  # None: stderr as it is now
        clock: Callable[[], float] = time.monotonic,  # seconds
    ) -> None:
        self.items, self.noun, self.total = items, noun, len(items)
        self.done = 0
        self._stream = sys.stderr if stream is None else stream
        self._live = bool(getattr(self._stream, 'isatty', lambda: False)())
        self._clock, self._start = clock, clock()
        self._last, self._width = self._start, 0

    def __iter__(self) -> Iterator[Item]:
        try:
            for item in self.items:
                yield item
                self.advance()
        finally:
            self.close()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def advance(self, count: int = 1) -> None:
        """Says that `count` more items are done; prints where enough time has passed."""
        self.done += count
        now = self._clock()
        if self.total > _FEW and now - self._last >= (_TERMINAL_SECONDS if self._live else _LOG_SECONDS):
            self._last = now
            self._write(self.line())

    def line(self) -> str:
        """'12 of 500 pictures, 3.1 pictures/s, 2 min 37 s left'."""
        seconds = self._clock() - self._start
        text = f'{self.done} of {self.total} {self.noun}'
        if not self.done or seconds <= 0:
            return text
        rate = self.done / seconds
        pace = f'{rate:.1f} {self.noun}/s' if rate >= 1 else f'{1 / rate:.1f} s each'
        return f'{text}, {pace}, {duration((self.total - self.done) / rate)} left'

    def close(self) -> None:
        """Takes the line off the terminal, so that what is printed next starts on a clean one."""
        if self._width:
            self._stream.write('\r' + ' ' * self._width + '\r')
            self._stream.flush()
            self._width = 0

    def _write(self, text: str) -> None:
        if self._live:
            text = text[: shutil.get_terminal_size().columns - 1]  # a wrapped line could not be overwritten
            self._stream.write('\r' + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + '\n')
        self._stream.flush()


def duration(seconds: float) -> str:
    """'42 s', '2 min 37 s', '1 h 05 min', '3 d 4 h'."""
    whole = int(round(seconds))
    if whole < 60:
        return f'{whole} s'
    if whole < 3600:
        return f'{whole // 60} min {whole % 60:02d} s'
    if whole < 86400:
        return f'{whole // 3600} h {whole % 3600 // 60:02d} min'
    return f'{whole // 86400} d {whole % 86400 // 3600} h'
