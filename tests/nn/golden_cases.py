"""The official code's checkpoints and recorded tensors, by tag."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
from typing import Any, Dict, List

import numpy as np
import tensorflow as tf

from ugatit.nn.architecture import Architecture
from ugatit.nn.blueprint import network_class
from ugatit.nn.build import Build
from ugatit.nn.network import Network
from ugatit.nn.variables import Initial, named_variable

DIRECTIONS = (('a2b', 'generator_B', 'x_A'), ('b2a', 'generator_A', 'x_B'))
OVERFLOW = ('overflow_light_i64_c16', 'overflow_full_i64_c8')
TAGS = (
    'full_i32_c4_d4_nosmooth',
    'light_i32_c4_d4_nosn',
    'light_i32_c4_d4_plain',
    'light_i64_c4_d5_smooth',
    'light_i96_c2_d6_nosmooth',
    'train_full_i32_c3_d4',
    'train_light_i32_c3_d4',
    'train_strongD_light_i32_c3_d4',
    *OVERFLOW,
)


@dataclasses.dataclass(frozen=True)
class GoldenCase:
    """One recorded checkpoint."""

    tag: str
    architecture: Architecture
    weights: Dict[str, np.ndarray]  # official name -> float32, without optimiser slots
    recorded: Dict[str, np.ndarray]  # outputs/TAG.npz

    def network(self, scope: str, **build: Any) -> Network:
        """The network under `scope` with the recorded weights; `build`: policy, variants, scaling."""

        def factory(name: str, shape: List[int], initial: Initial, trainable: bool) -> tf.Variable:
            if name not in self.weights:  # a variant's own: as it starts
                return named_variable(name, initial(name, shape, 0), trainable)
            return named_variable(name, tf.constant(self.weights[name]), trainable)

        return network_class(scope)(self.architecture, scope, Build(factory=factory, **build))

    def inputs(self, domain: str) -> List[np.ndarray]:
        """The recorded pictures of 'x_A' or 'x_B', [1, H, W, 3] each."""
        return [value for name, value in self.recorded.items() if name.startswith(f'in/{domain}/')]

    def batch(self, domain: str) -> tf.Tensor:
        """The same as one batch."""
        return tf.constant(np.concatenate(self.inputs(domain)))


@functools.cache
def golden_case(golden: pathlib.Path, tag: str) -> GoldenCase:
    """Reads a case once per process."""
    folder = next(path for path in (golden / 'checkpoints' / tag).iterdir() if path.is_dir())
    prefix = next(folder.glob('*.index')).with_suffix('')
    reader = tf.train.load_checkpoint(str(prefix))
    names = [name for name in reader.get_variable_to_shape_map() if not _of_the_optimiser(name)]
    weights = {name: reader.get_tensor(name) for name in names}
    with np.load(golden / 'outputs' / f'{tag}.npz') as stored:
        recorded = {name: stored[name] for name in stored.files}
    return GoldenCase(tag, _architecture(golden, tag), weights, recorded)


def _architecture(golden: pathlib.Path, tag: str) -> Architecture:
    record = 'overflow.json' if tag in OVERFLOW else 'checkpoints.json'
    flags = json.loads((golden / record).read_text())[tag]['flags']
    return Architecture(
        image_size=flags['img_size'],
        ch=flags['ch'],
        n_res=flags['n_res'],
        n_dis=flags['n_dis'],
        light=flags['light'],
        smoothing=flags['smoothing'],
        sn=flags['sn'],
    )


def _of_the_optimiser(name: str) -> bool:
    return name.endswith(('/Adam', '/Adam_1')) or name.startswith(('beta1_power', 'beta2_power'))


def float64_noise(golden: pathlib.Path, tag: str) -> Dict[str, float]:
    """The official float32 outputs' distance to float64: 'a2b/image' ... and 'local_logit' ... 'u_after'."""
    generators = json.loads((golden / 'fp64_crosscheck.json').read_text()).get(tag, {})
    discriminators = json.loads((golden / 'fp64_crosscheck_D.json').read_text()).get(tag, {})
    return {**{name: entry['max_rel_to_absmax'] for name, entry in generators.items()}, **discriminators}
