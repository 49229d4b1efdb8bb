"""Which tensors of two dumps belong together, and which operators stand alone and why.

Names match after the official graph's naming, `/` and `_` being the same. Where the NPU fused operators, a dumped
output says which operator of the user's graph it stands for. Cast and TransData nodes, which the compiler put in, are
compared with what they convert.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ugatit.dumps.tensors import TensorRef
from ugatit.dumps.tree import DumpGraph, Operator, Tree
from ugatit.errors import UserError

CONVERSIONS = ('Cast', 'TransData', 'TransDataRNN', 'Reshape', 'ReFormat', 'Identity', 'MemcpyAsync')
_CLEAR_LEAD = 1.25  # so many times better than the second must the best pair of graphs fit
Output = Tuple[str, int]  # operator's key and output index


class Pair(NamedTuple):
    """Two tensors to be compared."""

    operator: Operator  # left
    output: int
    left: TensorRef
    right: TensorRef
    truth: Output  # right
    relation: str  # 'same', 'fusion', 'conversion'


class Alone(NamedTuple):
    """An operator that has no counterpart."""

    name: str
    type: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Matching:
    """What is compared, in topological order of the left graph, and what is not."""

    left: DumpGraph
    right: DumpGraph
    pairs: Tuple[Pair, ...]
    left_alone: Tuple[Alone, ...]
    right_alone: Tuple[Alone, ...]
    truths: Dict[Output, TensorRef]  # the right side's outputs

    def producers(self, operator: Operator) -> List[Output]:
        """Where an operator's inputs come from in the right dump's terms; [] where no compiled graph tells."""
        graph = self.left.compiled
        if graph is None or operator.key not in graph.nodes:
            return []
        return [_through(self.left, edge, self.truths) for edge in graph.nodes[operator.key].inputs]


def choose(left: Tree, right: Tree, wanted: Optional[str] = None) -> Tuple[DumpGraph, DumpGraph]:
    """The two graphs to compare: the pair that has most operators in common, or what `wanted` names.

    Raises:
        UserError: no graph of that name, or no pair fits clearly best; it lists all graphs.
    """
    lefts, rights = _named(left, wanted), _named(right, wanted)
    if wanted is not None and not (_hits(left, wanted) or _hits(right, wanted)):
        raise UserError(f'no dumped graph is called {wanted!r}; choose one with --graph=NAME:\n{listing(left, right)}')
    scored = sorted(
        ((_share(a, b), i, j) for (i, a), (j, b) in itertools.product(enumerate(lefts), enumerate(rights))),
        key=lambda item: -item[0],
    )
    best = scored[0]
    if best[0] == 0:
        raise UserError(f'the two dumps have no operator in common:\n{listing(left, right)}')
    if len(scored) > 1 and scored[1][0] * _CLEAR_LEAD > best[0]:
        steps = {(lefts[i].model, rights[j].model) for score, i, j in scored if score * _CLEAR_LEAD > best[0]}
        if len(steps) > 1 or wanted is None:
            raise UserError(f'several dumped graphs fit; choose one with --graph=NAME:\n{listing(left, right)}')
    return lefts[best[1]], rights[best[2]]


def listing(*trees: Tree) -> str:
    """One line per graph: where it is, its name, what it is."""
    lines = []
    for tree in trees:
        lines.append(f'{tree.root}:')
        lines += [f'  {graph.model}  ({graph.label})  {graph.kind()}' for graph in tree.graphs]
    return '\n'.join(lines)


def match(left: DumpGraph, right: DumpGraph) -> Matching:
    """Pairs every output of the left graph with one of the right graph, in topological order."""
    truths = _outputs(right)
    pairs: List[Pair] = []
    alone: List[Alone] = []
    for operator in _ordered(left):
        found = [_pair(left, operator, i, ref, truths) for i, ref in sorted(operator.outputs.items())]
        pairs += [pair for pair in found if pair is not None]
        if not any(found):
            alone.append(Alone(operator.name, operator.type, _why_alone(operator, left)))
    used = {pair.truth for pair in pairs}
    rest = [op for op in right.operators.values() if not any((op.key, i) in used for i in op.outputs)]
    hidden = _fused_into(left)
    return Matching(left, right, tuple(pairs), tuple(alone), tuple(
        Alone(op.name, op.type, f'inside the fused operator {hidden[op.key]}' if op.key in hidden else
              'not in the left dump') for op in rest), truths)  # fmt: skip


def _pair(
    graph: DumpGraph, operator: Operator, output: int, ref: TensorRef, truths: Dict[Output, TensorRef]
) -> Optional[Pair]:
    original = operator.originals.get(output)
    own = (operator.key, output)
    if original in truths:
        relation = 'same' if original[0] == operator.key else 'fusion'
        return Pair(operator, output, ref, truths[original], original, relation)
    if own in truths:
        return Pair(operator, output, ref, truths[own], own, 'same')
    joined = _last_of_joined(operator.key, output, truths)
    if joined is not None:
        return Pair(operator, output, ref, truths[joined], joined, 'fusion')
    if operator.type in CONVERSIONS and graph.compiled is not None:
        source = _through(graph, (operator.key, output), truths)
        if source in truths:
            return Pair(operator, output, ref, truths[source], source, 'conversion')
    return None


def _last_of_joined(key: str, output: int, truths: Dict[Output, TensorRef]) -> Optional[Output]:
    """A fused operator may be called like its parts one after the other; its output is the last one's."""
    for position in range(len(key) - 1, 0, -1):
        tail = (key[position:].lstrip('_'), output)
        if tail in truths and _joined(key[:position].rstrip('_'), truths):
            return tail
    return None


def _joined(key: str, truths: Dict[Output, TensorRef]) -> bool:
    return (key, 0) in truths or _last_of_joined(key, 0, truths) is not None


def _through(graph: DumpGraph, output: Output, truths: Dict[Output, TensorRef]) -> Output:
    """Follows conversions upwards to an output of the user's graph."""
    assert graph.compiled is not None
    for _ in range(8):
        key, index = output
        operator = graph.operators.get(key)
        if operator is not None and operator.originals.get(index) in truths:
            return operator.originals[index]
        node = graph.compiled.nodes.get(key)
        if output in truths or node is None or node.type not in CONVERSIONS or not node.inputs:
            return output
        output = node.inputs[0]
    return output


def _outputs(graph: DumpGraph) -> Dict[Output, TensorRef]:
    """All outputs under their own names, and under those of the user's graph where they differ."""
    found = {(op.key, i): ref for op in graph.operators.values() for i, ref in op.outputs.items()}
    for op in graph.operators.values():
        for i, original in op.originals.items():
            found.setdefault(original, op.outputs[i])
    return found


def _ordered(graph: DumpGraph) -> List[Operator]:
    """By the compiled graph where there is one, else by time."""
    if graph.compiled is None:
        return list(graph.operators.values())
    order = [key for key in graph.compiled.order() if key in graph.operators]
    known = set(order)
    return [graph.operators[key] for key in order] + [op for key, op in graph.operators.items() if key not in known]


def _fused_into(graph: DumpGraph) -> Dict[str, str]:
    """Key of an operator that fusion swallowed -> the fused operator's name: `conv2d/Conv2D` in a fused BiasAdd."""
    found = {}
    for op in graph.operators.values():
        for key, _ in op.originals.values():
            if key != op.key:
                found[op.key] = op.name
    return found


def _why_alone(operator: Operator, graph: DumpGraph) -> str:
    if operator.type in CONVERSIONS:
        return 'put in by the compiler' if graph.compiled is not None else 'put in by the compiler; no compiled graph'
    if not operator.outputs:
        return 'dumped without an output'
    return 'not in the right dump'


def _share(left: DumpGraph, right: DumpGraph) -> float:
    """How many operators two graphs have in common, of all; half of it where one trains and the other does not."""
    a, b = set(left.keys()), set(right.keys())
    same_kind = left.kind().partition(':')[0] == right.kind().partition(':')[0]
    return len(a & b) / max(1, len(a | b)) * (1.0 if same_kind else 0.5)


def _hits(tree: Tree, wanted: str) -> Sequence[DumpGraph]:
    exact = [g for g in tree.graphs if wanted in (g.model, g.label)]
    return exact or [g for g in tree.graphs if wanted in g.label]


def _named(tree: Tree, wanted: Optional[str]) -> Sequence[DumpGraph]:
    """The graphs that the name means; all of a side that has no such name."""
    return tree.graphs if wanted is None else _hits(tree, wanted) or tree.graphs
