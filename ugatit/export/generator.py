"""The generator that is exported: a loaded one under another policy and padding, its batch norms absorbed."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence

import tensorflow as tf

from ugatit.export.batch_norm import absorbed, folded_after
from ugatit.nn.build import Build
from ugatit.nn.generator import Generator
from ugatit.nn.policy import Policy, make_policy
from ugatit.nn.rules import Variants
from ugatit.nn.variables import Initial, named_variable
from ugatit.translate import Translator


def statistics_for(precision: str, chosen: Optional[str]) -> Optional[str]:
    """What --statistics means where it is not given: in float16 throughout only `prescaled` is right; None: as the
    variants say."""
    return 'prescaled' if chosen is None and precision == 'float16' else chosen


def with_statistics(variants: Variants, statistics: Optional[str]) -> Variants:
    """The variants with one way of computing statistics everywhere; None: unchanged."""
    if statistics is None:
        return variants
    name = variants.name if variants.name != 'default' else statistics
    return dataclasses.replace(variants, name=name, statistics=(('.*', statistics),))


def export_policy(precision: str) -> Policy:
    """Tensors really have the formats: an exported float16 graph is one of halves, with casts where it widens."""
    policy = make_policy(precision)
    return dataclasses.replace(policy, native=precision != 'float32')


def exportable(translate: Translator, precision: str, reflect_pad: str) -> Generator:
    """The same network over the same variables; only those that absorb a batch norm are copies."""
    generator, build = translate.generator, translate.generator.build
    variables = generator.named_variables
    changed = absorbed(generator.registry, build.scaling, variables)

    def variable(name: str, shape: Sequence[int], initial: Initial, trainable: bool) -> Any:
        del shape, initial
        return named_variable(name, tf.constant(changed[name]), trainable) if name in changed else variables[name]

    variants = folded_after(build.variants, generator.registry)
    with tf.device('/CPU:0'):
        made = Build(export_policy(precision), build.scaling, variants, variable, reflect_pad)
        return Generator(generator.architecture, generator.scope, made)
