"""Looks at the losses for what people notice too late; each finding is told once a session, with a remedy."""

from __future__ import annotations

import logging
import math
from typing import Callable, Dict, Mapping, Optional, Set

import numpy as np

from ugatit.errors import UserError
from ugatit.training.settings import TrainingSettings

_log = logging.getLogger(__name__)

CHANCE = 2.0 * math.log(2.0)  # of the CAM term without its weight: a classifier that cannot tell A from B
NEAR_CHANCE = 0.01  # relative
ZERO = 1e-3  # of a discriminator's loss: it is always right, so the generator learns nothing
COPY = 0.02  # mean |fake - input| in [-1, 1]: 2.5 of 255 levels
_COPIES = 2  # so many sample strips in a row


def require_finite(losses: Mapping[str, float], step: int) -> None:
    """UserError that names every non-finite term and the step (counted from 1)."""
    broken = [f'{name} = {value}' for name, value in losses.items() if not math.isfinite(value)]
    if broken:
        raise NonFiniteLoss(
            f'step {step}: {", ".join(broken)}; the run stops, and no checkpoint was made of it. The last good one is'
            ' untouched: continue it with a lower --config.training.learning_rate, or with'
            ' --config.numerics.precision=float32 where that was not used.'
        )


class NonFiniteLoss(UserError):
    """A loss is NaN or infinite: the weights after it must not be saved."""


class Watch:
    """Counts for how many steps in a row something looked wrong."""

    def __init__(self, settings: TrainingSettings) -> None:
        self._settings = settings
        self._streaks: Dict[str, int] = {}
        self._told: Set[str] = set()

    def losses(self, step: int, losses: Mapping[str, float]) -> None:
        """Looks at one step's terms by official name."""
        for domain in 'AB':
            self._streak(step, f'G_{domain}_cam', losses.get(f'G_{domain}_cam'), self._at_chance, _CAM)
            self._streak(step, f'D_{domain}_gan', losses.get(f'D_{domain}_gan'), self._is_zero, _ZERO_LOSS)

    def sample(self, step: int, network: str, inputs: np.ndarray, fakes: np.ndarray) -> None:
        """Looks at what a generator makes of the sample pictures, [N, H, W, 3] in [-1, 1] both."""
        distance = float(np.mean(np.abs(inputs - fakes)))
        self._count(network, distance < COPY)
        if self._streaks[network] >= _COPIES and step >= self._settings.warn_after:
            self._tell(network, _COPIED.format(network=network, distance=distance, step=step))

    def _streak(self, step: int, term: str, value: Optional[float], wrong: Callable[[float], bool], text: str) -> None:
        if value is None:
            return
        self._count(term, wrong(value))
        if self._streaks[term] >= self._settings.warn_after:
            self._tell(term, text.format(term=term, value=value, steps=self._streaks[term], step=step))

    def _count(self, key: str, wrong: bool) -> None:
        self._streaks[key] = self._streaks.get(key, 0) + 1 if wrong else 0

    def _at_chance(self, value: float) -> bool:
        chance = CHANCE * self._settings.cam_weight
        return chance > 0 and abs(value - chance) <= NEAR_CHANCE * chance

    def _is_zero(self, value: float) -> bool:
        """Wasserstein losses have no such bound: 0 means nothing there."""
        weight = self._settings.adversarial_weight
        return weight > 0 and not self._settings.gan_type.startswith('wgan') and abs(value) < ZERO * weight

    def _tell(self, key: str, text: str) -> None:
        if key not in self._told:
            self._told.add(key)
            _log.warning('%s', text)


_CAM = (
    'step {step}: {term} has been at {value:.1f}, which is chance (2 ln 2 times its weight), for {steps} steps: the'
    ' attention cannot tell the two domains apart. Check that trainA and trainB really differ; if they do, lower'
    ' --config.training.learning_rate, or set --config.training.cam_weight=0.0 to do without.'
)
_ZERO_LOSS = (
    'step {step}: {term} has been at {value:.2g} for {steps} steps: this discriminator is always right, and its'
    ' generator learns nothing from it. Use more, or more varied, pictures, augmentation'
    ' (--config.data.augment=True) or a lower --config.training.learning_rate.'
)
_COPIED = (
    'step {step}: {network} only copies its input (mean difference {distance:.3f} in [-1, 1]). Lower'
    ' --config.training.cycle_weight and --config.training.identity_weight, or check that the two domains differ.'
)
