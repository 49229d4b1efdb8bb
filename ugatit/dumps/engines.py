"""Which engine adds up: the compiled one where it pays and can be had."""

from __future__ import annotations

import logging
from typing import Callable, NamedTuple, Tuple

import numpy as np

from ugatit.dumps.dtypes import DataType
from ugatit.dumps.extremes import Extremes, numpy_ends
from ugatit.dumps.sums import NumpySums, Sums

# Loading numba and what it compiled takes 0.7 s, in which two cores compare about so many bytes with NumPy. Compiling,
# once, takes three seconds more.
WORTH = 300 << 20  # bytes of both sides

_log = logging.getLogger(__name__)


class Engine(NamedTuple):
    """The work on single blocks."""

    ends: Callable[[np.ndarray], Tuple[float, float]]  # smallest and largest value, NaN if there is one
    sums: Callable[[Tuple[DataType, DataType], Tuple[Extremes, Extremes]], Sums]  # of two tensors


NUMPY = Engine(numpy_ends, NumpySums)


def choose_engine(size: int) -> Engine:
    """The engine for `size` bytes of both sides' files. Without numba, or with one that fails, it is NumPy's."""
    if size < WORTH:
        return NUMPY
    try:
        from ugatit.dumps import fused

        fused.prepare()
    except ImportError:
        return NUMPY
    except Exception as error:  # a broken cache or compiler must not keep anybody from comparing
        _log.warning(
            'numba fails (%s: %s); comparing with NumPy, slower; install numba again', type(error).__name__, error
        )
        return NUMPY
    return fused.ENGINE
