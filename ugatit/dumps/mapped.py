"""A file in memory as the system pages it in, and out again: memory does not grow with the file."""

from __future__ import annotations

import mmap
import os
from typing import Union

import numpy as np

from ugatit.errors import UserError

PathLike = Union[str, 'os.PathLike[str]']


class Mapped:
    """A read-only mapping. The file must not shrink meanwhile: the system ends a process that reads beyond it."""

    def __init__(self, path: PathLike) -> None:
        with open(path, 'rb') as file:
            self.size = os.fstat(file.fileno()).st_size
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else None

    def array(self, dtype: str, count: int, offset: int) -> np.ndarray:
        """`count` values from a byte offset on. UserError beyond the end; nothing is allocated."""
        needed = count * np.dtype(dtype).itemsize
        if offset + needed > self.size:
            raise UserError(f'{needed} bytes from byte {offset} on go beyond the end at {self.size}')
        if not count or self._map is None:
            return np.zeros(0, dtype)
        return np.frombuffer(self._map, dtype, count, offset)

    def forget(self) -> None:
        """Gives the pages read so far back to the system, where it can be asked to."""
        if self._map is not None and hasattr(self._map, 'madvise'):
            self._map.madvise(mmap.MADV_DONTNEED)
