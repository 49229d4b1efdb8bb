"""The next steps' batches are made while the device computes; plain threads, because batches depend on nothing."""

from __future__ import annotations

import collections
import concurrent.futures
from typing import Callable, Deque, Iterator, Tuple, TypeVar

Made = TypeVar('Made')


def prefetched(
    make: Callable[[int], Made],
    start: int,
    stop: int,
    depth: int = 4,  # so many are made ahead; each is a batch of both domains in memory
    threads: int = 2,
) -> Iterator[Tuple[int, Made]]:
    """(step, make(step)) for start <= step < stop, in order. What `make` raises is raised at its own step.

    Close the iterator (or exhaust it) to stop the threads.
    """
    pool = concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix='pictures')
    waiting: Deque[Tuple[int, concurrent.futures.Future[Made]]] = collections.deque()
    following = start
    try:
        while waiting or following < stop:
            while following < stop and len(waiting) < depth:
                waiting.append((following, pool.submit(make, following)))
                following += 1
            step, future = waiting.popleft()
            yield step, future.result()
    finally:
        for _, future in waiting:
            future.cancel()
        pool.shutdown()
