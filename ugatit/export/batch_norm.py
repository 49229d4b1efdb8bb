"""Batch normalisation at inference is an affine map: here it goes into the convolution in front of it.

The norm's variables become those of a map that does nothing (mean 0, deviation 1, and where they are its own, gamma 1
and beta 0), and what does nothing the graph leaves out (`ugatit.export.graph.bypass`).
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Optional

import numpy as np

from ugatit.nn.build import Registry
from ugatit.nn.norm import EPSILON
from ugatit.nn.rules import Variants
from ugatit.nn.scaling import Scaling


def absorbed(registry: Registry, scaling: Scaling, variables: Mapping[str, Any]) -> Dict[str, np.ndarray]:
    """Official name -> new value, of every variable that changes; float32 from float64.

    A norm is absorbed where one convolution alone writes what it reads: then nothing else sees the difference.
    """
    changed: Dict[str, np.ndarray] = {}
    for norm in registry.running:
        prefix = _convolution_before(registry, norm)
        if prefix is not None:
            changed.update(_absorbed(norm, prefix, scaling, registry, variables))
    return {name: np.asarray(value, np.float32) for name, value in changed.items()}


def _convolution_before(registry: Registry, norm: str) -> Optional[str]:
    """The scope of the kernel whose result the norm reads."""
    group = next(rule.reads for rule in registry.fold_rules if rule.variable == f'{norm}/moving_mean')
    kernels = [r.variable for r in registry.fold_rules if r.writes == group and r.variable.endswith('/kernel')]
    if group is None or len(kernels) != 1:
        return None
    prefix = kernels[0][: -len('/kernel')]
    layer = prefix[: -len('/conv2d')] if prefix.endswith('/conv2d') else prefix
    plain = registry.variants.get(layer, {}).get('guard') in ('planned', 'plain')  # a clamp stands in between
    return prefix if plain else None


def _absorbed(
    norm: str, prefix: str, scaling: Scaling, registry: Registry, variables: Mapping[str, Any]
) -> Dict[str, np.ndarray]:
    def value(name: str) -> np.ndarray:
        return variables[name].numpy().astype(np.float64)

    reads = next(rule.reads for rule in registry.fold_rules if rule.variable == f'{norm}/moving_mean')
    epsilon = float(scaling.epsilon(EPSILON, reads))
    mean, variance = value(f'{norm}/moving_mean'), value(f'{norm}/moving_variance')
    scale = 1.0 / np.sqrt(variance + epsilon)
    shift = -mean * scale
    changed = {f'{norm}/moving_mean': np.zeros_like(mean), f'{norm}/moving_variance': _unit_variance(epsilon, mean)}
    if f'{norm}/gamma' in variables:  # its own; elsewhere gamma and beta come from the MLP
        gamma, beta = value(f'{norm}/gamma'), value(f'{norm}/beta')
        scale, shift = scale * gamma, shift * gamma + beta
        changed.update({f'{norm}/gamma': np.ones_like(gamma), f'{norm}/beta': np.zeros_like(beta)})
    changed[f'{prefix}/kernel'] = value(f'{prefix}/kernel') * scale
    changed[f'{prefix}/bias'] = value(f'{prefix}/bias') * scale + shift
    return changed


def _unit_variance(epsilon: float, like: np.ndarray) -> np.ndarray:
    """The float32 variance whose sum with epsilon, rounded to float32, is 1."""
    return np.full_like(like, np.float32(1.0) - np.float32(epsilon))


def folded_after(variants: Variants, registry: Registry) -> Variants:
    """The variants with every BatchNorm behind a convolution (`norm_after`) multiplied into it."""
    rules = tuple(
        (layer.replace('.', r'\.'), 'norm_after:folded')
        for layer, kind in registry.layers.items()
        if kind == 'conv' and registry.variants[layer].get('guard') == 'norm_after'
    )
    return dataclasses.replace(variants, guard=rules + variants.guard) if rules else variants
