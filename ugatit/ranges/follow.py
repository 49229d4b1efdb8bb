"""Delayed scaling: exponents for the next step from what the last steps measured. NumPy, between steps, no graph.

A change of exponents never changes the network's function, so it may happen at any step. A value that outgrows its
headroom within one step shows as an overflow: that step's update is not applied, and the group is raised by more than a
factor of a hundred at once.
"""

from __future__ import annotations

import dataclasses
from typing import Dict, Mapping, Sequence, Tuple

import numpy as np

from ugatit.errors import UserError
from ugatit.numerics import FLOAT16
from ugatit.ranges.meter import Meter
from ugatit.ranges.plan import MOST_HEADROOM

LARGEST_EXPONENT = 40  # 65504 * 2**40 is 7e16: beyond it training is lost anyway, and float32 holds squares of this
BUMP = 8  # powers of two that an overflow of unknown size is taken for
EMPTY = -1.0  # a place in the history that holds no measurement


@dataclasses.dataclass(frozen=True)
class Following:
    """How exponents follow the measured ranges."""

    window: int = 16  # steps whose largest value counts
    headroom_bits: float = 2.0  # powers of two left between that value and 65504

    def __post_init__(self) -> None:
        if self.window < 1:
            raise UserError(f'The history of ranges must hold at least 1 step, but {self.window} arrived.')
        if not 0 <= self.headroom_bits <= MOST_HEADROOM:
            raise UserError(f'headroom_bits must be between 0 and {MOST_HEADROOM}, but {self.headroom_bits} arrived.')

    @property
    def limit(self) -> float:
        """Largest |value| that a stored tensor should have."""
        return FLOAT16.max_finite * 2.0**-self.headroom_bits


class Follower:
    """One network's exponents and the history that they come from; both belong into a checkpoint."""

    def __init__(self, meter: Meter, following: Following) -> None:
        self.meter, self._following = meter, following
        self.exponents = np.zeros([len(meter.groups)], np.int32)  # in force during the step that is measured next
        self.history = np.full([following.window, len(meter.groups)], EMPTY, np.float32)  # true amax, newest first

    @property
    def fresh(self) -> bool:
        """Nothing was measured yet: the first step needs a profile of its own."""
        return bool(self.meter.groups) and bool(np.all(self.history == EMPTY))

    @property
    def by_group(self) -> Dict[str, int]:
        return dict(zip(self.meter.groups, self.exponents.tolist()))

    def observe(self, stored: np.ndarray) -> bool:
        """Takes one step's amax, as stored with the exponents in force (`AmaxTap.found`), and sets the next ones.

        Groups that did not run keep their history. Returns whether something did not fit.
        """
        stored = np.asarray(stored, np.float64)
        groups = len(self.meter.groups)
        # Replicas scale what they share, DID_NOT_RUN too; NaN ran, and is over.
        ran, over = ~(stored < 0.0), ~(stored < self.meter.end)
        # A result that overflowed was clipped, or is infinite: nobody knows how far it wanted to go.
        true = np.where(over, FLOAT16.max_finite * 2.0**BUMP, stored)[:groups] * np.exp2(self.exponents)
        rolled = np.concatenate([true[None].astype(np.float32), self.history[:-1]])
        self.history = np.where(ran[:groups], rolled, self.history)
        operands = np.where(ran & np.isfinite(stored), stored, 0.0)[groups:] * np.exp2(-self._shifts(self.exponents))
        self.exponents = self._plan(operands)
        return bool(np.any(over))

    def settle(self, stored: np.ndarray) -> bool:
        """`observe` for a profile without an update: it takes the place of everything measured before."""
        self.history[:] = EMPTY
        return self.observe(stored)

    def _plan(self, operands: np.ndarray) -> np.ndarray:
        """The smallest exponents with which all that was measured fits; zero for what is small or zero."""
        exponents = _bits_over(self.history.max(axis=0), self._following.limit)
        for _ in range(len(exponents) + 1):  # raising what a layer writes may lift the next layer's weights
            over = _bits_over(operands * np.exp2(self._shifts(exponents)), self._following.limit)
            raised = exponents.copy()
            for rule, bits in zip(self.meter.operands, over.tolist()):
                if bits and rule.writes in self.meter.groups:
                    place = self.meter.groups.index(rule.writes)
                    raised[place] = max(raised[place], min(LARGEST_EXPONENT, exponents[place] + bits))
            if np.array_equal(raised, exponents):
                break
            exponents = raised
        return exponents

    def _shifts(self, exponents: np.ndarray) -> np.ndarray:
        """Powers of two that multiply each weight."""
        by_group = dict(zip(self.meter.groups, exponents.tolist()))
        return np.array([rule.shift(by_group) for rule in self.meter.operands], np.float64)

    def state(self) -> Dict[str, np.ndarray]:
        """What a checkpoint must hold, by the name of the network."""
        prefix = f'ugatit/live_ranges/{self.meter.scope}'
        return {f'{prefix}/exponents': self.exponents, f'{prefix}/history': self.history}

    def restore(self, tensors: Mapping[str, np.ndarray]) -> bool:
        """Takes what `state` gave; False, and nothing is changed, where it is missing or of another shape."""
        stored = [tensors.get(name) for name in self.state()]
        shapes: Sequence[Tuple[int, ...]] = [value.shape for value in self.state().values()]
        if any(value is None or tuple(value.shape) != shape for value, shape in zip(stored, shapes)):
            return False
        self.exponents, self.history = (np.array(value) for value in stored)
        return True


def _bits_over(amax: np.ndarray, limit: float) -> np.ndarray:
    """The smallest whole e >= 0 with amax * 2**-e <= limit, at most LARGEST_EXPONENT; zero, tiny and absent give 0."""
    ratio = np.maximum(np.asarray(amax, np.float64), 0.0) / limit
    fraction, exponent = np.frexp(ratio)  # ratio = fraction * 2**exponent, fraction in [0.5, 1)
    bits = np.where(fraction == 0.5, exponent - 1, exponent)
    return np.where(ratio > 1.0, np.minimum(bits, LARGEST_EXPONENT), 0).astype(np.int32)
