"""What a run writes beside its checkpoints, all below the work directory."""

from __future__ import annotations

import contextlib
import json
import pathlib
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ugatit.data.convert import save_png, write_file
from ugatit.training.events import EventFile
from ugatit.training.plots import plot_losses
from ugatit.training.samples import Strip
from ugatit.training.table import LossTable

CONFIG, VARIANTS, LOSSES, PLOTS, SAMPLES, EVENTS = (
    'config.json', 'variants.txt', 'losses.csv', 'plots.png', 'samples', 'tensorboard',
)  # fmt: skip
_FLUSH_SECONDS = 10.0  # so old TensorBoard's curves are at most

_DOMAIN_TERMS = ('gan', 'cycle', 'identity', 'cam', 'loss')
TERMS: Tuple[str, ...] = (
    *(f'D_{domain}_{term}' for domain in 'AB' for term in ('gan', 'penalty', 'loss')),
    'reg_discriminator',
    'Discriminator_loss',
    *(f'G_{domain}_{term}' for domain in 'AB' for term in _DOMAIN_TERMS),
    'reg_generator',
    'Generator_loss',
)
"""The table's columns: the official terms of training/objective.py; TensorBoard gets parts of them too."""


def draw_missing_plots(workdir: pathlib.Path) -> None:
    """Of a finished run without a picture of its curves: matplotlib may have come later."""
    if (workdir / LOSSES).exists() and not (workdir / PLOTS).exists():
        plot_losses(workdir / LOSSES, workdir / PLOTS)


class Records:
    """Table, TensorBoard, sample strips and plots of one session."""

    def __init__(self, workdir: pathlib.Path, steps_done: int, more: Sequence[str] = ()) -> None:
        """`more`: columns beside the losses, such as the loss scales of mixed precision."""
        self._workdir, self._more = workdir, tuple(more)
        self._table = LossTable(workdir / LOSSES, [*TERMS, *more], steps_done)
        self._events = EventFile(workdir / EVENTS, steps_done)
        self._flushed = time.monotonic()

    def losses(
        self, step: int, rate: float, losses: Mapping[str, float], details: Optional[Mapping[str, float]] = None
    ) -> None:
        """One logged step, `step` being how many are done after it. `details` go to TensorBoard alone."""
        self._table.write(step, rate, losses)
        groups = {name: 'numerics' if name in self._more else 'losses' for name in losses}
        scalars = {f'{groups[name]}/{name}': value for name, value in losses.items()}
        self._events.scalars(step, {**scalars, **(details or {}), 'learning_rate': rate})
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.flush()

    def strips(self, step: int, strips: Tuple[Strip, ...], rho: Dict[str, np.ndarray]) -> None:
        """Sample strips as PNG and in TensorBoard, rho as histograms."""
        for strip in strips:
            save_png(self._workdir / SAMPLES / f'{strip.direction}_{step:08d}.png', strip.pixels)
            self._events.image(step, f'samples/{strip.direction}', strip.pixels)
        self._events.histograms(step, rho)
        self._events.flush()

    def plots(self) -> None:
        plot_losses(self._workdir / LOSSES, self._workdir / PLOTS)

    def flush(self) -> None:
        self._table.flush()
        self._events.flush()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Never raises: a full disk has been told already."""
        for part in (self._table, self._events):
            with contextlib.suppress(Exception):
                part.close()


class NoRecords:
    """What a worker writes that is not the chief: nothing."""

    def losses(self, step: int, rate: float, losses: Mapping[str, float], details: Any = None) -> None: ...

    def strips(self, step: int, strips: Tuple[Strip, ...], rho: Dict[str, np.ndarray]) -> None: ...

    def plots(self) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def write_settings(workdir: pathlib.Path, settings: Mapping[str, Any], variants: List[str]) -> None:
    """The resolved config and the resolved table of variants."""
    write_file(workdir / CONFIG, (json.dumps(settings, indent=1) + '\n').encode())
    write_file(workdir / VARIANTS, ('\n'.join(variants) + '\n').encode())
