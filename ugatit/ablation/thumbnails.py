"""Small pictures inside the report: results, and maps of where they differ from the reference."""

from __future__ import annotations

import base64
import html
import io

import numpy as np
from PIL import Image

from ugatit.ablation.scores import difference

SIDE = 128  # pixels, of the longer edge
FULL_SCALE = 64  # levels of 255 that are shown as the brightest difference
_STOPS = np.array([[0, 0, 4], [87, 16, 110], [188, 55, 84], [249, 142, 9], [252, 255, 164]], np.float64)
_QUALITY = 85


def figure(picture: np.ndarray, alt: str) -> str:
    """An img element of uint8 [H, W, 3]."""
    small = Image.fromarray(picture)
    small.thumbnail((SIDE, SIDE), Image.BILINEAR)
    buffer = io.BytesIO()
    small.save(buffer, 'JPEG', quality=_QUALITY)
    data = base64.b64encode(buffer.getvalue()).decode('ascii')
    size = f'width="{small.width}" height="{small.height}"'
    return f'<img src="data:image/jpeg;base64,{data}" alt="{html.escape(alt)}" {size} loading="lazy">'


def difference_map(result: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """uint8 [H, W, 3]: black where equal, by violet and orange to pale yellow at FULL_SCALE levels and more."""
    share = np.clip(difference(result, reference) / FULL_SCALE, 0.0, 1.0) * (len(_STOPS) - 1)
    below = np.minimum(share.astype(int), len(_STOPS) - 2)
    part = (share - below)[..., None]
    return np.rint(_STOPS[below] * (1 - part) + _STOPS[below + 1] * part).astype(np.uint8)
