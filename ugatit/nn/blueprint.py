"""Networks without weights: names, shapes and layers of any architecture, nothing allocated."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, NamedTuple, Sequence, Tuple, Type

from ugatit.errors import UserError
from ugatit.nn.architecture import DISCRIMINATORS, GENERATORS, NETWORKS, Architecture
from ugatit.nn.build import Build, Registry
from ugatit.nn.discriminator import Discriminator
from ugatit.nn.generator import Generator
from ugatit.nn.network import Network
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants, check_all_rules_match
from ugatit.nn.variables import Initial


class VariableSpec(NamedTuple):
    """What a checkpoint must hold for one variable."""

    shape: Tuple[int, ...]
    trainable: bool


def network_class(scope: str) -> Type[Network]:
    """Generator or Discriminator, by official scope; raises UserError for another name."""
    if scope in GENERATORS:
        return Generator
    if scope in DISCRIMINATORS:
        return Discriminator
    raise UserError(f'A network is one of {", ".join(NETWORKS)}, but {scope!r} arrived; use one of these names.')


def blueprint(architecture: Architecture, scope: str, variants: Variants = DEFAULT_VARIANTS) -> Registry:
    """The registry of the network under `scope`, with a VariableSpec in place of every variable."""

    def specify(name: str, shape: Sequence[int], initial: Initial, trainable: bool) -> Any:
        del name, initial
        return VariableSpec(tuple(shape), trainable)

    return network_class(scope)(architecture, scope, Build(variants=variants, factory=specify)).registry


def variable_specs(
    architecture: Architecture, scope: str, variants: Variants = DEFAULT_VARIANTS
) -> Dict[str, VariableSpec]:
    """Official name -> VariableSpec of one network, in the official order."""
    return blueprint(architecture, scope, variants).variables


def check_variants(architecture: Architecture, variants: Variants) -> Dict[str, Dict[str, str]]:
    """The resolved table of all four networks: layer -> setting -> variant; UserError for rules that do not fit."""
    layers: Dict[str, str] = {}
    table: Dict[str, Dict[str, str]] = {}
    # The layers do not depend on the picture's size, and a generator's size may be too small for the discriminators.
    large = dataclasses.replace(architecture, image_size=max(architecture.image_size, architecture.smallest_size))
    for scope in NETWORKS:
        registry = blueprint(large, scope, variants)
        layers.update(registry.layers)
        table.update(registry.variants)
    check_all_rules_match(variants, layers)
    return table
