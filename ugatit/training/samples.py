"""Sample strips: what the generators make of a few fixed pictures, one row each.

Columns: input, attention on the input, fake, attention on the fake (of the way back), cycle, identity.
"""

from __future__ import annotations

import functools
from typing import Callable, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow as tf

from ugatit.data.convert import to_float, to_uint8
from ugatit.data.heatmap import overlay_heatmap
from ugatit.nn.generator import Generator, GeneratorOutput
from ugatit.training.device import Device
from ugatit.training.networks import Networks

COLUMNS = ('input', 'attention', 'fake', 'attention on fake', 'cycle', 'identity')
_GAP = 2  # white pixels between two pictures


class Strip(NamedTuple):
    """The rows of one direction."""

    direction: str  # 'a2b' or 'b2a'
    network: str  # the generator that makes the fakes
    pixels: np.ndarray  # uint8 [rows * S, 6 * S, 3] with gaps
    inputs: np.ndarray  # float32 [rows, S, S, 3]
    fakes: np.ndarray


Translate = Callable[[tf.Tensor], GeneratorOutput]


def translators(networks: Networks, device: Device) -> Dict[str, Translate]:
    """Scope -> generator as a function of a picture [1, S, S, 3]; compiled once where a device needs that."""
    generators = {network.scope: network for network in networks.generators}
    if device.op_by_op:
        return dict(generators)
    return {scope: device.compile(functools.partial(_call, network)) for scope, network in generators.items()}


def _call(network: Generator, image: tf.Tensor) -> GeneratorOutput:
    return network(image)


def make_strips(
    translate: Dict[str, Translate], tests_a: Sequence[np.ndarray], tests_b: Sequence[np.ndarray]
) -> Tuple[Strip, Strip]:
    """Both directions; `translate` from `translators`, test pictures uint8 [S, S, 3]. Changes no variable."""
    return _strip('a2b', 'generator_B', translate, tests_a), _strip('b2a', 'generator_A', translate, tests_b)


def _strip(direction: str, network: str, translate: Dict[str, Translate], tests: Sequence[np.ndarray]) -> Strip:
    forth, back = translate[network], translate[{'generator_A': 'generator_B', 'generator_B': 'generator_A'}[network]]
    rows: List[np.ndarray] = []
    inputs, fakes = [], []
    for pixels in tests:  # one by one: nothing here is in a hurry, and memory is
        image = tf.constant(to_float(pixels)[None])
        fake = forth(image)
        cycle, identity = back(fake.image), back(image)
        shown = _show(fake.image)
        rows.append(_row([
            pixels, _attention(pixels, fake.heatmap), shown,
            _attention(shown, cycle.heatmap), _show(cycle.image), _show(identity.image),
        ]))  # fmt: skip
        inputs.append(image[0].numpy())
        fakes.append(fake.image[0].numpy())
    return Strip(direction, network, _stack(rows, 0), np.stack(inputs), np.stack(fakes))


def _show(image: tf.Tensor) -> np.ndarray:
    """[1, S, S, 3] in [-1, 1] to uint8; what is not finite shows black: a strip stops no run, the losses do."""
    return to_uint8(np.nan_to_num(image[0].numpy(), nan=-1.0, posinf=1.0, neginf=-1.0))


def _attention(pixels: np.ndarray, heatmap: tf.Tensor) -> np.ndarray:
    return overlay_heatmap(pixels, np.nan_to_num(heatmap[0].numpy()))


def _row(pictures: Sequence[np.ndarray]) -> np.ndarray:
    return _stack(pictures, 1)


def _stack(pictures: Sequence[np.ndarray], axis: int) -> np.ndarray:
    parts: List[np.ndarray] = []
    for picture in pictures:
        gap = list(picture.shape)
        gap[axis] = _GAP
        parts += [np.full(gap, 255, np.uint8), picture]
    return np.concatenate(parts[1:], axis)


def rho_values(networks: Networks) -> dict:
    """`rho/...` -> the mixing factors of every LIN and AdaLIN layer: 1 is instance, 0 is layer normalisation."""
    return {
        f'rho/{name[: -len("/rho")]}': variable.numpy().ravel()
        for network in networks.generators
        for name, variable in network.named_variables.items()
        if name.endswith('/rho')
    }
