"""The learning rate as a pure function of the steps done, and which steps update the generators."""

from __future__ import annotations

import dataclasses

from ugatit.errors import UserError


@dataclasses.dataclass(frozen=True)
class Schedule:
    """The official flags that decide how long and how fast to learn."""

    learning_rate: float = 1e-4
    epochs: int = 100
    steps_per_epoch: int = 10_000  # official flag `iteration`
    decay_epoch: int = 50  # the rate starts to fall after this many epochs
    decay: bool = True  # official flag `decay_flag`; False: constant throughout
    n_critic: int = 1  # discriminator updates for each generator update

    def __post_init__(self) -> None:
        for field in ('epochs', 'steps_per_epoch', 'n_critic'):
            if getattr(self, field) < 1:
                raise UserError(f'{field} must be at least 1, but {getattr(self, field)} arrived.')
        if self.decay_epoch < 0:
            raise UserError(f'decay_epoch must be 0 or more, but {self.decay_epoch} arrived.')

    @property
    def steps(self) -> int:
        """Length of the whole run."""
        return self.epochs * self.steps_per_epoch


def learning_rate(schedule: Schedule, steps_done: int) -> float:
    """The rate of step number `steps_done` (counted from 0): constant, then linear *per epoch* (official code).

    lr * (epochs - epoch) / (epochs - decay_epoch) from epoch = decay_epoch on. The first decaying epoch still has the
    full rate, the last one lr / (epochs - decay_epoch); 0 is reached where the run ends, and kept beyond it.
    """
    epoch = steps_done // schedule.steps_per_epoch
    if not schedule.decay or epoch < schedule.decay_epoch:
        return schedule.learning_rate
    return schedule.learning_rate * max(0, schedule.epochs - epoch) / max(1, schedule.epochs - schedule.decay_epoch)


def updates_generators(schedule: Schedule, steps_done: int) -> bool:
    """True where (counter - 1) % n_critic == 0; the official counter is steps_done + 1."""
    return steps_done % schedule.n_critic == 0


def counter_after(steps_done: int) -> int:
    """The N of `model-N` after so many steps: the official counter starts at 1."""
    return steps_done + 1


def steps_done_at(counter: int) -> int:
    """How many steps a checkpoint `model-N` has behind it.

    The official code resumes at batch number N of the epoch and so skips one; ours skips none.
    """
    return max(0, counter - 1)
