"""Features with nothing downloaded: fixed random convolutions at several scales, averaged over the picture.

Numbers from them compare only with numbers from them. They see colour, edges, texture, blur and noise; what a face is
they do not know, which a trained Inception does a little. Per scale (128, 64, 32 and 16 pixels), of the picture and
apart from it of its detail d / (|d| + 0.1), where edges of any contrast count nearly alike:

    3x3 random convolution, 3 -> 16, ReLU, 2x2 average, 3x3 random convolution, 16 -> 32, ReLU, mean

Random filters keep distances between inputs about as they are (Saxe et al. 2011 classify with them; scattering
transforms are their fixed cousins). Each feature is divided by twice its spread over a fixed set of synthetic pictures:
none dominates the polynomial kernel, whose argument then is below 1, as with Inception. Those pictures are dead leaves,
discs of all sizes on top of each other, which have about the statistics of photographs (Lee, Mumford, Huang 2001).
NumPy alone: the same numbers on every TensorFlow.
"""

from __future__ import annotations

from typing import Iterator, List

import numpy as np

from ugatit.data.resize import resize

_SCALES = 4
_FIRST, _SECOND = 16, 32  # filters
_SOFT = np.float32(0.1)  # detail of this size counts half of what a black-white edge does
_SEED = 20200501
_REFERENCE = 32  # synthetic pictures that the features' mean and spread are taken from
_LEAVES = 60  # discs of a synthetic picture
_LEAST_SPREAD = 0.1  # of the median: a filter that hardly ever passes ReLU must not outweigh the others


class RandomFeatures:
    """uint8 [N, H, W, 3] -> float64 [N, 256]."""

    name = 'random convolutions 1'  # the number grows when the features change
    comparable = 'its numbers compare only with numbers from these same features, never with published ones'
    size = 128
    dimensions = 2 * _SCALES * _SECOND

    def __init__(self) -> None:
        draw = np.random.RandomState(_SEED)
        self._filters = [(_filters(draw, 3, _FIRST), _filters(draw, _FIRST, _SECOND)) for _ in range(2 * _SCALES)]
        reference = self._raw(_dead_leaves(draw, _REFERENCE, self.size))
        spread = reference.std(axis=0)
        self._mean = reference.mean(axis=0)
        self._spread = 2.0 * np.maximum(spread, _LEAST_SPREAD * np.median(spread))

    def __call__(self, pictures: np.ndarray) -> np.ndarray:
        """uint8 pictures of any size, in [0, 255] -> features, about 1 in size."""
        squares = np.stack([resize(picture, self.size).pixels for picture in pictures])
        return (self._raw(squares / np.float32(127.5) - np.float32(1.0)) - self._mean) / self._spread

    def _raw(self, squares: np.ndarray) -> np.ndarray:
        return np.concatenate([self._one(square[None].astype(np.float32)) for square in squares])

    def _one(self, x: np.ndarray) -> np.ndarray:
        parts: List[np.ndarray] = []
        for maps, (first, second) in zip(_pyramid(x), self._filters):
            hidden = _halved(np.maximum(_convolve(maps, first), 0.0))
            parts.append(np.maximum(_convolve(hidden, second), 0.0).mean(axis=(1, 2), dtype=np.float64))
        return np.concatenate(parts, axis=1)


def _pyramid(x: np.ndarray) -> Iterator[np.ndarray]:
    """Of each scale the picture, then what the next one lacks of it."""
    for _ in range(_SCALES):
        half = _halved(x)
        detail = x - half.repeat(2, axis=1).repeat(2, axis=2)
        yield x
        yield detail / (np.abs(detail) + _SOFT)
        x = half


def _filters(draw: np.random.RandomState, inputs: int, outputs: int) -> np.ndarray:
    """[3, 3, inputs, outputs]; half of them sum to zero and see only changes, half see levels too."""
    filters = draw.standard_normal((3, 3, inputs, outputs))
    filters[..., : outputs // 2] -= filters[..., : outputs // 2].mean(axis=(0, 1, 2))
    return (filters / np.sqrt((filters**2).sum(axis=(0, 1, 2)))).astype(np.float32)


def _dead_leaves(draw: np.random.RandomState, count: int, size: int) -> np.ndarray:
    """[count, size, size, 3] in [-1, 1]; contrast, brightness and grain differ from picture to picture."""
    rows, columns = np.mgrid[0:size, 0:size]
    pictures = np.zeros((count, size, size, 3))
    for picture in pictures:
        for _ in range(_LEAVES):
            radius = size * 0.6 / (1.0 + 19.0 * draw.uniform())
            row, column = draw.uniform(0, size, 2)
            picture[np.hypot(rows - row, columns - column) < radius] = draw.uniform(-1.0, 1.0, 3)
        picture *= draw.uniform(0.3, 1.0)
        picture += draw.uniform(-0.4, 0.4, 3) + draw.uniform(0.0, 0.1) * draw.standard_normal(picture.shape)
    return np.clip(pictures, -1.0, 1.0).astype(np.float32)


def _convolve(x: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Without padding: [N, H, W, C] -> [N, H - 2, W - 2, F]."""
    height, width = x.shape[1] - 2, x.shape[2] - 2
    return sum(
        x[:, row : row + height, column : column + width] @ filters[row, column]
        for row in range(3)
        for column in range(3)
    )


def _halved(x: np.ndarray) -> np.ndarray:
    """Mean of 2x2 blocks of an even number of rows and columns."""
    return (x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2]) / 4
