"""Creating variables under their official names, from an initialiser, a checkpoint, or not at all."""

from __future__ import annotations

import dataclasses
import zlib
from typing import Callable, Sequence

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Initial:
    """How a variable starts: normal(0, stddev) where stddev is not 0, else the constant."""

    constant: float = 0.0
    stddev: float = 0.0

    def __call__(self, name: str, shape: Sequence[int], seed: int) -> tf.Tensor:
        """float32 values that depend on the seed and the name only, not on the order of creation."""
        if not self.stddev:
            return tf.fill(list(shape), tf.constant(self.constant, tf.float32))
        return self.stddev * tf.random.stateless_normal(list(shape), [seed, zlib.crc32(name.encode()) & 0x7FFFFFFF])


ZEROS = Initial()
ONES = Initial(constant=1.0)
KERNEL = Initial(stddev=0.02)  # official code: random_normal_initializer(0, 0.02)
SINGULAR_VECTOR = Initial(stddev=1.0)

VariableFactory = Callable[[str, Sequence[int], Initial, bool], tf.Variable]


def named_variable(name: str, value: tf.Tensor, trainable: bool) -> tf.Variable:
    """A variable whose `.name` is the official one in eager, `tf.function` and strategy scope alike."""
    scope, _, leaf = name.rpartition('/')
    with tf.name_scope(f'{scope}/' if scope else ''):
        return tf.Variable(value, trainable=trainable, name=leaf)


def seeded(seed: int = 0) -> VariableFactory:
    """A factory that initialises as the official code does, reproducibly."""

    def factory(name: str, shape: Sequence[int], initial: Initial, trainable: bool) -> tf.Variable:
        return named_variable(name, initial(name, shape, seed), trainable)

    return factory


def assign_here(variable: tf.Variable, value: tf.Tensor) -> None:
    """`variable.assign(value)` for this replica's copy alone; without replicas the same thing.

    `assign` inside a replica wants to combine the replicas' values. Here they are equal already.
    """
    tf.raw_ops.AssignVariableOp(resource=variable.handle, value=tf.cast(value, variable.dtype))
