"""Runs our updates over a recorded official run (golden/README.md, `Training parity`) and keeps what they gave."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
import tensorflow as tf

from ugatit.checkpoints import CheckpointReader, architecture_of, checkpoint_factory
from ugatit.nn.build import Build
from ugatit.training.networks import build_networks, make_fakes
from ugatit.training.objective import Objective, discriminator_losses, fake_losses, generator_totals, home_losses
from ugatit.training.optimiser import Adam, Optimisers, make_optimisers
from ugatit.training.penalty import PenaltyNoise
from ugatit.training.state import official_state
from ugatit.training.update import Batch, Training, update_discriminators, update_generators

STEPS = 3
Arrays = Dict[str, np.ndarray]


class RecordingAdam:
    """Hands gradients on to the optimiser and remembers them."""

    def __init__(self, adam: Adam) -> None:
        self._adam, self.variables_trained = adam, adam.variables_trained
        self.gradients: Arrays = {}

    @property
    def named_variables(self) -> Dict[str, tf.Variable]:
        return self._adam.named_variables

    def apply(self, gradients: Sequence[Optional[tf.Tensor]], learning_rate: tf.Tensor) -> None:
        self.gradients = {name: g.numpy() for name, g in zip(self.variables_trained, gradients)}
        self._adam.apply(gradients, learning_rate)


class Case:
    """One recorded run."""

    def __init__(self, golden: pathlib.Path, name: str) -> None:
        self.golden, self.name = golden, name
        self.arrays = np.load(golden / 'train' / f'{name}.npz')
        self.json = json.loads((golden / 'train' / f'{name}.json').read_text())
        self.sensitivity = self.json.get('sensitivity_to_1e6_input_noise')

    def under(self, prefix: str) -> Arrays:
        """The arrays below `prefix`, without it."""
        return {name[len(prefix) :]: self.arrays[name] for name in self.arrays.files if name.startswith(prefix)}

    def record(self, point: str) -> dict:
        return next(record for record in self.json['records'] if record['at'] == point)

    def noise(self, domain: str, real: tf.Tensor, step: tf.Tensor) -> PenaltyNoise:
        """The recorded random numbers, the same at every step; zeros where a loss has no penalty."""
        del step
        alpha = self.arrays[f'rand/alpha_{domain}'] if f'rand/alpha_{domain}' in self.arrays.files else np.zeros(1)
        epsilon = (
            self.arrays[f'rand/eps_{domain}'] if f'rand/eps_{domain}' in self.arrays.files else np.zeros(real.shape)
        )
        return PenaltyNoise(tf.constant(alpha.reshape(-1, 1, 1, 1), tf.float32), tf.constant(epsilon, tf.float32))

    def training(self, algebra: bool = False) -> Training:
        """The base checkpoint, optimiser state included."""
        reader = CheckpointReader(self.golden / 'checkpoints' / self.json['base_checkpoint'])
        architecture = dataclasses.replace(
            architecture_of(reader).architecture, image_size=self.json['flags']['img_size']
        )
        factory = checkpoint_factory(reader)
        networks = build_networks(architecture, lambda scope: Build(factory=factory, algebra=algebra))
        optimisers = make_optimisers(networks, factory)
        recording = Optimisers(*(RecordingAdam(adam) for adam in optimisers))
        return Training(networks, recording, Objective(self.json['gan_type']), self.noise)

    def batch(self, images_a: np.ndarray, images_b: np.ndarray, step: int = 0, moved_by: int = 0) -> Batch:
        """`moved_by` is the seed of a 1e-6 noise that is added to the pictures; 0 adds none."""
        draw = np.random.RandomState(moved_by)
        images = [
            image + (1e-6 * draw.standard_normal(image.shape) if moved_by else 0.0) for image in (images_a, images_b)
        ]
        constants = [tf.constant(image, tf.float32) for image in images]
        return Batch(*constants, tf.constant(self.json['lr'], tf.float32), tf.constant(step))


@dataclasses.dataclass
class Run:
    """What one run gave: everything by (point, name), point as in the records."""

    losses: Dict[Tuple[str, str], float] = dataclasses.field(default_factory=dict)  # those that an update computes
    all_losses: Dict[Tuple[str, str], float] = dataclasses.field(default_factory=dict)  # all 16, in the first step
    gradients: Dict[Tuple[str, str], np.ndarray] = dataclasses.field(default_factory=dict)
    weights: Dict[Tuple[str, str], np.ndarray] = dataclasses.field(default_factory=dict)
    slots: Dict[Tuple[str, str], np.ndarray] = dataclasses.field(default_factory=dict)

    def note(self, kind: str, point: str, values: Dict[str, object]) -> None:
        getattr(self, kind).update({(point, name): np.asarray(value) for name, value in values.items()})


def run_converged(case: Case, moved_by: int = 0, algebra: bool = False) -> Run:
    """Protocol A: the same batch throughout, every `u` set before each update. Eager: quicker than tracing."""
    training, run = case.training(algebra), Run()
    state = official_state(training)
    batch = case.batch(case.arrays['in/A'], case.arrays['in/B'], moved_by=moved_by)
    for step in range(STEPS):
        for letter, update in (('D', update_discriminators), ('G', update_generators)):
            point = f'step{step}_before{letter}'
            for name, u in case.under(f'u/{point}/').items():
                state[name].assign(u)
            if step == 0 and not moved_by:
                run.note('all_losses', point, all_losses(training, batch))
            run.note('losses', point, update(training, batch))
            adam = training.optimisers.discriminators if letter == 'D' else training.optimisers.generators
            run.note('gradients', point, adam.gradients)
        _note_state(run, f'after{step + 1}', training)
    return run


def run_natural(case: Case, moved_by: int = 0) -> Run:
    """Protocol B: `u` left alone, each update from a batch of its own, as the official training draws them."""
    training, run = case.training(), Run()
    updates: List = [update_discriminators, update_generators]
    for number in range(2 * STEPS):
        images = case.under(f'in/run{number}/')
        batch = case.batch(images['A'], images['B'], number // 2, moved_by)
        if number % 2:
            fakes = make_fakes(training.networks, batch.images_a, batch.images_b, training.call())
            run.note('losses', f'fakes{number // 2}', {'A': fakes.a.image, 'B': fakes.b.image})
        losses = updates[number % 2](training, batch)
        run.note('losses', f'step{number // 2}_{"DG"[number % 2]}_run', losses)
        vectors = {n: v.numpy() for n, v in training.networks.named_variables.items() if n.endswith('/u')}
        run.note('weights', f'run{number}', vectors)
    _note_state(run, f'after{STEPS}', training)
    return run


def all_losses(training: Training, batch: Batch) -> Dict[str, tf.Tensor]:
    """All 16 named losses at one point (and ours); nothing changes, not even `u`."""
    networks = training.networks
    vectors = {k: v for d in networks.discriminators for k, v in d.power_iterations().items()}
    images, objective, call = (batch.images_a, batch.images_b), training.objective, training.call(vectors)
    fakes = make_fakes(networks, *images, training.call())
    reals = dict(zip('AB', images))
    judged = {'A': tf.stop_gradient(fakes.a.image), 'B': tf.stop_gradient(fakes.b.image)}
    noise = {domain: training.noise(domain, real, batch.steps_done) for domain, real in reals.items()}
    parts = {
        **fake_losses(objective, networks, fakes, call),
        **home_losses(objective, 'A', networks.generator_a, images[0], fakes.b.image, training.call()),
        **home_losses(objective, 'B', networks.generator_b, images[1], fakes.a.image, training.call()),
    }
    of_discriminators = discriminator_losses(objective, networks, reals, judged, noise, call)
    return {**of_discriminators, **generator_totals(parts)}


def _note_state(run: Run, point: str, training: Training) -> None:
    run.note('weights', point, {name: v.numpy() for name, v in training.networks.named_variables.items()})
    for adam in training.optimisers:
        run.note('slots', point, {name: v.numpy() for name, v in adam.named_variables.items()})


def has_true_gradient_zero(name: str) -> bool:
    """The 22 generator biases in front of an instance norm: Adam turns their rounding noise into steps."""
    layer = name.split('/')[1]
    in_encoder = layer in ('conv', 'conv_0', 'conv_1') or layer.startswith('resblock_')
    return name.startswith('generator') and in_encoder and name.endswith('conv2d/bias')
