"""The embedded picture: a portrait drawn by this file, so that a fresh clone has something to translate."""

from __future__ import annotations

from typing import Tuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

NAME = 'portrait.png'
SIZE = 256  # pixels, both edges

_FINE = 4  # drawn so many times larger and reduced, which smooths the edges
_SKY, _GROUND = np.array([176.0, 205.0, 226.0]), np.array([246.0, 226.0, 200.0])
_HAIR, _SKIN, _NECK, _BLUSH, _LIPS = '#4a2f27', '#f0c3a2', '#dcaa88', '#e59a86', '#b8524f'
_IRIS, _SHIRT, _COLLAR = '#3f6b52', '#3d5a80', '#e8eef4'


def portrait() -> np.ndarray:
    """uint8 [256, 256, 3]: a smiling face in front of a soft background; the same pixels at every call."""
    image = _background()
    draw = ImageDraw.Draw(image)
    _body(draw)
    _head(draw)
    for centre in (103, 153):
        _eye(draw, centre)
    _mouth(draw)
    image = _with_light(image.resize((SIZE, SIZE), Image.LANCZOS))
    return np.asarray(image)


def _background() -> Image.Image:
    down = np.linspace(0.0, 1.0, SIZE * _FINE)[:, None, None]
    rows = np.broadcast_to(_SKY * (1 - down) + _GROUND * down, (SIZE * _FINE, SIZE * _FINE, 3))
    return Image.fromarray(np.rint(rows).astype(np.uint8))


def _body(draw: ImageDraw.ImageDraw) -> None:
    draw.ellipse(_box(128, 120, 78, 92), fill=_HAIR)  # hair behind the head
    draw.rounded_rectangle(_box(128, 168, 74, 62), radius=40 * _FINE, fill=_HAIR)
    draw.rectangle(_box(128, 200, 22, 34), fill=_NECK)
    draw.ellipse(_box(128, 276, 112, 72), fill=_SHIRT)
    draw.polygon([_at(x, y) for x, y in ((106, 200), (150, 200), (150, 206), (128, 236), (106, 206))], fill=_NECK)
    draw.polygon([_at(x, y) for x, y in ((98, 212), (128, 246), (158, 212), (150, 206), (128, 230), (106, 206))],
                 fill=_COLLAR)  # fmt: skip


def _head(draw: ImageDraw.ImageDraw) -> None:
    draw.ellipse(_box(128, 128, 54, 68), fill=_SKIN)
    for centre in (96, 160):
        draw.ellipse(_box(centre, 152, 11, 7), fill=_BLUSH)
    draw.pieslice(_box(128, 104, 62, 64), 180, 360, fill=_HAIR)
    draw.pieslice(_box(112, 102, 46, 32), 0, 180, fill=_HAIR)  # fringe
    draw.pieslice(_box(156, 102, 36, 24), 0, 180, fill=_HAIR)
    draw.line([_at(128, 134), _at(124, 152), _at(131, 154)], fill='#d09a7a', width=3 * _FINE, joint='curve')


def _eye(draw: ImageDraw.ImageDraw, centre: int) -> None:
    draw.ellipse(_box(centre, 134, 13, 8), fill='#fbfaf7')
    draw.ellipse(_box(centre, 134, 7, 7), fill=_IRIS)
    draw.ellipse(_box(centre, 134, 3, 3), fill='#1d1a18')
    draw.ellipse(_box(centre + 3, 131, 2, 2), fill='#ffffff')
    draw.arc(_box(centre, 135, 14, 10), 190, 350, fill='#2c1c18', width=3 * _FINE)
    draw.arc(_box(centre, 124, 16, 8), 205, 335, fill=_HAIR, width=3 * _FINE)


def _mouth(draw: ImageDraw.ImageDraw) -> None:
    draw.chord(_box(128, 168, 19, 12), 12, 168, fill=_LIPS)
    draw.arc(_box(128, 166, 21, 10), 15, 165, fill='#8f3d3c', width=2 * _FINE)


def _with_light(image: Image.Image) -> Image.Image:
    """Soft light from the upper left, so that no area is one flat colour."""
    y, x = np.mgrid[0:SIZE, 0:SIZE] / float(SIZE)
    light = 1.06 - 0.16 * np.hypot(x - 0.35, y - 0.3)
    soft = np.asarray(image.filter(ImageFilter.GaussianBlur(0.6)), np.float64)
    return Image.fromarray(np.clip(np.rint(soft * light[..., None]), 0, 255).astype(np.uint8))


def _at(x: float, y: float) -> Tuple[float, float]:
    return x * _FINE, y * _FINE


def _box(x: float, y: float, half_width: float, half_height: float) -> Tuple[float, float, float, float]:
    return (*_at(x - half_width, y - half_height), *_at(x + half_width, y + half_height))
