"""Variants per layer: ordered (regex over the layer's name, variant) rules, first full match wins."""

from __future__ import annotations

import dataclasses
import re
from typing import Dict, Iterable, List, Mapping, Sequence, Tuple

from ugatit.errors import UserError

Rule = Tuple[str, str]

SETTINGS: Dict[str, Dict[str, str]] = {
    'norm': {
        'default': 'as in the paper at that place',
        'instance': 'mean and variance over H, W',
        'layer': 'mean and variance over H, W, C',
        'layer_instance': 'LIN: rho * instance + (1 - rho) * layer, gamma and beta of its own',
        'adaptive_layer_instance': 'AdaLIN: the same x_hat, gamma and beta from the MLP',
        'adaptive_instance': 'AdaIN: instance x_hat, gamma and beta from the MLP',
        'group': 'mean and variance over H, W and one of G groups of channels; group:G, 32 by default',
        'batch': 'running mean and variance, an affine map at inference',
        'none': 'x_hat = x',
    },
    'statistics': {
        'plain': 'in the precision of the vector operations',
        'float32': 'in float32, whatever the precision',
        'prescaled': 'slices divided by powers of two near their amax first: safe when everything is float16',
    },
    'guard': {
        'planned': 'range exponents allowed (all 0 without a plan)',
        'plain': 'range exponents refused',
        'clamp': "results clipped to +-C in float16, StyleGAN2's conv_clamp; clamp:C, 256 by default",
        'norm_after': 'a BatchNorm after the conv, a LayerNorm after an MLP dense; norm_after:folded: BN in the conv',
    },
}
LAYER_KINDS: Dict[str, Tuple[str, ...]] = {'norm': ('norm',), 'statistics': ('norm',), 'guard': ('conv', 'dense')}
"""Which kinds of layer each setting speaks of."""


def split_variant(variant: str) -> Tuple[str, Tuple[str, ...]]:
    """'group:8:own' -> ('group', ('8', 'own'))."""
    name, *parameters = variant.split(':')
    return name, tuple(parameters)


@dataclasses.dataclass(frozen=True)
class Variants:
    """Three ordered rule lists; a frozen value that is passed in."""

    name: str = 'default'
    norm: Tuple[Rule, ...] = (('.*', 'default'),)
    statistics: Tuple[Rule, ...] = (('.*', 'plain'),)
    guard: Tuple[Rule, ...] = (('.*', 'planned'),)
    summary: str = ''  # one sentence: what this preset changes

    def __post_init__(self) -> None:
        for setting in SETTINGS:
            for pattern, variant in getattr(self, setting):
                _check_rule(self.name, setting, pattern, variant)

    def choose(self, setting: str, layer: str) -> str:
        """The first full match's variant; raises UserError where no rule of the setting matches the layer."""
        for pattern, variant in getattr(self, setting):
            if re.fullmatch(pattern, layer):
                return variant
        raise UserError(
            f"Every layer needs a {setting} rule, but no rule of variants '{self.name}' matches {layer!r}; end the list"
            f" with ('.*', '{next(iter(SETTINGS[setting]))}')."
        )


def _check_rule(name: str, setting: str, pattern: str, variant: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise UserError(
            f"Variants '{name}': the {setting} rule {pattern!r} must be a regular expression over layer names, but it"
            f' does not compile ({error}); correct it.'
        ) from None
    known, parameters = split_variant(variant)
    if known not in SETTINGS[setting]:
        raise UserError(
            f"Variants '{name}': unknown {setting} variant {variant!r} for {pattern!r}; legal are"
            f' {", ".join(SETTINGS[setting])}.'
        )
    if not _parameters_fit(setting, known, parameters):
        raise UserError(
            f"Variants '{name}': {variant!r} has parameters that {known!r} does not take; legal are group:G, clamp:C"
            f' up to 65504, norm_after:folded, and NORM:own at adaptive places.'
        )


def _parameters_fit(setting: str, known: str, parameters: Sequence[str]) -> bool:
    left = list(parameters)
    if setting == 'norm' and 'own' in left and known not in ('default', 'adaptive_layer_instance', 'adaptive_instance'):
        left.remove('own')
    if known == 'group' and left and re.fullmatch('[1-9][0-9]{0,7}', left[0]):
        left.pop(0)
    elif known == 'clamp' and left and _is_limit(left[0]):
        left.pop(0)
    elif known == 'norm_after' and left == ['folded']:
        left.pop(0)
    return not left


def _is_limit(text: str) -> bool:
    """A clamp beyond float16's end would clip nothing."""
    return bool(re.fullmatch(r'[0-9]+(\.[0-9]+)?', text)) and 0.0 < float(text) <= 65504.0


def check_all_rules_match(variants: Variants, layers: Mapping[str, str]) -> None:
    """Raises UserError for a rule that matches no layer (`layers`: name -> kind, of all four networks)."""
    for setting, kinds in LAYER_KINDS.items():
        names = [name for name, kind in layers.items() if kind in kinds]
        for pattern, _ in getattr(variants, setting):
            if not any(re.fullmatch(pattern, name) for name in names):
                raise UserError(
                    f"Variants '{variants.name}': the {setting} rule {pattern!r} matches no layer; it must match the"
                    f' whole name of one of {_abridged(names)}.'
                )


def _abridged(names: Iterable[str], most: int = 12) -> str:
    listed: List[str] = list(names)
    more = f' and {len(listed) - most} more' if len(listed) > most else ''
    return ', '.join(listed[:most]) + more


DEFAULT_VARIANTS = Variants()
