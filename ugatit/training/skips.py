"""Updates that were not applied: counted over the whole run, told, and the run ended where there is nothing else."""

from __future__ import annotations

import logging
from typing import Any, Dict, Mapping, Tuple

import numpy as np

from ugatit.errors import UserError
from ugatit.nn.policy import Policy
from ugatit.training.mixed import APPLIED, GRADIENTS, PENALTY, RANGES

_log = logging.getLogger(__name__)

MOST_IN_A_ROW = 100
_NAMES = 'ugatit/skipped/'
_TOLD = 20  # so many are told one by one, then every hundredth
_HALVED = {
    GRADIENTS: 'gradients overflowed, the loss scale was halved',
    PENALTY: 'the inner gradient of the penalty overflowed, its scale was halved',
}
_FOLLOWED = {**_HALVED, RANGES: 'values overflowed, their exponents were raised'}
_UNPLANNED = {**_HALVED, RANGES: 'values overflowed, and with --config.numerics.ranges=none that is not mended'}
_FLOAT32 = {
    GRADIENTS: 'gradients are not finite',
    PENALTY: 'the inner gradient of the penalty is not finite',
    RANGES: 'values are not finite',
}


class Skips:
    """`policy` and whether ranges are followed decide what is said."""

    def __init__(self, policy: Policy, followed: bool) -> None:
        self._float16, self._followed = policy.has_float16, followed
        self.counts = {'discriminators': 0, 'generators': 0}  # in the whole run
        self._in_a_row = 0  # steps

    def add(self, steps_done: int, reasons: Mapping[str, int]) -> bool:
        """One step's reasons by owner; returns whether anything was skipped. UserError after 100 such steps."""
        skipped = {owner: reason for owner, reason in reasons.items() if reason != APPLIED}
        self._in_a_row = self._in_a_row + 1 if skipped else 0
        for owner, reason in skipped.items():
            self.counts[owner] += 1
            self._tell(steps_done, owner, reason)
        if self._in_a_row >= MOST_IN_A_ROW:
            wrong, remedy = self._wrong()
            raise UserError(
                f'{MOST_IN_A_ROW} steps in a row, up to step {steps_done + 1}, had an update that {wrong}; nothing of'
                f' them was applied. Use {remedy}.'
            )
        return bool(skipped)

    def _tell(self, steps_done: int, owner: str, reason: int) -> None:
        count = self.counts[owner]
        if count <= _TOLD or count % 100 == 0:
            reasons = _FLOAT32 if not self._float16 else _FOLLOWED if self._followed else _UNPLANNED
            _log.info('step %d: the %s were not updated: %s (%d skipped so far)', steps_done + 1, owner,
                      reasons[reason], count)  # fmt: skip

    def _wrong(self) -> Tuple[str, str]:
        """What is wrong with them, and what helps."""
        if not self._float16:
            return 'is not finite', 'a lower --config.training.learning_rate'
        if not self._followed:
            return 'overflowed float16', (
                '--config.numerics.ranges=live, so that exponents follow the values, or'
                ' --config.numerics.precision=float32'
            )
        return 'overflowed float16', (
            '--config.numerics.precision=float32, or variants whose guard is planned, so that ranges can follow'
        )

    def state(self) -> Dict[str, Any]:
        """For a checkpoint."""
        return {f'{_NAMES}{owner}': np.array(count, np.int64) for owner, count in self.counts.items()}

    def restore(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Takes what `state` gave."""
        for owner in self.counts:
            self.counts[owner] = int(tensors.get(f'{_NAMES}{owner}', 0))
