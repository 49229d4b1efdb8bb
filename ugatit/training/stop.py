"""Ctrl-C and a scheduler's SIGTERM: finish the step, save, leave. A second signal leaves at once."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from typing import Any, Iterator, Optional

_log = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether somebody asked the run to stop; the loop looks at it between steps."""

    def __init__(self) -> None:
        self.signal: Optional[int] = None  # the signal's number

    def __bool__(self) -> bool:
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """As shells count it: 130 for SIGINT, 143 for SIGTERM; 0 without a signal."""
        return 0 if self.signal is None else 128 + self.signal

    def _receive(self, number: int, frame: Any) -> None:
        del frame
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number
        _log.info('%s: the run is saved after this step and stops; once more to stop at once',
                  signal.Signals(number).name)  # fmt: skip


@contextlib.contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """While inside, both signals only set the request; outside the main thread nothing is caught."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request._receive) for number in _SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
