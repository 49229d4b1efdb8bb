"""The four networks together, and how a training step calls them: as few, as large calls as give the same numbers."""

from __future__ import annotations

import dataclasses
from typing import Callable, Dict, List, NamedTuple, Sequence, Tuple, Union

import tensorflow as tf

from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.call import Call, SingularVectors
from ugatit.nn.discriminator import Discriminator, DiscriminatorOutput
from ugatit.nn.generator import Generator, GeneratorOutput
from ugatit.nn.network import Network

Output = Union[GeneratorOutput, DiscriminatorOutput]


@dataclasses.dataclass(frozen=True)
class Networks:
    """What is trained; fields in the order in which the official code creates them."""

    generator_b: Generator  # maps domain A to B (direction a2b)
    generator_a: Generator  # maps domain B to A (direction b2a)
    discriminator_a: Discriminator
    discriminator_b: Discriminator

    @property
    def generators(self) -> Tuple[Generator, Generator]:
        return self.generator_b, self.generator_a

    @property
    def discriminators(self) -> Tuple[Discriminator, Discriminator]:
        return self.discriminator_a, self.discriminator_b

    @property
    def architecture(self) -> Architecture:
        return self.generator_b.architecture

    @property
    def named_variables(self) -> Dict[str, tf.Variable]:
        """Official name -> variable of all four, in official order."""
        return variables_of(self.generators + self.discriminators)


def build_networks(architecture: Architecture, make_build: Callable[[str], Build] = lambda scope: Build()) -> Networks:
    """All four networks; `make_build(scope)` gives each its own Build (policy, variants, exponents, factory)."""
    return Networks(
        Generator(architecture, 'generator_B', make_build('generator_B')),
        Generator(architecture, 'generator_A', make_build('generator_A')),
        Discriminator(architecture, 'discriminator_A', make_build('discriminator_A')),
        Discriminator(architecture, 'discriminator_B', make_build('discriminator_B')),
    )


def variables_of(networks: Sequence[Network]) -> Dict[str, tf.Variable]:
    """Official name -> variable."""
    return {name: variable for network in networks for name, variable in network.named_variables.items()}


def trainable_of(networks: Sequence[Network]) -> Dict[str, tf.Variable]:
    """Official name -> variable, those with a gradient."""
    return {name: variable for name, variable in variables_of(networks).items() if variable.trainable}


def call_together(network: Network, batches: Sequence[tf.Tensor], call: Call) -> List[Output]:
    """[network(x) for x in batches], in one call of the network where that is the same.

    Every normalisation of the paper is per picture, so it is; batch normalisation would mix the batches' statistics.
    The batches must have the same size.
    """
    if network.registry.running or len(batches) == 1:
        return [network(x, call) for x in batches]
    output = network(tf.concat(batches, 0), call)
    leaves = [None if leaf is None else tf.split(leaf, len(batches)) for leaf in tf.nest.flatten(output)]
    return [
        tf.nest.pack_sequence_as(output, [None if leaf is None else leaf[i] for leaf in leaves])
        for i in range(len(batches))
    ]


class Fakes(NamedTuple):
    """What a discriminators' update needs of the generators."""

    b: GeneratorOutput  # generator_B(A)
    a: GeneratorOutput  # generator_A(B)


def make_fakes(networks: Networks, images_a: tf.Tensor, images_b: tf.Tensor, call: Call) -> Fakes:
    """One call of each generator, on the other domain's pictures."""
    return Fakes(networks.generator_b(images_a, call), networks.generator_a(images_b, call))


def advance_power_iterations(networks: Networks) -> Dict[str, SingularVectors]:
    """One power iteration of every spectral norm, stored; the result is for all passes of one update."""
    vectors: Dict[str, SingularVectors] = {}
    for discriminator in networks.discriminators:
        new = discriminator.power_iterations()
        discriminator.store(new)
        vectors.update(new)
    return vectors
