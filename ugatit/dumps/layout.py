"""A stored tensor seen without padding and in plain order: a strided view, copied only block by block."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Optional, Tuple

import numpy as np


class Layout(NamedTuple):
    """Plain axis i is made of one or two axes of the view, counted from the front, and cut to its length."""

    view: np.ndarray  # no copy of the stored data
    axes: Tuple[int, ...]  # 1 or 2 for each plain axis
    shape: Tuple[int, ...]  # without padding

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


def plain(array: np.ndarray) -> Layout:
    """An array that is stored as it is meant."""
    return Layout(array, (1,) * array.ndim, array.shape)


def blocks(layout: Layout, limit: int) -> Iterator[np.ndarray]:
    """The values in plain C order, as flat arrays of at most about `limit` values (one row of 16 tiles at least)."""
    if layout.size == 0:
        return
    if layout.view.flags.c_contiguous and layout.view.size == layout.size:
        flat = layout.view.reshape(-1)
        for start in range(0, flat.size, limit):
            yield flat[start : start + limit]
        return
    if layout.size <= limit or not layout.axes:
        yield np.ascontiguousarray(_cut(layout)).reshape(-1)
        return
    for part in _split(layout, limit):
        yield from blocks(part, limit)


def unordered(layout: Layout) -> Optional[np.ndarray]:
    """All values as one flat view in the order of memory; None where padding or gaps lie between them."""
    if layout.view.size != layout.size:
        return None
    order = sorted(range(layout.view.ndim), key=lambda axis: -abs(layout.view.strides[axis]))
    stored = layout.view.transpose(order)
    return stored.reshape(-1) if stored.flags.c_contiguous else None


def whole(layout: Layout) -> np.ndarray:
    """All values as one array of the plain shape."""
    return np.ascontiguousarray(_cut(layout)).reshape(layout.shape)


def _split(layout: Layout, limit: int) -> Iterator[Layout]:
    """Parts along the first plain axis, each as long as the limit lets it; a leading axis of one is dropped."""
    length, inner = layout.shape[0], max(1, layout.size // layout.shape[0])
    if layout.axes[0] == 1:
        step = max(1, limit // inner)
        for start in range(0, length, step):
            part = layout.view[start : min(start + step, length)]
            if len(part) == 1 and len(layout.shape) > 1 and inner > limit:
                yield Layout(part[0], layout.axes[1:], layout.shape[1:])
            else:
                yield Layout(part, layout.axes, (len(part), *layout.shape[1:]))
        return
    tile = layout.view.shape[1]
    tiles = max(1, limit // max(1, inner * tile))
    for start in range(0, -(-length // tile), tiles):
        part = layout.view[start : start + tiles]
        rows = min(len(part) * tile, length - start * tile)
        if len(part) == 1 and rows * inner > limit:  # single rows of one tile
            yield Layout(part[0, :rows], (1, *layout.axes[1:]), (rows, *layout.shape[1:]))
        else:
            yield Layout(part, layout.axes, (rows, *layout.shape[1:]))


def _cut(layout: Layout) -> np.ndarray:
    """Merges pairs of axes and drops the padding; copies."""
    view, position, merged = layout.view, 0, []
    for count in layout.axes:
        merged.append(int(np.prod(view.shape[position : position + count], dtype=np.int64)))
        position += count
    return view.reshape(merged)[tuple(slice(0, length) for length in layout.shape)]
