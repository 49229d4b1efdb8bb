"""How far a training run is: after 20 steps, then every so many seconds, one line with speed, time left and losses."""

from __future__ import annotations

import logging
import time
from typing import Callable, Mapping

from ugatit.cli.progress import duration

_log = logging.getLogger(__name__)

_FIRST = 20  # steps after which a first line comes
_SECONDS = 30.0  # between two lines


class Pace:
    """Called after each step. The first step of a session is not counted: it is mostly compilation."""

    def __init__(self, done: int, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._begin, self._total, self._clock = done, total, clock
        self._counted, self._since = done, clock()
        self._last = self._since

    def __call__(self, done: int, losses: Mapping[str, float]) -> None:
        now = self._clock()
        if done == self._begin + 1:
            self._counted, self._since = done, now
            return
        if done - self._begin == _FIRST or done == self._total or now - self._last >= _SECONDS:
            self._last = now
            _log.info('%s', self.line(done, losses))

    def line(self, done: int, losses: Mapping[str, float]) -> str:
        """'step 1200 of 1000000, 2.41 it/s, 4 d 18 h left, D 1.02, G 1456.7, cycle 3.1, identity 2.9, cam 1386.3'."""
        parts = [f'step {done} of {self._total}']
        seconds = self._clock() - self._since
        if done > self._counted and seconds > 0:
            rate = (done - self._counted) / seconds
            speed = f'{rate:.2f} it/s' if rate >= 0.1 else f'{1 / rate:.1f} s/it'
            parts += [speed, f'{duration((self._total - done) / rate)} left']
        return ', '.join(parts + _terms(losses))


def _terms(losses: Mapping[str, float]) -> list:
    shown = [('D', 'Discriminator_loss'), ('G', 'Generator_loss')]
    lines = [f'{label} {losses[name]:.4g}' for label, name in shown if name in losses]
    for term in ('cycle', 'identity', 'cam'):
        if f'G_A_{term}' in losses:
            lines.append(f'{term} {losses[f"G_A_{term}"] + losses[f"G_B_{term}"]:.4g}')
    return lines
