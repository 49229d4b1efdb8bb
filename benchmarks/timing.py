"""Times that can be compared on a shared, noisy machine: taken in turn in one process, given as medians and ratios."""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Tuple

from benchmarks import roofline

Run = Callable[[], Any]  # returns only when its result is there
Seconds = Dict[str, List[float]]  # name -> one time for each round


class Costs(NamedTuple):
    """What runs took, by name, one value for each round."""

    seconds: Seconds
    gflop: Seconds  # seconds times the matrix-product rate of the moment: what the machine could have computed
    rate: List[float]  # GFLOP/s, as measured between the runs


def interleaved(runs: Mapping[str, Run], rounds: int, warm: int = 1) -> Seconds:
    """Every run once in each round, the order reversed in every other one; `warm` calls of each come before.

    The first calls trace, compile and fill caches, so they are not counted.
    """
    _warm(runs, warm)
    found: Seconds = {name: [] for name in runs}
    for number in range(rounds):
        for name in _order(runs, number):
            found[name].append(timed(runs[name]))
    return found


def processor_seconds(runs: Mapping[str, Run]) -> Tuple[Dict[str, Run], Seconds]:
    """The same runs, and lists that fill with the seconds that all threads of this process computed in each call.

    Other work on the machine stretches these far less than the time that passes.
    """
    found: Seconds = {name: [] for name in runs}

    def noting(name: str, run: Run) -> Run:
        def call() -> None:
            begin = time.process_time()
            run()
            found[name].append(time.process_time() - begin)

        return call

    return {name: noting(name, run) for name, run in runs.items()}, found


def costs(runs: Mapping[str, Run], rounds: int, warm: int = 1, size: int = roofline.SIZE) -> Costs:
    """`interleaved`, with a matrix product between the runs: each is compared with those right before and after it."""
    product, flops = roofline.matmul(size), roofline.matmul_flops(size) / 1e9
    _warm({**runs, '': product}, warm)
    found = Costs({name: [] for name in runs}, {name: [] for name in runs}, [])
    for number in range(rounds):
        rate = flops / timed(product)
        for name in _order(runs, number):
            before, seconds, rate = rate, timed(runs[name]), flops / timed(product)
            found.seconds[name].append(seconds)
            found.gflop[name].append(seconds * (before + rate) / 2)
            found.rate.append(rate)
    return found


def timed(run: Run) -> float:
    """Seconds of one call."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def medians(values: Seconds, digits: int = 4) -> Dict[str, float]:
    """The median of each name's values."""
    return {name: round(statistics.median(found), digits) for name, found in values.items()}


def ratios(seconds: Seconds, base: str) -> Seconds:
    """Each time over that of `base` in the same round: a machine that is slow for a round does not move them."""
    return {name: [one / other for one, other in zip(found, seconds[base])] for name, found in seconds.items()}


def quartiles(values: List[float], digits: int = 3) -> List[float]:
    """The first and the third quartile, as values that occurred."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return [round(ordered[quarter], digits), round(ordered[-1 - quarter], digits)]


def _warm(runs: Mapping[str, Run], times: int) -> None:
    for run in runs.values():
        for _ in range(times):
            run()


def _order(runs: Mapping[str, Run], number: int) -> List[str]:
    return list(runs) if number % 2 == 0 else list(runs)[::-1]
