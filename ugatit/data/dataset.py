"""Pictures for training: looked through once before anything starts, kept in memory where they fit, drawn by step."""

from __future__ import annotations

import dataclasses
import logging
import pathlib
import zlib
from typing import Callable, Collection, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ugatit.data.augment import augment, picture_indices, random_state
from ugatit.data.convert import to_float
from ugatit.data.decode import DEFAULT_MAX_PIXELS, decode_file
from ugatit.data.files import list_images
from ugatit.data.names import printable
from ugatit.data.resize import FILTERS, MODES, resize
from ugatit.errors import UserError

_log = logging.getLogger(__name__)

_NAMED = 5  # so many broken files are named, the rest are counted

ProgressBar = Callable[[Collection], Iterable]


@dataclasses.dataclass(frozen=True)
class Loading:
    """How a file becomes a square; the same for every picture of a run."""

    image_size: int
    resize: str = 'stretch'  # 'pad', 'crop': see ugatit.data.resize
    filter: str = 'antialiased'  # 'official', 'official_train'
    background: str = 'white'  # shows through transparent parts
    max_pixels: int = DEFAULT_MAX_PIXELS  # larger files count as broken
    on_broken: str = 'fail'  # or 'skip': go on without them
    recursive: bool = False  # look into subfolders too

    def __post_init__(self) -> None:
        legal = {'resize': tuple(MODES), 'filter': tuple(FILTERS), 'on_broken': ('fail', 'skip')}
        for field, names in legal.items():
            if getattr(self, field) not in names:
                arrived = getattr(self, field)
                raise UserError(f'data.{field} must be one of {", ".join(names)}, but {arrived!r} arrived.')

    def load(self, path: pathlib.Path) -> np.ndarray:
        """uint8 [S, S, 3]; UserError that names the file."""
        decoded = decode_file(path, background=self.background, max_pixels=self.max_pixels)
        square = resize(decoded.pixels, self.image_size, self.resize, self.filter)
        return np.floor(square.pixels + 0.5).astype(np.uint8)  # the default filter gives whole numbers already


class Pictures:
    """The readable pictures of one folder, in the order of their names; `get(i)` gives uint8 [S, S, 3]."""

    def __init__(self, paths: Sequence[pathlib.Path], loading: Loading, cache: Optional[np.ndarray]) -> None:
        self.paths, self._loading, self._cache = tuple(paths), loading, cache

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def cached(self) -> bool:
        return self._cache is not None

    @property
    def fingerprint(self) -> str:
        """Number and names in one word: another one means that steps see other pictures."""
        return f'{len(self)}:{zlib.crc32("/".join(path.name for path in self.paths).encode("utf-8", "replace")):08x}'

    def get(self, index: int) -> np.ndarray:
        """One picture; from the file again where they did not fit into memory."""
        return self._loading.load(self.paths[index]) if self._cache is None else self._cache[index]


def scan(
    folder: pathlib.Path,
    loading: Loading,
    memory: int = 0,  # bytes that the cache may take
    progress: ProgressBar = lambda items: items,
) -> Pictures:
    """Reads every picture of a folder once, so that a broken one is named now and not after a day.

    Raises:
      UserError: the folder holds no picture, holds broken ones (`on_broken='fail'`; the first are named), or only
        broken ones.
    """
    listing = list_images(folder, loading.recursive)
    if listing.ignored:
        _log.info('%s: %d other files are ignored', printable(folder), len(listing.ignored))
    cache = _cache(len(listing.paths), loading.image_size, memory)
    good: List[pathlib.Path] = []
    broken: List[str] = []
    for path in progress(listing.paths):
        try:
            pixels = loading.load(path)
        except UserError as error:
            broken.append(str(error))
            continue
        if cache is not None:
            cache[len(good)] = pixels
        good.append(path)
    _report(folder, good, broken, loading.on_broken)
    return Pictures(good, loading, None if cache is None else cache[: len(good)])


def _cache(count: int, size: int, memory: int) -> Optional[np.ndarray]:
    return np.empty([count, size, size, 3], np.uint8) if count * size * size * 3 <= memory else None


def _report(folder: pathlib.Path, good: Sequence[pathlib.Path], broken: Sequence[str], on_broken: str) -> None:
    if not broken:
        return
    more = f' and {len(broken) - _NAMED} more' if len(broken) > _NAMED else ''
    text = f'{len(broken)} of {len(good) + len(broken)} pictures in {printable(folder.absolute())} cannot be read: '
    text += '; '.join(broken[:_NAMED]) + more
    if on_broken == 'fail' or not good:
        without = ', or set --config.data.on_broken=skip to train without them' if good else ''
        raise UserError(f'{text}. Repair or remove them{without}.')
    _log.warning('%s. They are left out.', text)


class DomainStream(NamedTuple):
    """One domain's pictures by step."""

    pictures: Pictures
    domain: str  # 'A' or 'B', part of the seed

    def batch(self, seed: int, step: int, size: int, augmented: bool) -> np.ndarray:
        """float32 [size, S, S, 3] in [-1, 1]: what step number `step` (from 0) trains on."""
        indices = picture_indices(seed, self.domain, step, size, len(self.pictures))
        return to_float(np.stack([self._one(seed, step, k, i, augmented) for k, i in enumerate(indices)]))

    def _one(self, seed: int, step: int, place: int, index: int, augmented: bool) -> np.ndarray:
        pixels = self.pictures.get(index)
        return augment(pixels, random_state(seed, 'augment', self.domain, step, place)) if augmented else pixels


class PairStream(NamedTuple):
    """Both domains; calling it with a step is all the state there is."""

    a: DomainStream
    b: DomainStream
    seed: int
    batch_size: int
    augmented: bool

    def __call__(self, step: int) -> Tuple[np.ndarray, np.ndarray]:
        """The batches of A and B of step number `step`, float32 [N, S, S, 3] each."""
        return tuple(domain.batch(self.seed, step, self.batch_size, self.augmented) for domain in (self.a, self.b))
