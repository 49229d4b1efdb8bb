"""plots.png: the curves of losses.csv in one picture, renewed at each save. Needs matplotlib, an optional package."""

from __future__ import annotations

import io
import logging
import pathlib
from typing import Dict, List, Sequence, Tuple

import numpy as np

from ugatit.data.convert import write_file
from ugatit.nn.architecture import NETWORKS
from ugatit.training.table import read_rows

_log = logging.getLogger(__name__)

_POINTS = 500  # a curve is averaged down to so many
_PANELS: Tuple[Tuple[str, Sequence[str]], ...] = (
    ('discriminators', ('D_A_loss', 'D_B_loss')),
    ('generators, adversarial', ('G_A_gan', 'G_B_gan')),
    ('cycle', ('G_A_cycle', 'G_B_cycle')),
    ('identity', ('G_A_identity', 'G_B_identity')),
    ('CAM', ('G_A_cam', 'G_B_cam')),
    ('learning rate', ('learning_rate',)),
)
_MIXED: Tuple[Tuple[str, Sequence[str]], ...] = (
    ('updates skipped so far', ('skipped_discriminators', 'skipped_generators')),
    ('loss scales', ('loss_scale_discriminators', 'loss_scale_generators', 'loss_scale_penalty')),
    ('largest range exponent', tuple(f'exponent_{network}' for network in NETWORKS)),
)
"""Only where a run has these columns."""
_LOGARITHMIC = ('loss scales',)
_told = False


def plot_losses(table: pathlib.Path, target: pathlib.Path) -> bool:
    """Draws the table; False, with one line in the log per process, where matplotlib is not installed."""
    global _told
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        if not _told:
            _log.info("plots.png is left out, because matplotlib is not installed: pip install -e '.[plots]'; the same"
                      ' curves are in %s and in TensorBoard', table.name)  # fmt: skip
        _told = True
        return False
    curves = _curves(read_rows(table))
    panels = [*_PANELS, *(panel for panel in _MIXED if any(name in curves for name in panel[1]))]
    rows = -(-len(panels) // 3)
    figure = Figure(figsize=(12, 3.5 * rows), constrained_layout=True)
    for axes, (title, names) in zip(np.ravel(figure.subplots(rows, 3)), panels):
        _draw(axes, title, names, curves)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)
    write_file(target, buffer.getvalue())
    return True


def _draw(axes: object, title: str, names: Sequence[str], curves: Dict[str, Tuple[np.ndarray, np.ndarray]]) -> None:
    for name in names:
        steps, values = curves.get(name, (np.zeros(0), np.zeros(0)))
        axes.plot(steps, values, label=name, linewidth=1, marker='.' if len(steps) < 50 else None)
    axes.set_title(title)
    if title in _LOGARITHMIC:
        axes.set_yscale('log', base=2)
    axes.set_xlabel('step')
    axes.grid(alpha=0.3)
    axes.legend(fontsize='small')


def _curves(rows: List[Dict[str, str]]) -> Dict[str, Tuple[np.ndarray, np.ndarray]]:
    """Column -> (steps, values), averaged over equal stretches where there are more than a screen shows."""
    curves = {}
    for name in {name for _, names in (*_PANELS, *_MIXED) for name in names}:
        points = [(float(row['step']), float(row[name])) for row in rows if row.get(name)]
        if points:
            curves[name] = _thinned(np.array(points).T)
    return curves


def _thinned(points: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    if points.shape[1] > _POINTS:
        points = np.stack([part.mean(axis=1) for part in np.array_split(points, _POINTS, axis=1)], axis=1)
    return points[0], points[1]
