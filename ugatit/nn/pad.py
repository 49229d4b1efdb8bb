"""Reflect padding, in two forms that give the same bits."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

import tensorflow as tf


def margins(kernel: int, stride: int, pad: int) -> Tuple[int, int]:
    """Pixels before (top, left) and after (bottom, right); the rule of the official code's `conv`.

    A stride-2 3x3 convolution with pad 1 pads 1 before and 0 after.
    """
    if pad == 0:
        return 0, 0
    return (pad, pad) if (kernel - stride) % 2 == 0 else (pad, kernel - stride - pad)


def mirror_pad(x: tf.Tensor, before: int, after: int) -> tf.Tensor:
    """The MirrorPad operator."""
    return tf.pad(x, [[0, 0], [before, after], [before, after], [0, 0]], mode='REFLECT')


def slices_pad(x: tf.Tensor, before: int, after: int) -> tf.Tensor:
    """Slices and concatenations, for compilers without MirrorPad (the Ascend 910's AI Core has none)."""
    for axis in (1, 2):
        x = tf.concat(_reflected(x, axis, before, after), axis)
    return x


def _reflected(x: tf.Tensor, axis: int, before: int, after: int) -> list:
    def row(start: int) -> tf.Tensor:
        begin = [0, 0, 0, 0]
        extent = x.shape[axis] if x.shape[axis] is not None else tf.shape(x)[axis]  # static where that is known
        begin[axis] = start if start >= 0 else extent + start
        size = [-1, -1, -1, -1]
        size[axis] = 1
        return tf.slice(x, begin, size)

    return [row(i) for i in range(before, 0, -1)] + [x] + [row(-2 - i) for i in range(after)]


PADDINGS: Dict[str, Callable[[tf.Tensor, int, int], tf.Tensor]] = {'mirror': mirror_pad, 'slices': slices_pad}


def reflect_pad(x: tf.Tensor, before: int, after: int, mode: str = 'mirror') -> tf.Tensor:
    """x [N, H, W, C] with `before` mirrored pixels at top and left and `after` at bottom and right."""
    return x if before == after == 0 else PADDINGS[mode](x, before, after)


def upsample(x: tf.Tensor) -> tf.Tensor:
    """Nearest neighbour x2: [N, H, W, C] -> [N, 2H, 2W, C].

    By reshape and tile, because the resize operator's gradient has no XLA kernel.
    """
    shape = tf.shape(x)
    channels = x.shape[-1]
    rows = tf.reshape(x, [shape[0], shape[1], 1, shape[2], 1, channels])
    return tf.reshape(tf.tile(rows, [1, 1, 2, 1, 2, 1]), [shape[0], 2 * shape[1], 2 * shape[2], channels])
