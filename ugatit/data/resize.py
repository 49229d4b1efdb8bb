"""From a picture of any shape to the network's square and back: one function for training, inference and export.

The default filter is bilinear with antialiasing (a triangle as wide as the source pixels that one target pixel covers):
it never overshoots, keeps constants, and TensorFlow, PyTorch and Pillow compute the same one, so that whoever runs an
exported model can prepare its input alike. `official` and `official_train` reproduce the original loaders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, Tuple

import numpy as np
from PIL import Image

from ugatit.data.official_resize import opencv_bilinear, tensorflow1_bilinear
from ugatit.errors import UserError

Box = Tuple[int, int, int, int]  # top, left, height, width


@dataclass(frozen=True)
class Geometry:
    """Which part of the input lies where in the square, all in pixels."""

    mode: str  # stretch, pad or crop
    input_size: Tuple[int, int]  # height, width of the whole input
    size: int  # edge of the square
    source: Box  # the part of the input that was used: all of it, except after crop
    target: Box  # the part of the square that it fills: all of it, except after pad


@dataclass(frozen=True)
class ResizedImage:
    """pixels: float32 [size, size, 3] in 0..255; geometry: what `restore` needs."""

    pixels: np.ndarray
    geometry: Geometry


def resize(image: np.ndarray, size: int, mode: str = 'stretch', filter: str = 'antialiased') -> ResizedImage:
    """Fits uint8 RGB [H, W, 3] into a square of `size` pixels.

    mode: 'stretch' fills the square and changes the aspect ratio (as the official code does); 'pad' keeps it and
    mirrors the picture into the two free margins; 'crop' keeps it and takes the largest centred square.
    filter: 'antialiased', 'official' (the test loader's OpenCV bilinear) or 'official_train' (TensorFlow 1's).
    """
    if image.ndim != 3 or image.shape[-1] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        shape = list(image.shape)
        raise UserError(f'expected uint8 pixels [height, width, 3], got {image.dtype} {shape}: decode the file first')
    _require(filter, FILTERS, 'resize filter')
    geometry = plan_geometry(image.shape[0], image.shape[1], size, mode)
    top, left, height, width = geometry.source
    part = image[top : top + height, left : left + width]
    fitted = FILTERS[filter](part, geometry.target[2], geometry.target[3])
    return ResizedImage(_fill_margins(fitted.astype(np.float32), geometry), geometry)


def plan_geometry(height: int, width: int, size: int, mode: str) -> Geometry:
    """The geometry of `resize` for an input of height x width pixels, without a picture."""
    _require(mode, MODES, 'resize mode')
    if size < 1:
        raise UserError(f'expected an image size of at least 1 pixel, got {size}: choose a larger one')
    source, target = MODES[mode](height, width, size)
    return Geometry(mode, (height, width), size, source, target)


def restore(result: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Brings a network result float [size, size] or [size, size, C] back to its input's shape, undistorted; float32.

    'stretch' and 'pad' give the input's height and width. 'crop' gives the cropped square at the input's scale, which
    is smaller than the input (`geometry.source`): nothing was computed for the rest, and nothing is invented.
    The filter is the antialiased one, whichever made the square.
    """
    if result.shape[:2] != (geometry.size, geometry.size):
        raise UserError(
            f'expected a result of {geometry.size} x {geometry.size} pixels, got {list(result.shape)}: '
            'restore it with the geometry of its own input'
        )
    top, left, height, width = geometry.target
    return scale(result[top : top + height, left : left + width], geometry.source[2], geometry.source[3])


def scale(values: np.ndarray, height: int, width: int) -> np.ndarray:
    """Antialiased bilinear resize of float [h, w] or [h, w, C] to float32 [height, width(, C)], any range of values."""
    channels = values[..., None] if values.ndim == 2 else values
    scaled = [_scale_channel(channels[..., i], height, width) for i in range(channels.shape[-1])]
    return scaled[0] if values.ndim == 2 else np.stack(scaled, axis=-1)


def _scale_channel(channel: np.ndarray, height: int, width: int) -> np.ndarray:
    image = Image.fromarray(np.ascontiguousarray(channel, np.float32))
    return np.array(image.resize((width, height), Image.BILINEAR), np.float32)


def _antialiased(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    image = Image.fromarray(np.ascontiguousarray(pixels))
    return np.asarray(image.resize((width, height), Image.BILINEAR))


def _stretch(height: int, width: int, size: int) -> Tuple[Box, Box]:
    return (0, 0, height, width), (0, 0, size, size)


def _pad(height: int, width: int, size: int) -> Tuple[Box, Box]:
    longer = max(height, width)
    inner_height, inner_width = (max(1, (2 * edge * size + longer) // (2 * longer)) for edge in (height, width))
    top, left = (size - inner_height) // 2, (size - inner_width) // 2
    return (0, 0, height, width), (top, left, inner_height, inner_width)


def _crop(height: int, width: int, size: int) -> Tuple[Box, Box]:
    edge = min(height, width)
    return ((height - edge) // 2, (width - edge) // 2, edge, edge), (0, 0, size, size)


def _fill_margins(fitted: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Mirrored margins: the normalisations of the network average over the whole square, so what is added must look
    like the picture, where black or white bars would change the colours of the rest."""
    top, left, height, width = geometry.target
    size = geometry.size
    margins = ((top, size - top - height), (left, size - left - width), (0, 0))
    return np.pad(fitted, margins, mode='symmetric') if (height, width) != (size, size) else fitted


def _require(name: str, legal: Dict[str, Callable], what: str) -> None:
    if name not in legal:
        raise UserError(f'expected a {what} among {", ".join(legal)}, got {name!r}: choose one of these')


MODES: Dict[str, Callable[[int, int, int], Tuple[Box, Box]]] = {'stretch': _stretch, 'pad': _pad, 'crop': _crop}
FILTERS: Dict[str, Callable[[np.ndarray, int, int], np.ndarray]] = {
    'antialiased': _antialiased,
    'official': opencv_bilinear,
    'official_train': tensorflow1_bilinear,
}
