"""Passes over a GraphDef: constants folded, what does nothing left out, attributes that older TensorFlows lack dropped.

Every node here has one output, except where its consumers say ':1'.
"""

from __future__ import annotations

import collections
from typing import Any, Dict, Iterable, List, Set, Tuple

import numpy as np
import tensorflow as tf

GraphDef = Any  # tf.compat.v1.GraphDef
_SOURCES = ('Const', 'Placeholder')
_NEUTRAL = {'AddV2': 0.0, 'Sub': 0.0, 'Mul': 1.0, 'RealDiv': 1.0}  # x op neutral = x
_SMALL = 4096  # bytes: tables, axes and what shapes are made of, no kernels
_NOTHING = ('Identity', 'StopGradient', 'PreventGradient')
# Default attributes of newer TensorFlows that 1.15 and 2.6 refuse as unknown.
_NEW_ATTRIBUTES = {'MatMul': ('grad_a', 'grad_b'), 'BatchMatMulV2': ('grad_x', 'grad_y')}


def node_of(source: str) -> str:
    """'a/b:0' -> 'a/b'."""
    return source.lstrip('^').partition(':')[0]


def operators(definition: GraphDef) -> Dict[str, int]:
    """Operator type -> how often it occurs, constants and inputs aside; sorted by name."""
    return dict(sorted(collections.Counter(n.op for n in definition.node if n.op not in _SOURCES).items()))


def behind(definition: GraphDef, name: str) -> str:
    """The node whose value `name` is, identities taken away."""
    nodes = {node.name: node for node in definition.node}
    while nodes[name].op in _NOTHING:
        name = node_of(nodes[name].input[0])
    return name


def without_control_inputs(definition: GraphDef) -> GraphDef:
    """An inference graph has no side effects to order."""
    for node in definition.node:
        data = [source for source in node.input if not source.startswith('^')]
        del node.input[:]
        node.input.extend(data)
    return definition


def without_large_constants(definition: GraphDef) -> Tuple[GraphDef, List[Any]]:
    """The graph with placeholders of the same shapes in place of its weights, and the nodes that these were."""
    made, large = tf.compat.v1.GraphDef(), []
    made.versions.CopyFrom(definition.versions)
    for node in definition.node:
        if node.op != 'Const' or node.ByteSize() <= _SMALL:
            made.node.append(node)
            continue
        large.append(node)
        placeholder = made.node.add(name=node.name, op='Placeholder')
        placeholder.attr['dtype'].CopyFrom(node.attr['dtype'])
        placeholder.attr['shape'].shape.CopyFrom(node.attr['value'].tensor.tensor_shape)
    return made, large


def prune(definition: GraphDef, outputs: Iterable[str], keep: Iterable[str] = ()) -> GraphDef:
    """Only what the outputs need, and the nodes in `keep`, in order of execution."""
    nodes = {node.name: node for node in definition.node}
    needed: Set[str] = set(keep)
    waiting = list(outputs)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting.extend(node_of(source) for source in nodes[name].input)
    return _with_nodes(definition, [nodes[name] for name in _order(nodes) if name in needed])


def _order(nodes: Dict[str, Any]) -> List[str]:
    """Names sorted so that every node comes after its inputs, otherwise as they stand."""
    found: Dict[str, None] = {}
    for root in nodes:
        stack = [root]
        while stack:
            name = stack[-1]
            before = [node_of(s) for s in nodes[name].input if node_of(s) not in found]
            if before and name not in found:
                stack.extend(before)
            else:
                found.setdefault(name)
                stack.pop()
    return list(found)


def _with_nodes(definition: GraphDef, nodes: Iterable[Any]) -> GraphDef:
    made = tf.compat.v1.GraphDef()
    made.versions.CopyFrom(definition.versions)
    made.node.extend(nodes)
    return made


def fold_constants(definition: GraphDef, weights: Dict[str, np.ndarray]) -> GraphDef:
    """Computes once what depends on weights only: casts to float16, folded norms, exponents, shapes.

    Args:
        definition: pruned.
        weights: placeholder of a variable -> its value; a ReadVariableOp of it is the value.
    """
    nodes = {node.name: node for node in definition.node}
    constant = {name for name, node in nodes.items() if node.op == 'Const' or name in weights}
    for name in nodes:  # in order of execution
        if nodes[name].input and all(node_of(s) in constant for s in nodes[name].input):
            constant.add(name)
    outputs = {node_of(s) for n in nodes.values() if n.name not in constant for s in n.input} & constant
    values = _values(nodes, constant, outputs, weights)
    made = []
    for name, node in nodes.items():
        if name in outputs:
            made.append(constant_node(name, values[name]))
        elif name not in constant:
            made.append(node)
    return _with_nodes(definition, made)


def _values(nodes: Dict[str, Any], constant: Set[str], wanted: Set[str], weights: Dict[str, Any]) -> Dict[str, Any]:
    """Value of each wanted node; plain weights and constants are handed on, the rest runs in one session."""
    found, computed = {}, []
    for name in wanted:
        plain = _plain(nodes, name, weights)
        if plain is None:
            computed.append(name)
        else:
            found[name] = plain
    if computed:
        found.update(_computed(nodes, constant, computed, weights))
    return found


def _plain(nodes: Dict[str, Any], name: str, weights: Dict[str, Any]) -> Any:
    node = nodes[name]
    if node.op == 'Const':
        return tf.make_ndarray(node.attr['value'].tensor)
    if node.op in ('ReadVariableOp', *_NOTHING):
        return _plain(nodes, node_of(node.input[0]), weights)
    return weights.get(name)


def _computed(nodes: Dict[str, Any], constant: Set[str], wanted: List[str], weights: Dict[str, Any]) -> Dict[str, Any]:
    part = tf.compat.v1.GraphDef()
    needed = prune(_with_nodes(part, [nodes[name] for name in nodes if name in constant]), wanted)
    fed = {}
    for node in needed.node:
        made = part.node.add()
        if node.op == 'ReadVariableOp':
            fed[f'{node.name}:0'] = weights[node_of(node.input[0])]
            made.name, made.op = node.name, 'Placeholder'
            made.attr['dtype'].CopyFrom(node.attr['dtype'])
        else:
            made.CopyFrom(node)
    kept = [node for node in part.node if node.name not in weights]  # the resources themselves
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(_with_nodes(part, kept), name='')
        with tf.compat.v1.Session(graph=graph) as session:
            values = session.run([f'{name}:0' for name in wanted], fed)
    return dict(zip(wanted, values))


def constant_node(name: str, value: np.ndarray) -> Any:
    """A Const node."""
    value = np.asarray(value)
    node = tf.compat.v1.NodeDef(name=name, op='Const')
    node.attr['dtype'].type = tf.as_dtype(value.dtype).as_datatype_enum
    node.attr['value'].tensor.CopyFrom(tf.make_tensor_proto(value))
    return node


def bypass(definition: GraphDef, keep: Iterable[str]) -> GraphDef:
    """Leaves out nodes that give what they get: identities, + 0, * 1, casts to the same type. `keep` stays."""
    nodes = {node.name: node for node in definition.node}
    kept, instead = set(keep), {}
    for name, node in nodes.items():
        for i, source in enumerate(node.input):
            node.input[i] = instead.get(source, source)
        through = None if name in kept else _through(node, nodes)
        if through is not None:
            instead[name] = through
    return prune(definition, kept, [n.name for n in definition.node if n.op == 'Placeholder'])


def _through(node: Any, nodes: Dict[str, Any]) -> Any:
    """The input that the node hands on unchanged, or None."""
    if node.op in _NOTHING or (node.op == 'Cast' and node.attr['SrcT'].type == node.attr['DstT'].type):
        return node.input[0]
    if node.op in _NEUTRAL:
        other = nodes[node_of(node.input[1])]
        if other.op == 'Const':
            value = tf.make_ndarray(other.attr['value'].tensor)
            if value.ndim <= 1 and np.all(value == _NEUTRAL[node.op]):  # a vector over channels, or one number
                return node.input[0]
    return None


def share_constants(definition: GraphDef, named: Iterable[str]) -> GraphDef:
    """Small constants of equal content become one; those in `named`, which carry official names, stay."""
    kept, first, instead, made = set(named), {}, {}, []
    for node in definition.node:
        if node.op == 'Const' and node.name not in kept and node.ByteSize() <= _SMALL:
            value = node.attr['value'].SerializeToString(deterministic=True)
            if value in first:
                instead[node.name] = first[value]
                continue
            first[value] = node.name
        for i, source in enumerate(node.input):
            node.input[i] = instead.get(source, source)
        made.append(node)
    return _with_nodes(definition, made)


def portable(definition: GraphDef) -> GraphDef:
    """Without attributes that older TensorFlows do not know or that speak of the machine it was traced on."""
    for node in definition.node:
        node.device = ''
        for name in [key for key in node.attr if key.startswith('_')]:
            del node.attr[name]
        for name in _NEW_ATTRIBUTES.get(node.op, ()):
            if name in node.attr and not node.attr[name].b:
                del node.attr[name]
    definition.versions.min_consumer = 12
    return definition
