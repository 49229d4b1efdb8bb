"""The first operator that went wrong, and why, in words."""

from __future__ import annotations

import dataclasses
import math
from typing import List, Optional, Sequence, Tuple

import numpy as np

from ugatit.dumps.dtypes import FLOAT16_MAX
from ugatit.dumps.matching import Matching, Pair
from ugatit.dumps.metrics import Metrics, measure
from ugatit.dumps.tensors import TensorRef
from ugatit.dumps.tree import Operator
from ugatit.errors import UserError


@dataclasses.dataclass(frozen=True)
class Limits:
    """From where on an output counts as wrong."""

    cosine_below: float = 0.99
    relative_above: float = 0.05  # relative Euclidean distance
    few: int = 4  # outputs of fewer elements are not judged by cosine or distance: their readers are
    zero_tolerance: float = 1e-3  # largest |left| where the right side is zero everywhere

    def broken(self, m: Metrics) -> bool:
        """Whether these two tensors differ by more than rounding explains."""
        if not math.isfinite(m.left_amax) and math.isfinite(m.right_amax):
            return True
        if m.left_saturated and m.right_over:
            return True
        if m.right_amax <= 0:
            return m.left_amax > self.zero_tolerance
        if m.count < self.few:  # a picture's mean near zero may be far off where nothing is wrong
            return False
        return m.relative_euclidean > self.relative_above or m.cosine < self.cosine_below


DEFAULT_LIMITS = Limits()


@dataclasses.dataclass(frozen=True)
class InputState:
    """One input of the operator, as the left side read it, against the right side's value."""

    name: str  # producer
    metrics: Metrics
    measured: str  # 'input': the dumped input itself; 'output': what its producer gave; 'before': no graph tells, this
    # is the output before it in time

    @property
    def title(self) -> str:
        """'input from NAME', or what stands for it."""
        return f'before it in time {self.name}' if self.measured == 'before' else f'input from {self.name}'


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The first bad operator; `sentence` stands first in the output."""

    operator: Optional[str]  # None: nothing is wrong
    type: str
    cause: str  # 'none', 'overflow', 'cast', 'upstream', 'operator', 'unknown'
    sentence: str
    inputs: Tuple[InputState, ...] = ()


def judge(
    matching: Matching, results: Sequence[Tuple[Pair, Optional[Metrics]]], limits: Limits = DEFAULT_LIMITS
) -> Verdict:
    """Finds the first pair in order that is beyond the limits and looks at its inputs."""
    compared = [(pair, m) for pair, m in results if m is not None]
    if not compared:
        return Verdict(None, '', 'unknown', 'nothing could be compared: no two tensors belong together.')
    for pair, m in compared:
        if limits.broken(m):
            return _explain(matching, pair, m, results, limits)
    worst = max(m.relative_euclidean for _, m in compared if not math.isnan(m.relative_euclidean))
    count = len(compared)
    return Verdict(None, '', 'none', f'all {count} outputs agree to {worst:.0e}: no operator went wrong.')


def state_of_output(m: Metrics) -> str:
    """'output saturated at 65504 in 0.4 % of elements'."""
    if not math.isfinite(m.left_amax) and math.isfinite(m.right_amax):
        return 'output has NaN or infinity, the right side has not'
    if m.left_saturated:
        return f'output saturated at 65504 in {_percent(m.left_saturated)} of elements'
    if m.left_amax == 0 < m.right_amax:
        return f'output zero everywhere, where the right side reaches {m.right_amax:.3g}'
    return f'output differs by {_share(m.relative_euclidean)} (cosine {m.cosine:.4f})'


def _explain(
    matching: Matching, pair: Pair, m: Metrics, results: Sequence[Tuple[Pair, Optional[Metrics]]], limits: Limits
) -> Verdict:
    operator = pair.operator
    states = _inputs(matching, pair, results)
    name = f'{operator.name} ({operator.type})' if operator.type else operator.name
    if pair.relation == 'conversion':
        name += f' of {_official(matching, pair.truth)}{_for_readers(matching, operator.key)}'
    if pair.relation == 'conversion' and m.left_saturated and not any(limits.broken(s.metrics) for s in states):
        agree = f'inputs agree to {max(s.metrics.relative_euclidean for s in states):.0e}, ' if states else ''
        text = f'{agree}reaching {m.right_amax:.6g}, {state_of_output(m)}: float16 overflow here'
        return Verdict(operator.name, operator.type, 'cast', f'first bad operator: {name}: {text}.', states)
    cause, text = _cause(m, states, limits, _standing_inputs(operator) if _unknown(states) else '')
    return Verdict(operator.name, operator.type, cause, f'first bad operator: {name}: {text}.', states)


def _standing_inputs(operator: Operator) -> str:
    """'its float16 input 0 stands at 65504 in 0.4 % of elements', where an input was dumped and does; else ''."""
    for i, ref in sorted(operator.inputs.items()):
        try:
            tensor = ref.open()
        except UserError:
            continue
        if tensor.dtype.is_float16 and tensor.size:
            count = sum(int(np.count_nonzero(~(np.abs(block) < FLOAT16_MAX))) for block in tensor.blocks(1 << 18))
            if count:
                return f'its float16 input {i} stands at 65504 in {_percent(count / tensor.size)} of elements'
    return ''


def _cause(m: Metrics, states: Sequence[InputState], limits: Limits, standing: str) -> Tuple[str, str]:
    output = state_of_output(m)
    if standing:
        return 'cast', f'{standing}; {output}: float16 overflow here, where its input is converted'
    cast = next((s for s in states if s.metrics.left_saturated and s.metrics.right_over), None)
    if cast is not None and cast.measured == 'input':
        share = _percent(cast.metrics.left_saturated)
        return 'cast', (
            f'its float16 input from {cast.name} is saturated at 65504 in {share} of elements, where the right side'
            f' reaches {cast.metrics.right_amax:.6g}; {output}: float16 overflow here'
        )
    bad = [s for s in states if limits.broken(s.metrics)]
    if bad:
        worst = max(bad, key=lambda s: s.metrics.relative_euclidean)
        far = _share(worst.metrics.relative_euclidean)
        return 'upstream', f'inputs already differ ({worst.name} by {far}); {output}: look upstream'
    known = _agreement(states)
    if m.left_saturated or not math.isfinite(m.left_amax):
        return 'overflow', f'{known}, {output}: float16 overflow here{"" if states else ", or before it"}'
    if m.right_over and not states:
        return 'unknown', f'{known}, {output}, and the right side reaches {m.right_amax:.6g}'
    return ('operator' if states else 'unknown'), f'{known}, {output}: look at this operator itself'


def _agreement(states: Sequence[InputState]) -> str:
    if not states:
        return 'its inputs are unknown (none was dumped on both sides)'
    worst = max(s.metrics.relative_euclidean for s in states)
    return f'{"the output before it agrees" if _unknown(states) else "inputs agree"} to {worst:.0e}'


def _unknown(states: Sequence[InputState]) -> bool:
    """Whether nothing is known of the operator's own inputs."""
    return all(state.measured == 'before' for state in states)


def _inputs(
    matching: Matching, pair: Pair, results: Sequence[Tuple[Pair, Optional[Metrics]]]
) -> Tuple[InputState, ...]:
    """Each input whose right value is known; the operator before it in order where no compiled graph tells."""
    done = {p.truth: m for p, m in results if m is not None}
    producers = matching.producers(pair.operator)
    states: List[InputState] = []
    for i, truth in enumerate(producers):
        state = _measured(matching, pair.operator.inputs.get(i), truth)
        if state is not None:
            states.append(InputState(_official(matching, truth), state, 'input'))
        elif truth in done:
            states.append(InputState(_official(matching, truth), done[truth], 'output'))
    if producers:
        return tuple(states)
    before = None
    for p, m in results:
        if p is pair:
            break
        before = (p, m) if m is not None else before
    if before is None:
        return ()
    return (InputState(_official(matching, before[0].truth), before[1], 'before'),)


def _measured(matching: Matching, left: Optional[TensorRef], truth: Tuple[str, int]) -> Optional[Metrics]:
    right = matching.truths.get(truth)
    if left is None or right is None:
        return None
    try:
        return measure(left.open(), right.open())
    except UserError:  # an input in another shape, or without numbers, says nothing
        return None


def _for_readers(matching: Matching, key: str) -> str:
    """' for NAME': who reads a conversion's result."""
    graph = matching.left.compiled
    nodes = graph.nodes.values() if graph is not None else ()
    readers = [node.name for node in nodes if any(producer == key for producer, _ in node.inputs)]
    return f' for {readers[0]}' if len(readers) == 1 else f' for {len(readers)} operators' if readers else ''


def _official(matching: Matching, truth: Tuple[str, int]) -> str:
    """The name with / where either dump has it."""
    for graph in (matching.right, matching.left):
        if truth[0] in graph.operators and '/' in graph.operators[truth[0]].name:
            return graph.operators[truth[0]].name
    node = matching.left.compiled.nodes.get(truth[0]) if matching.left.compiled is not None else None
    return node.name if node is not None else truth[0]


def _percent(share: float) -> str:
    return f'{100 * share:.2g} %' if share >= 1e-4 else f'{1e6 * share:.2g} of a million'


def _share(value: float) -> str:
    return f'{100 * value:.2g} %' if math.isfinite(value) else 'NaN'
