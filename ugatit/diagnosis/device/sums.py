"""Sums of a few products on a device's matrix unit, each chosen so that one number tells two arithmetics apart."""

from __future__ import annotations

import itertools
from typing import Callable, List, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow as tf

from ugatit.diagnosis.device.arithmetic import Arithmetic

CHANNELS = 48  # three blocks of 16, the width that matrix units add at once
TOGETHER = 64  # sums in one call, filled up with zeros: every call has one shape, so the device compiles once
MOST_BITS = 24  # float32's significand: what arrives is float32, so no more can be seen of operands and results


class Term(NamedTuple):
    """One product."""

    channel: int
    left: float  # in the picture
    right: float  # in the kernel


Sum = List[Term]


def adjacent(*products: Tuple[float, float]) -> Sum:
    """Products in neighbouring channels."""
    return [Term(channel, left, right) for channel, (left, right) in enumerate(products)]


def orders(*products: Tuple[float, float]) -> List[Sum]:
    """The same products in every order, close together and in different blocks of 16 channels."""
    places = ((0, 1, 2, 3, 4, 5), (0, 8, 16, 24, 32, 40), (0, 16, 32, 1, 17, 33))
    return [
        [Term(channel, left, right) for channel, (left, right) in zip(spread, order)]
        for spread in places
        for order in sorted(set(itertools.permutations(products)))
    ]


def convolved(arithmetic: Arithmetic, sums: Sequence[Sum]) -> np.ndarray:
    """The sums as 1x1 convolutions; [len(sums)] float32."""
    blocks = [arithmetic.run(arithmetic.conv, x[:, None, None], kernel[None, None])[0] for x, kernel in _arrays(sums)]
    return _diagonals(blocks, len(sums))


def multiplied(arithmetic: Arithmetic, sums: Sequence[Sum]) -> np.ndarray:
    """The sums as products of matrices."""
    return _diagonals([arithmetic.run(arithmetic.matmul, *block)[0] for block in _arrays(sums)], len(sums))


Measure = Callable[[Arithmetic, Sequence[Sum]], np.ndarray]


def _arrays(sums: Sequence[Sum]) -> List[Tuple[np.ndarray, np.ndarray]]:
    """(x [TOGETHER, CHANNELS], kernel [CHANNELS, TOGETHER]) whose products have the sums on their diagonals."""
    blocks = []
    for start in range(0, len(sums), TOGETHER):
        x, kernel = np.zeros([TOGETHER, CHANNELS], np.float32), np.zeros([CHANNELS, TOGETHER], np.float32)
        for n, terms in enumerate(sums[start : start + TOGETHER]):
            for term in terms:
                x[n, term.channel], kernel[term.channel, n] = term.left, term.right
        blocks.append((x, kernel))
    return blocks


class EmptyResult(RuntimeError):
    """A device that has no kernel may give a tensor without values instead of an error."""


def _diagonals(blocks: Sequence[np.ndarray], count: int) -> np.ndarray:
    for block in blocks:
        if block.size != TOGETHER**2:
            raise EmptyResult(f'gives {block.size} values where {TOGETHER**2} are due')
    found = [np.diagonal(block.reshape(TOGETHER, TOGETHER)) for block in blocks]
    return np.concatenate(found)[:count].astype(np.float32)


def first(values: np.ndarray) -> float:
    """The first of values that are all alike."""
    if not values.size:
        raise EmptyResult('gives no values')
    return float(values.reshape(-1)[0])


def longest(kept: Sequence[bool]) -> int:
    """How many are true before the first that is not."""
    return next((i for i, true in enumerate(kept) if not true), len(kept))


def halves(power: int) -> Tuple[float, float]:
    """2**power as a product of two powers that both fit float16."""
    return 2.0 ** (power // 2), 2.0 ** (power - power // 2)


def operand_bits(arithmetic: Arithmetic, measure: Measure, in_kernel: bool) -> int:
    """Significant bits of an operand: (1 + 2**-k) - 1 is 2**-k as long as the operand keeps its last bit."""
    sums = []
    for k in range(1, MOST_BITS):
        pairs = [(1.0 + 2.0**-k, 1.0), (1.0, -1.0)]
        sums.append(adjacent(*((right, left) if in_kernel else (left, right) for left, right in pairs)))
    return 1 + longest([value == 2.0**-k for k, value in enumerate(measure(arithmetic, sums), 1)])


def result_bits(arithmetic: Arithmetic, measure: Measure) -> int:
    """Significant bits of a result: 2**12 + 2**(12 - k), from operands that fit everything."""
    sums = [adjacent(halves(12), halves(12 - k)) for k in range(1, MOST_BITS)]
    return 1 + longest([value == 2.0**12 + 2.0 ** (12 - k) for k, value in enumerate(measure(arithmetic, sums), 1)])


def operand_reach(arithmetic: Arithmetic, measure: Measure) -> float:
    """2**17 * 2**-10: 128 where the operand has float32's range, 63.97 where it saturates, inf or NaN otherwise."""
    return float(measure(arithmetic, [adjacent((2.0**17, 2.0**-10))])[0])


def result_reach(arithmetic: Arithmetic, measure: Measure) -> float:
    """2**10 * 2**10, which float16 cannot hold."""
    return float(measure(arithmetic, [adjacent((2.0**10, 2.0**10))])[0])


def accumulator_bits(arithmetic: Arithmetic) -> int:
    """2**k + 1 - 2**k in every order: 1 as long as the accumulator keeps k + 1 bits. Up to 2**30, which float16's
    operands reach."""
    powers = range(4, 31)
    sums = [orders(halves(k), (1.0, 1.0), _negative(halves(k))) for k in powers]
    values = convolved(arithmetic, [one for some in sums for one in some]).reshape(len(powers), -1)
    return powers[0] + longest([bool(np.all(row == 1.0)) for row in values])


def accumulator_reaches(arithmetic: Arithmetic) -> bool:
    """Whether 3 * 2**15 - 2 * 2**15 is 2**15 in every order: on the way it passes 65504."""
    up, down = halves(15), _negative(halves(15))
    return bool(np.all(convolved(arithmetic, orders(up, up, up, down, down)) == 2.0**15))


def _negative(pair: Tuple[float, float]) -> Tuple[float, float]:
    return -pair[0], pair[1]


def rounding_of_results(arithmetic: Arithmetic, bits: int) -> str:
    """Two ties and one value just above a tie, of two products each."""
    unit = 2.0 ** (1 - bits)  # of a number in [1, 2)
    extras = (0.5 * unit, 1.5 * unit, 0.625 * unit)
    sums = [adjacent((2.0**6, 2.0**6), (2.0**6, 2.0**6 * extra)) for extra in extras]
    return _rounding([(value / 2.0**12 - 1.0) / unit for value in convolved(arithmetic, sums).astype(np.float64)])


def rounding_of_operands(arithmetic: Arithmetic, bits: int) -> str:
    """The same three for an operand; float32 operands arrive as they are."""
    if bits >= MOST_BITS:
        return 'exact'
    unit = 2.0 ** (1 - bits)
    values = [1.0 + extra * unit for extra in (0.5, 1.5, 0.625)]
    if any(np.float32(value) != value for value in values):
        return 'not known'
    found = convolved(arithmetic, [adjacent((value, 1.0), (1.0, -1.0)) for value in values])
    return _rounding([value / unit for value in found])


def _rounding(units: Sequence[float]) -> str:
    known = {
        (0.0, 2.0, 1.0): 'nearest, ties to even',
        (1.0, 2.0, 1.0): 'nearest, ties away from zero',
        (0.0, 1.0, 1.0): 'nearest, ties to zero',
        (0.0, 1.0, 0.0): 'cut off',
    }
    return known.get(tuple(float(unit) for unit in units), f'unusual: {", ".join(f"{unit:g}" for unit in units)}')


def small_values(arithmetic: Arithmetic) -> np.ndarray:
    """[operand, result]: 2**-20 through a convolution, a subnormal number of float16 and a normal one of float32."""
    return convolved(arithmetic, [adjacent((2.0**-20, 2.0**10)), adjacent((2.0**-10, 2.0**-10))])


def tiny_values(arithmetic: Arithmetic) -> np.ndarray:
    """[operand, result]: 2**-130, a subnormal number of float32."""
    return convolved(arithmetic, [adjacent((2.0**-130, 2.0**15)), adjacent((2.0**-70, 2.0**-60))])


def odd_values(arithmetic: Arithmetic) -> np.ndarray:
    """[NaN, infinity] through a convolution."""
    return convolved(arithmetic, [adjacent((np.nan, 1.0)), adjacent((np.inf, 1.0))])


def status(arithmetic: Arithmetic) -> Tuple[object, object]:
    """What the overflow status says (of a sum that fits, of one that does not); None: there is no status."""
    small, large = np.full([1, 1, 1, 1], 2.0, np.float32), np.full([1, 1, 1, 1], 2.0**10, np.float32)
    return arithmetic.overflow_raised(small, small), arithmetic.overflow_raised(large, large)


def slopes(arithmetic: Arithmetic) -> Tuple[float, float]:
    """A convolution's gradients (to the input, to the kernel), both 2**20 where they are stored widely."""
    one, large = np.ones([1, 1, 1, 1], np.float32), np.full([1, 1, 1, 1], 2.0**10, np.float32)
    to_x = arithmetic.run(arithmetic.slopes, one, large, large)[0]
    to_kernel = arithmetic.run(arithmetic.slopes, large, one, large)[1]
    return first(to_x), first(to_kernel)


def explicit(arithmetic: Arithmetic, dtype: tf.DType) -> np.ndarray:
    """[2 + 3, 2**12 + 1 - 2**12] as a convolution of tensors of this dtype."""
    sums = [adjacent((2.0, 1.0), (3.0, 1.0)), orders(halves(12), (1.0, 1.0), _negative(halves(12)))[0]]

    def conv(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.nn.conv2d(tf.cast(x, dtype), tf.cast(kernel, dtype), 1, 'VALID'), tf.float32)

    blocks = [arithmetic.run(conv, x[:, None, None], kernel[None, None])[0] for x, kernel in _arrays(sums)]
    return _diagonals(blocks, len(sums))
