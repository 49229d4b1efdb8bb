"""Tensors of a checkpoint that are read by threads while the network is built around them."""

from __future__ import annotations

import concurrent.futures
from typing import Callable, Dict, Iterator, List, Mapping, Sequence

import tensorflow as tf

_THREADS = 2  # one waits for the disk or copies while the other checks sums; more were no faster
_PIECE = 4 << 20  # bytes: each thread reads so much at a time, so the first variables need not wait for the last

Restore = Callable[[Sequence[str]], Sequence[tf.Tensor]]


class Ahead:
    """Begins to read at once; each tensor is handed over once, and then nothing here keeps it alive."""

    def __init__(self, restore: Restore, sizes: Mapping[str, int]) -> None:
        """restore: names -> tensors, callable from any thread; sizes: name -> bytes, in the order of their use."""
        pool = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix='weights')
        self._pieces: Dict[str, concurrent.futures.Future[Dict[str, tf.Tensor]]] = {}
        for names in _pieces(sizes):
            future = pool.submit(_read, restore, names)
            self._pieces.update({name: future for name in names})
        pool.shutdown(wait=False)  # the threads end after the last piece

    def __contains__(self, name: str) -> bool:
        return name in self._pieces

    def take(self, name: str) -> tf.Tensor:
        """Waits for the tensor; raises what reading its piece raised, which another tensor may be to blame for."""
        return self._pieces.pop(name).result().pop(name)


def _read(restore: Restore, names: List[str]) -> Dict[str, tf.Tensor]:
    return dict(zip(names, restore(names)))


def _pieces(sizes: Mapping[str, int]) -> Iterator[List[str]]:
    names: List[str] = []
    total = 0
    for name, size in sizes.items():
        names.append(name)
        total += size
        if total >= _PIECE:
            yield names
            names, total = [], 0
    if names:
        yield names
