"""Which pictures a training step sees, and how each is changed: pure functions of (seed, domain, step).

Nothing is remembered between steps, so a resumed run continues with exactly the pictures that an uninterrupted one
would have seen. Random numbers come from NumPy's `RandomState`, whose streams NumPy promises never to change.
"""

from __future__ import annotations

import functools
import zlib
from typing import List

import numpy as np

from ugatit.data.resize import scale


def random_state(seed: int, *purpose: object) -> np.random.RandomState:
    """A fresh stream for (seed, purpose): the same wherever and whenever it is asked for."""
    salt = zlib.crc32('/'.join(map(str, purpose)).encode())
    return np.random.RandomState(np.array([seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF, salt], np.uint32))


@functools.lru_cache(maxsize=8)  # both domains, this epoch and the next, of two runs
def permutation(seed: int, domain: str, epoch: int, count: int) -> np.ndarray:
    """The order of `count` pictures in their epoch-th round; each comes exactly once a round."""
    return random_state(seed, 'order', domain, epoch).permutation(count)


def picture_indices(seed: int, domain: str, step: int, batch_size: int, count: int) -> List[int]:
    """Which of `count` pictures step number `step` (from 0) takes; rounds follow each other without a gap."""
    places = range(step * batch_size, (step + 1) * batch_size)
    return [int(permutation(seed, domain, place // count, count)[place % count]) for place in places]


def enlarged_size(size: int) -> int:
    """The size that is cropped from: size + 30 at 256, else + 15 (official code)."""
    return size + (30 if size == 256 else 15)


def augment(pixels: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Half of all pictures stay as they are; the others are flipped (half of them), enlarged and cropped at random.

    uint8 [S, S, 3] -> float32 [S, S, 3], both 0..255. The official code tosses the first coin once per run, ours once
    per picture. Always draws four numbers, so that what one picture gets does not depend on another's luck.
    """
    changed, flipped, top, left = random.uniform(size=4)
    if changed < 0.5:
        return pixels.astype(np.float32)
    size = len(pixels)
    large = enlarged_size(size)
    oriented = pixels[:, ::-1] if flipped < 0.5 else pixels
    enlarged = scale(oriented.astype(np.float32), large, large)
    y, x = (int(part * (large - size + 1)) for part in (top, left))
    return enlarged[y : y + size, x : x + size]
