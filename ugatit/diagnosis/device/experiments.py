"""The experiments in order, and what each number means in words."""

from __future__ import annotations

import contextlib
import logging
import math
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import tensorflow as tf

from ugatit.diagnosis.device import behind, sums
from ugatit.diagnosis.device.arithmetic import Arithmetic, Emulated
from ugatit.errors import UserError

_FORMATS = {
    (24, True): 'float32',
    (12, True): 'HF32',
    (11, True): 'TF32',
    (11, False): 'float16',
    (8, True): 'bfloat16',
}
LARGEST = 65504.0


class Reading(NamedTuple):
    """What one experiment shows."""

    key: str
    question: str
    answer: str  # equal answers mean equal arithmetic
    numbers: Dict[str, Any]  # behind the answer

    def to_json(self) -> Dict[str, Any]:
        """With words for infinity and NaN, which JSON has not."""
        numbers = {name: value if _is_finite(value) else str(value) for name, value in self.numbers.items()}
        return {'question': self.question, 'answer': self.answer, 'numbers': numbers}


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


Answer = Tuple[str, Dict[str, Any]]


class Experiment(NamedTuple):
    """A question with the experiment that answers it."""

    key: str
    question: str
    ask: Callable[[Arithmetic], Answer]
    assumed: bool = True  # whether the emulation assumes something here; if not, an emulated device is not asked


def measure(arithmetic: Arithmetic, progress: Callable[[Sequence[Experiment]], Any] = iter) -> List[Reading]:
    """Runs all experiments; a device that cannot compute one has that as its answer."""
    emulated = isinstance(arithmetic, Emulated)
    chosen = [experiment for experiment in EXPERIMENTS if experiment.assumed or not emulated]
    with _no_retracing_warnings():
        return [_reading(experiment, arithmetic) for experiment in progress(chosen)]


@contextlib.contextmanager
def _no_retracing_warnings() -> Iterator[None]:
    """Every experiment is a program of its own, which TensorFlow takes for a mistake."""
    log = logging.getLogger('tensorflow')
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def _reading(experiment: Experiment, arithmetic: Arithmetic) -> Reading:
    try:
        answer, numbers = experiment.ask(arithmetic)
    except sums.EmptyResult as error:
        answer, numbers = str(error), {}
    except UserError:
        raise
    except (tf.errors.OpError, RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        answer, numbers = 'fails', {'error': f'{type(error).__name__}: {lines[0][:200] if lines else "no message"}'}
    return Reading(experiment.key, experiment.question, answer, numbers)


def _operands(measured: sums.Measure) -> Callable[[Arithmetic], Answer]:
    def ask(arithmetic: Arithmetic) -> Answer:
        left, right = (sums.operand_bits(arithmetic, measured, in_kernel) for in_kernel in (False, True))
        reach = sums.operand_reach(arithmetic, measured)
        numbers = {'bits of the left': left, 'bits of the right': right, '2**17 * 2**-10': reach}
        return _format(min(left, right), reach == 128.0), numbers

    return ask


def _results(measured: sums.Measure) -> Callable[[Arithmetic], Answer]:
    def ask(arithmetic: Arithmetic) -> Answer:
        bits, reach = sums.result_bits(arithmetic, measured), sums.result_reach(arithmetic, measured)
        return _format(bits, reach == 2.0**20), {'bits': bits, '2**10 * 2**10': reach}

    return ask


def _format(bits: int, keeps_range: bool) -> str:
    other = f'{bits} bits, {"with" if keeps_range else "without"} the range of float32'
    return _FORMATS.get((bits, keeps_range), other)


def _operand_rounding(arithmetic: Arithmetic) -> Answer:
    bits = sums.operand_bits(arithmetic, sums.convolved, False)
    return sums.rounding_of_operands(arithmetic, bits), {}


def _result_rounding(arithmetic: Arithmetic) -> Answer:
    bits = sums.result_bits(arithmetic, sums.convolved)
    return sums.rounding_of_results(arithmetic, bits), {}


def _accumulator(arithmetic: Arithmetic) -> Answer:
    bits, reaches = sums.accumulator_bits(arithmetic), sums.accumulator_reaches(arithmetic)
    name = {24: 'float32', 11: 'float16'}.get(bits, f'{bits} bits' if bits < 31 else '31 bits or more')
    return (name if reaches else f'{name}, ends at 65504'), {'bits': bits, 'passes 65504': reaches}


def _overflow(arithmetic: Arithmetic) -> Answer:
    value = sums.result_reach(arithmetic, sums.convolved)
    return _reached(value, 2.0**20, 'none: 2**20 is kept'), {'2**10 * 2**10': value}


def _reached(value: float, exact: float, kept: str) -> str:
    if value == exact:
        return kept
    if math.isnan(value):
        return 'NaN'
    if math.isinf(value):
        return 'infinity'
    return 'saturates at 65504' if abs(value) == LARGEST else f'{value:g}'


def _status(arithmetic: Arithmetic) -> Answer:
    fits, overflows = sums.status(arithmetic)
    if fits is None or overflows is None:
        return 'there is none', {}
    known = {(False, True): 'raised by overflow only', (True, True): 'always raised', (False, False): 'never raised'}
    return known.get((bool(fits), bool(overflows)), 'raised by what fits only'), {}


def _odd(which: int, kept: str) -> Callable[[Arithmetic], Answer]:
    def ask(arithmetic: Arithmetic) -> Answer:
        value = float(sums.odd_values(arithmetic)[which])
        name = 'NaN' if math.isnan(value) else 'infinity' if math.isinf(value) else f'{value:g}'
        return ('kept' if name == kept else f'becomes {name}'), {'result': value}

    return ask


def _subnormals(values: Callable[[Arithmetic], Any], power: Tuple[int, int]) -> Callable[[Arithmetic], Answer]:
    def ask(arithmetic: Arithmetic) -> Answer:
        operand, result = (float(value) for value in values(arithmetic))
        words = ['kept' if value == 2.0**p else 'flushed to 0' if value == 0.0 else f'{value:g}'
                 for value, p in zip((operand, result), power)]  # fmt: skip
        same = words[0] if words[0] == words[1] else f'operands {words[0]}, results {words[1]}'
        return same, {'operand': operand, 'result': result}

    return ask


def _gradient(which: int) -> Callable[[Arithmetic], Answer]:
    def ask(arithmetic: Arithmetic) -> Answer:
        value = sums.slopes(arithmetic)[which]
        return ('reaches 2**20' if value == 2.0**20 else _reached(value, 2.0**20, '')), {'2**10 * 2**10': value}

    return ask


def _squares(arithmetic: Arithmetic) -> Answer:
    both = behind.squares_behind(arithmetic)
    words = [_reached(value, behind.SQUARED, 'reaches 90000') for value in both]
    answer = words[0] if words[0] == words[1] else f'{words[0]}; as a product {words[1]}'
    return answer, {'SquaredDifference': both[0], 'Square': both[1]}


def _mean(arithmetic: Arithmetic) -> Answer:
    value = behind.mean_behind(arithmetic)
    return _reached(value, behind.MEAN, 'adds widely'), {'mean of 4096 times 57344': value}


def _vector(arithmetic: Arithmetic) -> Answer:
    bits = behind.vector_bits(arithmetic)
    return {24: 'float32', 11: 'float16', 8: 'bfloat16'}.get(bits, f'{bits} bits'), {'bits': bits}


def _padding(arithmetic: Arithmetic) -> Answer:
    return ('works' if behind.reflect_padding(arithmetic) else 'gives other values than slices'), {}


def _twice(arithmetic: Arithmetic) -> Answer:
    return ('the same bits' if behind.same_bits_twice(arithmetic) else 'other bits'), {}


def _explicit(dtype: tf.DType) -> Callable[[Arithmetic], Answer]:
    def ask(arithmetic: Arithmetic) -> Answer:
        total, cancelled = (float(value) for value in sums.explicit(arithmetic, dtype))
        if total != 5.0:
            return f'gives 2 + 3 = {total:g}', {'2 + 3': total}
        return ('works, adds widely' if cancelled == 1.0 else 'works, adds narrowly'), {'2**12 + 1 - 2**12': cancelled}

    return ask


EXPERIMENTS: Tuple[Experiment, ...] = (
    Experiment('conv_operands', 'a float32 convolution multiplies', _operands(sums.convolved)),
    Experiment('conv_operand_rounding', 'its operands are rounded', _operand_rounding),
    Experiment('conv_accumulator', 'it adds in', _accumulator),
    Experiment('conv_results', 'its results are stored as', _results(sums.convolved)),
    Experiment('conv_result_rounding', 'its results are rounded', _result_rounding),
    Experiment('overflow', 'a result beyond 65504 becomes', _overflow),
    Experiment('overflow_status', 'the overflow status is', _status),
    Experiment('infinity', 'infinity in a convolution', _odd(1, 'infinity')),
    Experiment('nan', 'NaN in a convolution', _odd(0, 'NaN')),
    Experiment('float16_subnormals', "float16's subnormal numbers are", _subnormals(sums.small_values, (-10, -20))),
    Experiment('float32_subnormals', "float32's subnormal numbers are", _subnormals(sums.tiny_values, (-115, -130)),
               assumed=False),
    Experiment('matmul_operands', 'a product of matrices multiplies', _operands(sums.multiplied)),
    Experiment('matmul_results', 'the results of that are stored as', _results(sums.multiplied)),
    Experiment('gradient_to_input', "a convolution's gradient to its input", _gradient(0)),
    Experiment('gradient_to_kernel', "a convolution's gradient to its kernel", _gradient(1)),
    Experiment('squares', 'the squared difference behind a convolution', _squares),
    Experiment('mean', 'a mean behind a convolution', _mean),
    Experiment('vector', 'an element-wise sum alone is', _vector),
    Experiment('reflect_padding', 'the operator for reflect padding', _padding, assumed=False),
    Experiment('determinism', 'the same program twice gives', _twice, assumed=False),
    Experiment('explicit_float16', 'a convolution of float16 tensors', _explicit(tf.float16), assumed=False),
    Experiment('explicit_bfloat16', 'a convolution of bfloat16 tensors', _explicit(tf.bfloat16), assumed=False),
)  # fmt: skip
