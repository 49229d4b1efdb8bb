"""What turns pictures into features: either `RandomFeatures`, with nothing downloaded, or a local Inception graph."""

from __future__ import annotations

import functools
from typing import Iterable, List, Optional, Protocol

import numpy as np

from ugatit.data.files import PathLike

_BATCH = 8  # pictures per call: an Inception graph needs some 20 MB for each


class Extractor(Protocol):
    """A function of pictures, with what a reader of its numbers must know."""

    name: str  # for reports
    comparable: str  # one sentence: what its numbers may be compared with
    dimensions: int
    size: int  # side of the squares that it looks at, pixels

    def __call__(self, pictures: np.ndarray) -> np.ndarray:
        """uint8 [N, H, W, 3], as stored in files -> features [N, D]."""
        ...


def choose_extractor(inception: Optional[PathLike] = None) -> Extractor:
    """The Inception graph of a file; None: random features."""
    if inception is None:
        return _random()
    from ugatit.evaluation.inception import InceptionFeatures

    return InceptionFeatures(inception)


@functools.lru_cache(maxsize=1)
def _random() -> Extractor:
    from ugatit.evaluation.random_features import RandomFeatures

    return RandomFeatures()


def extract(extractor: Extractor, pictures: Iterable[np.ndarray]) -> np.ndarray:
    """Features [N, D] of uint8 pictures [H, W, 3], all of one size, which may come one at a time."""
    features: List[np.ndarray] = []
    batch: List[np.ndarray] = []
    for picture in pictures:
        batch.append(picture)
        if len(batch) == _BATCH:
            features.append(extractor(np.stack(batch)))
            batch = []
    if batch:
        features.append(extractor(np.stack(batch)))
    return np.concatenate(features) if features else np.zeros((0, extractor.dimensions))
