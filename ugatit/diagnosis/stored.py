"""What a plan makes of every tensor: the power of two by which it is stored differently."""

from __future__ import annotations

from typing import Dict, Mapping

from ugatit.nn.call import Membership
from ugatit.nn.network import Network
from ugatit.nn.scaling import FoldRule
from ugatit.ranges import RangeProfile


def storage_shifts(network: Network, profile: RangeProfile, exponents: Mapping[str, int]) -> Dict[str, int]:
    """Tensor name -> shift, for every tensor of the profile: with these exponents it is stored as t * 2**shift.

    Results and statistics move with their range group, weights with the groups that their layer reads and writes.
    """
    members = network.range_members()
    rules = {rule.variable: rule for rule in network.registry.fold_rules}
    return {name: _shift(name, members.get(name), rules, exponents) for name in profile}


def _shift(
    name: str, member: Membership, rules: Mapping[str, FoldRule], exponents: Mapping[str, int]
) -> int:  # fmt: skip
    variable = _variable_behind(name)
    if variable in rules:
        return rules[variable].shift(exponents)
    group = member.group if member else None
    return -member.power * exponents.get(group, 0) if group else 0


def _variable_behind(name: str) -> str:
    """The variable whose fold rule tells how this tensor moves; the name itself for a variable.

    A CAM's attention weights (kernel + bias, also under the second use's name) move as its kernel does.
    """
    layer, _, leaf = name.replace('CAM_logit_1/', 'CAM_logit/').rpartition('/')
    if layer.endswith('CAM_logit') and leaf in ('BiasAdd', 'GatherV2'):
        return f'{layer}/kernel'
    return f'{layer}/{leaf}'
