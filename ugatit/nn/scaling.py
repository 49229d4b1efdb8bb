"""Range exponents: stored = true * 2**-e per range group, live, folded, or not at all (docs/float16.md)."""

from __future__ import annotations

from typing import Dict, Mapping, NamedTuple, Optional, Union

import tensorflow as tf

from ugatit.numerics import pow2, scale_by_pow2

Exponent = Union[int, tf.Tensor, tf.Variable]


class FoldRule(NamedTuple):
    """How one variable moves with its layer's exponents.

    stored = variable * 2 ** (reading * e[reads] + writing * e[writes])
    """

    variable: str
    reads: Optional[str]
    writes: Optional[str]
    reading: int
    writing: int

    def shift(self, exponents: Mapping[str, int]) -> int:
        """The power of two that folding multiplies into the variable."""
        return self.reading * _of(exponents, self.reads) + self.writing * _of(exponents, self.writes)


def _of(exponents: Mapping[str, Exponent], group: Optional[str]) -> Exponent:
    return exponents.get(group, 0) if group else 0


class Unplanned:
    """Every exponent is zero: no operation is added anywhere."""

    planned = False
    exponents: Mapping[str, Exponent] = {}

    def apply(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        """A kernel, bias, gamma or statistic as its layer uses it, from the variable."""
        del rule
        return value

    def unapply(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        """What the variable must hold so that `apply` gives `value`."""
        del rule
        return value

    def epsilon(self, epsilon: float, reads: Optional[str]) -> Union[float, tf.Tensor]:
        """A normalisation's epsilon for an input that is stored with the exponent of `reads`."""
        del reads
        return epsilon

    def restore(self, x: tf.Tensor, group: Optional[str]) -> tf.Tensor:
        """True value of a stored tensor, in float32."""
        del group
        return x

    def true_value(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        """The variable as the checkpoint means it, whatever was folded into it."""
        del rule
        return value


class Live(Unplanned):
    """Exponents are variables that may change between steps: each use multiplies, nothing is retraced."""

    planned = True

    def __init__(self, exponents: Mapping[str, Exponent]) -> None:
        self.exponents = {
            group: tf.Variable(value, trainable=False, dtype=tf.int32) if isinstance(value, int) else value
            for group, value in exponents.items()
        }

    def apply(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        shift = rule.shift(self.exponents)
        return value if isinstance(shift, int) else _scaled(value, shift)

    def unapply(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        shift = rule.shift(self.exponents)
        return value if isinstance(shift, int) else _scaled(value, -shift)

    def epsilon(self, epsilon: float, reads: Optional[str]) -> Union[float, tf.Tensor]:
        exponent = _of(self.exponents, reads)
        if isinstance(exponent, int):
            return epsilon
        return tf.constant(epsilon, tf.float32) * pow2(-2 * exponent)

    def restore(self, x: tf.Tensor, group: Optional[str]) -> tf.Tensor:
        exponent = _of(self.exponents, group)
        wide = tf.cast(x, tf.float32)
        return wide if isinstance(exponent, int) else wide * pow2(exponent)


def _scaled(value: tf.Tensor, shift: tf.Tensor) -> tf.Tensor:
    # Vectors by their exponent field: a product would join the graph optimiser's chains of products, be reassociated
    # there, and round differently from the unplanned graph. Kernels by a product: a convolution ends the chain, and it
    # is several times faster.
    return scale_by_pow2(value, shift) if value.shape.rank <= 1 else value * pow2(shift)


class Folded(Live):
    """Exponents were multiplied into the variables when the model was loaded: nothing is multiplied per picture.

    Only what cannot be folded is multiplied back: a heat map, a logit, and the CAM bias's second meaning.
    """

    def __init__(self, exponents: Mapping[str, int]) -> None:
        self.exponents = {group: int(value) for group, value in exponents.items()}

    def apply(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        del rule
        return value

    def unapply(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        del rule
        return value

    def epsilon(self, epsilon: float, reads: Optional[str]) -> float:
        return epsilon * 4.0 ** -_of(self.exponents, reads)

    def restore(self, x: tf.Tensor, group: Optional[str]) -> tf.Tensor:
        exponent = _of(self.exponents, group)
        wide = tf.cast(x, tf.float32)
        return wide * pow2(exponent) if exponent else wide

    def true_value(self, value: tf.Tensor, rule: FoldRule) -> tf.Tensor:
        shift = rule.shift(self.exponents)
        return scale_by_pow2(value, -shift) if shift else value


Scaling = Unplanned
UNPLANNED = Unplanned()


def live_exponents(scope: str, groups: Mapping[str, int]) -> Dict[str, tf.Variable]:
    """Non-trainable int32 variables `ugatit/exponents/SCOPE/GROUP`, one per range group."""
    return {
        group: tf.Variable(
            value, trainable=False, dtype=tf.int32, name=f'ugatit/exponents/{scope}/{group}'.replace('/', '.')
        )
        for group, value in groups.items()
    }
