"""Tiny trainings in mixed precision, and what changed in them: shared by the tests of it."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from tests.training.tiny import TINY, differing, snapshot
from ugatit.nn.build import Build
from ugatit.nn.policy import make_policy
from ugatit.nn.presets import load_variants
from ugatit.nn.variables import seeded
from ugatit.training.networks import build_networks
from ugatit.training.objective import Objective
from ugatit.training.optimiser import make_optimisers
from ugatit.training.precision import FullPrecision, MixedPrecision
from ugatit.training.update import Training


def make(
    precision: FullPrecision, gan_type: str = 'lsgan', variants: str = 'default', seed: int = 5, algebra: bool = False
) -> Training:
    chosen = load_variants(variants)

    def build(scope: str) -> Build:
        return Build(precision.policy, precision.scaling(scope), chosen, seeded(seed), algebra=algebra)

    networks = build_networks(TINY, build)
    return Training(networks, make_optimisers(networks), Objective(gan_type), precision=precision)


def mixed(
    name: str = 'mixed_float16', overflow: str = 'saturate', variants: str = 'default', **settings: Any
) -> MixedPrecision:
    """In the middle of a run: its scales are not settled any more."""
    settings = {'loss_scale': 16.0, **settings}
    precision = MixedPrecision(make_policy(name, overflow), TINY, load_variants(variants), **settings)
    precision.restore({'ugatit/loss_scale/generators/scale': np.float32(settings['loss_scale'])})
    return precision


def assign_scales(precision: MixedPrecision, **scales: float) -> None:
    for owner, value in scales.items():
        precision.scales[owner].scale.assign(value)


def scales_of(precision: MixedPrecision) -> Dict[str, float]:
    return {owner: float(scale.scale.numpy()) for owner, scale in precision.scales.items()}


def changed(training: Training, before: Dict[str, np.ndarray]) -> set:
    """The kinds of networks whose weights, slots or powers changed; `u` advances with every update, usable or not."""
    names = [name for name in differing(before, snapshot(training)) if not name.endswith('/u')]
    return {'powers' if 'power' in name else name.split('_')[0] for name in names}
