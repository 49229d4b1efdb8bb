"""Files asked for before they are needed: a mapped file alone is read in small pieces, each when it is already late."""

from __future__ import annotations

import os
import threading
from typing import Dict, Sequence, Tuple

from ugatit.dumps.tensors import TensorRef
from ugatit.errors import UserError

_MOST_AHEAD = 256 << 20  # bytes that may wait in the system's page cache, which is no memory of ours
_STEP = 1 << 20  # bytes asked for at a time; Linux cuts longer requests short


class ReadAhead:
    """Walks through groups of tensors on a thread of its own, never further than some bytes ahead of what is done.

    It only asks the system to read: nothing is kept here, and what cannot be asked for is left to who needs it.
    """

    def __init__(self, groups: Sequence[Sequence[TensorRef]], most: int = _MOST_AHEAD) -> None:
        self._groups, self._most = groups, most
        self._sizes: Dict[int, int] = {}  # of groups asked for or read
        self._ahead, self._stopped = 0, False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._walk, daemon=True) if hasattr(os, 'posix_fadvise') else None

    def __enter__(self) -> ReadAhead:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def done(self, number: int) -> None:
        """Group `number` was read: so much less is waiting."""
        with self._changed:
            self._ahead -= self._sizes.pop(number, 0)
            self._sizes[number] = 0  # if it was overtaken, it need not be asked for
            self._changed.notify()

    def _walk(self) -> None:
        for number, group in enumerate(self._groups):
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._ahead < self._most)
                if self._stopped:
                    return
                if number in self._sizes:
                    continue
                self._sizes[number] = size = sum(_span(ref)[1] for ref in group)
                self._ahead += size
            for ref in group:
                self._ask(ref)

    def _ask(self, ref: TensorRef) -> None:
        start, size = _span(ref)
        try:
            file = os.open(ref.path, os.O_RDONLY)
        except OSError:
            return
        try:
            end = start + min(size, self._most)
            for offset in range(start, end, _STEP):
                if self._stopped:
                    return
                os.posix_fadvise(file, offset, min(_STEP, end - offset), os.POSIX_FADV_WILLNEED)
        except OSError:
            pass
        finally:
            os.close(file)


def _span(ref: TensorRef) -> Tuple[int, int]:
    try:
        return ref.span()
    except (OSError, UserError):
        return 0, 0
