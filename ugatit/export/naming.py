"""Nodes under the official graph's names, so that exports, dumps, profiles and plans speak of the same tensors."""

from __future__ import annotations

from typing import Dict

import tensorflow as tf

_LEAF = {'AddV2': 'add', 'Sub': 'sub', 'Mul': 'mul', 'RealDiv': 'truediv', 'ConcatV2': 'concat', 'SelectV2': 'Select'}


def official_names(
    definition: tf.compat.v1.GraphDef, tapped: Dict[str, str], fixed: Dict[str, str], scope: str
) -> Dict[str, str]:
    """Node -> its new name: the official one of the tensor it stores, or one in the scope of the layer it works for.

    Args:
        definition: nodes in order of execution.
        tapped: node -> official name of what it gives.
        fixed: node -> name, of the graph's input and outputs.
        scope: 'generator_B/', where a node goes that no layer follows.
    """
    names: Dict[str, str] = {}
    taken = set(fixed.values())
    for node in definition.node:
        official = fixed.get(node.name) or tapped.get(node.name)
        if official and (node.name in fixed or official not in taken):
            names[node.name] = official
            taken.add(official)
    layers = _layers(definition, names, scope)
    for node in definition.node:
        if node.name not in names:
            names[node.name] = _free(layers[node.name] + _LEAF.get(node.op, node.op), taken)
            taken.add(names[node.name])
    return names


def _layers(definition: tf.compat.v1.GraphDef, names: Dict[str, str], scope: str) -> Dict[str, str]:
    """Node -> scope of the first layer that stores a tensor after it."""
    layers, layer = {}, scope
    for node in reversed(definition.node):
        if node.name in names and node.op not in ('Const', 'Placeholder'):
            layer = _layer(names[node.name])
        layers[node.name] = layer
    return layers


def _layer(official: str) -> str:
    """'generator_B/conv/conv2d/Conv2D' -> 'generator_B/conv/'."""
    folder = official.rpartition('/')[0] + '/'
    for inner in ('conv2d/', 'dense/', 'instancenorm/', 'moments/', 'moments_1/'):
        if folder.endswith(f'/{inner}'):
            folder = folder[: -len(inner)]
    return folder


def _free(name: str, taken: set) -> str:
    """The name, or NAME_1, NAME_2, ... where it is taken, as TensorFlow itself counts."""
    number, found = 0, name
    while found in taken:
        number += 1
        found = f'{name}_{number}'
    return found


def renamed(definition: tf.compat.v1.GraphDef, names: Dict[str, str]) -> tf.compat.v1.GraphDef:
    """Changes the names in place, and every reference to them."""
    assert len(set(names.values())) == len(names), 'two nodes would get one name'
    for node in definition.node:
        node.name = names[node.name]
        for i, source in enumerate(node.input):
            name, colon, index = source.partition(':')
            node.input[i] = names[name] + colon + index
    return definition
