"""A checkpoint so small that its network is traced in a second or two, for tests of what is around the network."""

from __future__ import annotations

import functools
import pathlib
from typing import Dict, Optional

import numpy as np
import pytest

from ugatit.checkpoints.naming import model_name
from ugatit.checkpoints.writer import save_checkpoint
from ugatit.inference.model import ModelChoice
from ugatit.nn.architecture import GENERATORS, Architecture
from ugatit.nn.build import Build
from ugatit.nn.generator import Generator
from ugatit.nn.variables import seeded
from ugatit.ranges import RangePlan
from ugatit.translate import Translator

SIZE = 16
TINY = Architecture(image_size=SIZE, ch=2, n_res=1, n_dis=4, light=True)


@functools.cache
def generator_values(architecture: Architecture = TINY) -> Dict[str, np.ndarray]:
    """Official name -> seeded value, of both generators; large enough that results are colourful."""
    values: Dict[str, np.ndarray] = {}
    for scope in GENERATORS:
        variables = Generator(architecture, scope, Build(factory=seeded(7))).named_variables
        values.update({name: _livelier(name, variable.numpy()) for name, variable in variables.items()})
    return values


def write_tiny(folder: pathlib.Path, architecture: Architecture = TINY, **changes: np.ndarray) -> pathlib.Path:
    """Saves the generators in a folder; `changes` (with '/' written as '__') replace tensors. Returns the folder."""
    values = {**generator_values(architecture), **{name.replace('__', '/'): value for name, value in changes.items()}}
    save_checkpoint(folder, model_name(architecture.light), 5, values, {'architecture': architecture})
    return folder


def share_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `ModelChoice.load` give the same translator to equal choices without a plan, so that it is traced once."""
    original = ModelChoice.load

    def load(choice: ModelChoice, ranges: Optional[RangePlan] = None) -> Translator:
        if ranges is not None or choice.variants.name != 'default':
            return original(choice, ranges)
        if choice not in _LOADED:
            _LOADED[choice] = original(choice)
        return _LOADED[choice]

    monkeypatch.setattr(ModelChoice, 'load', load)


_LOADED: Dict[ModelChoice, Translator] = {}


def _livelier(name: str, value: np.ndarray) -> np.ndarray:
    return value * 10.0 if name.endswith('kernel') else value
