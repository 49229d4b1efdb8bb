"""Dumps of our own generator: every tensor under its official name, in any policy, as `.npy` with golden names."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np
import tensorflow as tf

from ugatit.dumps.names import make_golden_name
from ugatit.errors import UserError
from ugatit.nn.call import Call
from ugatit.nn.policy import Policy
from ugatit.numerics import FLOAT16
from ugatit.ranges.kinds import INPUT, OPERAND, kind_of, stored_format
from ugatit.translate import Translator

FIRST_TIME = 1629880658000000  # microseconds; dumps count on from here, so that equal runs give equal names


class Captured(NamedTuple):
    """One tensor as the network stored it."""

    name: str  # official, without ':0'
    values: np.ndarray  # float32 or, where the policy stores it so, float16
    source: Optional[str]  # of a layer's input: the tensor it is


@dataclasses.dataclass(frozen=True)
class Capture:
    """One run of a generator, tensors in order of execution."""

    scope: str  # generator_A or generator_B
    policy: Policy
    tensors: Tuple[Captured, ...]

    def outputs(self) -> List[Captured]:
        """What operators gave: neither weights nor layers' inputs."""
        return [t for t in self.tensors if t.name.rpartition('/')[2] not in ('kernel', 'bias', 'input')]


def capture(translate: Translator, policy: Policy, images: np.ndarray, layers: str = '.*') -> Capture:
    """Runs the network once and keeps the tensors whose name the expression matches from its start.

    Args:
        images: [N, H, W, 3] in [-1, 1].
        layers: regular expression over official names, for example 'generator_B/(up_conv_0|MLP)/.*'.

    Raises:
        UserError: no tensor matches.
    """
    try:
        wanted = re.compile(layers)
    except re.error as error:
        raise UserError(f'--layers must be a regular expression, but {layers!r} is none: {error}.') from None
    network = translate.twin(policy)
    found: List[Captured] = []
    names: Dict[int, Tuple[str, tf.Tensor]] = {}  # the tensor is kept, so that its id stays its own
    seen: List[str] = []

    def tap(name: str, x: tf.Tensor) -> tf.Tensor:
        seen.append(name)
        source = names[id(x)][0] if id(x) in names else None
        if kind_of(name) != INPUT:
            names[id(x)] = (name, x)
        if wanted.match(name):
            found.append(Captured(name, _stored(name, x, policy), source))
        return x

    with tf.device(translate.device):
        network(tf.constant(images, tf.float32), Call(tap=tap))
    if not found:
        raise UserError(f"No tensor's name matches --layers={layers}; names look like {seen[2]} and {seen[-1]}.")
    return Capture(network.scope, policy, tuple(found))


def write_npy(folder: pathlib.Path, captured: Capture) -> List[pathlib.Path]:
    """Writes the outputs as `NAME.0.TIME.npy`, as a CPU's or GPU's dump has them; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for i, tensor in enumerate(captured.outputs()):
        path = folder / make_golden_name(tensor.name, 0, FIRST_TIME + i)
        np.save(path, tensor.values)
        written.append(path)
    return written


def float16_values(tensor: Captured) -> np.ndarray:
    """A layer's input as a float16 matrix unit reads it, saturated."""
    with np.errstate(over='ignore'):
        return np.clip(tensor.values, -FLOAT16.max_finite, FLOAT16.max_finite).astype(np.float16)


def overflowing(captured: Capture) -> Iterator[Captured]:
    """Tensors that reached the end of float16, layers' inputs included."""
    for tensor in captured.tensors:
        if stored_format(tensor.name, captured.policy) is FLOAT16 and kind_of(tensor.name) != OPERAND:
            if not float(np.max(np.abs(tensor.values), initial=0.0)) < FLOAT16.max_finite:
                yield tensor


def _stored(name: str, x: tf.Tensor, policy: Policy) -> np.ndarray:
    """float16 where the policy stores float16: the emulation carries the same values in float32."""
    values = tf.cast(x, tf.float32).numpy()
    half = stored_format(name, policy) is FLOAT16 and kind_of(name) not in (INPUT, OPERAND)
    return values.astype(np.float16) if half else values
