"""What generators and discriminators have in common."""

from __future__ import annotations

from typing import Any, Dict, Optional

import tensorflow as tf

from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build, Registry
from ugatit.nn.call import Call, Membership
from ugatit.nn.policy import wide


class Network(tf.Module):
    """A network under an official scope; variables, layers and range groups are read off its registry."""

    def __init__(self, architecture: Architecture, scope: str, build: Build) -> None:
        super().__init__()
        self.architecture, self.scope, self.build = architecture, scope, build

    @property
    def registry(self) -> Registry:
        """Layers, variants, range group members and fold rules, as the layers noted them."""
        return self.build.registry

    @property
    def named_variables(self) -> Dict[str, tf.Variable]:
        """Official name -> variable, in the official order of creation."""
        return self.registry.variables

    def range_members(self) -> Dict[str, Membership]:
        """Every stored tensor's range group, found by tracing the network once on a symbolic picture (nothing runs)."""
        if not self.registry.tensors:
            members: Dict[str, Membership] = {}
            size = self.architecture.image_size
            function = tf.function(lambda x: self(x, Call(members=members)).image_or_logits, autograph=False)
            function.get_concrete_function(tf.TensorSpec([None, size, size, 3], tf.float32))
            self.registry.tensors.update(members)
        return dict(self.registry.tensors)

    def heatmap(self, x: tf.Tensor, call: Call, scope: str, group: Optional[str]) -> tf.Tensor:
        """Sum over channels, [N, h, w], true values.

        It can overflow although its inputs fit, so it is summed in float32; without a plan it is then stored like any
        other result, as official code in float16 would.
        """
        total = tf.reduce_sum(wide(x), -1)
        scaling = self.build.scaling
        total = scaling.restore(total, group) if scaling.planned else self.build.policy.vector(total)
        return call.keep(f'{scope}/Sum', total)

    def table(self) -> Dict[str, Dict[str, Any]]:
        """Layer -> setting -> variant, as resolved by the rules."""
        return self.registry.variants
