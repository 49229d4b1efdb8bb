"""What every layer is built with: formats, exponents, variants and where variables come from."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, ContextManager, Dict, List, NamedTuple, Optional

import tensorflow as tf

from ugatit.nn.policy import FLOAT32_POLICY, Policy
from ugatit.nn.rules import DEFAULT_VARIANTS, Variants
from ugatit.nn.scaling import UNPLANNED, FoldRule, Scaling
from ugatit.nn.variables import Initial, VariableFactory, seeded


class Member(NamedTuple):
    """One layer's say about a range group that it writes or reads."""

    layer: str
    permits: bool  # False: this layer's variant refuses exponents


@dataclasses.dataclass
class Registry:
    """What a network is made of, noted by the layers themselves while they are built."""

    variables: Dict[str, Any] = dataclasses.field(default_factory=dict)  # official name -> variable, creation order
    layers: Dict[str, str] = dataclasses.field(default_factory=dict)  # layer -> 'conv', 'dense' or 'norm'
    variants: Dict[str, Dict[str, str]] = dataclasses.field(default_factory=dict)  # layer -> setting -> variant
    members: Dict[str, List[Member]] = dataclasses.field(default_factory=dict)  # range group -> its layers
    fold_rules: List[FoldRule] = dataclasses.field(default_factory=list)
    tensors: Dict[str, Any] = dataclasses.field(default_factory=dict)  # tensor -> Membership, once it was asked for
    running: Dict[str, Any] = dataclasses.field(default_factory=dict)  # layers with running statistics


@dataclasses.dataclass(frozen=True)
class Build:
    """Frozen settings of one network plus the registry that its layers fill."""

    policy: Policy = FLOAT32_POLICY
    scaling: Scaling = UNPLANNED
    variants: Variants = DEFAULT_VARIANTS
    factory: VariableFactory = dataclasses.field(default_factory=seeded)
    pad_mode: str = 'mirror'  # how reflect padding is computed, see ugatit.nn.pad
    algebra: bool = False  # for training on a CPU in float32: layers use the identities of ugatit.nn.algebra
    keep_float32: Callable[[], ContextManager[Any]] = contextlib.nullcontext  # statistics are computed in here: tells a
    # compiler that would make float32 operators float16 by itself to leave these as they are
    registry: Registry = dataclasses.field(default_factory=Registry)

    def variable(self, name: str, shape: List[int], initial: Initial, trainable: bool = True) -> tf.Variable:
        """Creates and notes the variable with this official name."""
        made = self.factory(name, shape, initial, trainable)
        self.registry.variables[name] = made
        return made

    def variant(self, setting: str, layer: str, kind: str) -> str:
        """The variant that the rules choose for a layer of this kind; noted for the printed table."""
        self.registry.layers[layer] = kind
        chosen = self.variants.choose(setting, layer)
        self.registry.variants.setdefault(layer, {})[setting] = chosen
        return chosen

    def join(self, layer: str, permits: bool, *groups: Optional[str]) -> None:
        """Notes that a layer writes or reads these range groups, and whether its variant permits exponents there."""
        for group in groups:
            if group:
                self.registry.members.setdefault(group, []).append(Member(layer, permits))

    def fold_rule(
        self, variable: str, reads: Optional[str], writes: Optional[str], reading: int, writing: int
    ) -> FoldRule:
        """Notes how the variable moves with the exponents of the groups its layer reads and writes."""
        rule = FoldRule(variable, reads, writes, reading, writing)
        self.registry.fold_rules.append(rule)
        return rule
