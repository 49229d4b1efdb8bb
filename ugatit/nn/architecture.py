"""What the network is: everything that decides the names and shapes of its variables, and nothing else."""

from __future__ import annotations

import dataclasses
from typing import Dict, Tuple

from ugatit.errors import UserError

GENERATOR_OF_DIRECTION: Dict[str, str] = {'a2b': 'generator_B', 'b2a': 'generator_A'}
"""`generator_B` makes pictures of domain B, so selfie -> anime (`a2b`) is `generator_B`."""

GENERATORS: Tuple[str, str] = ('generator_B', 'generator_A')
DISCRIMINATORS: Tuple[str, str] = ('discriminator_A', 'discriminator_B')
NETWORKS: Tuple[str, ...] = GENERATORS + DISCRIMINATORS  # the order in which the official code creates them


@dataclasses.dataclass(frozen=True)
class Architecture:
    """The official flags that shape the network; the defaults are those of the released selfie2anime model."""

    image_size: int = 256  # side of the square picture, pixels; a multiple of 4, at least 8
    ch: int = 64  # channels of the first convolution
    n_res: int = 4  # residual blocks in the encoder, and as many AdaLIN blocks in the decoder
    n_dis: int = 6  # depth of the global discriminator; the local one is two convolutions shorter
    light: bool = False  # True: the MLP reads a global average, not the flattened map
    smoothing: bool = True  # AdaLIN uses clip(rho - 0.1, 0, 1); not visible in the variables
    sn: bool = True  # spectral norm in the discriminators
    cam_generator: bool = True  # class activation map in the generators (False: the paper's ablation)
    cam_discriminator: bool = True  # the same in the discriminators

    def __post_init__(self) -> None:
        for field, least in (('image_size', 8), ('ch', 1), ('n_res', 1), ('n_dis', 4)):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise UserError(f'{field} must be a whole number of at least {least}, but {value!r} arrived.')
        if self.image_size % 4:
            raise UserError(
                'image_size must be a multiple of 4 (two stride-2 convolutions, two upsamplings), but'
                f' {self.image_size} arrived; the nearest that fits is {max(8, round(self.image_size / 4) * 4)}.'
            )

    @property
    def features(self) -> int:
        """Channels of the residual stream: 4 * ch."""
        return 4 * self.ch

    @property
    def smallest_size(self) -> int:
        """Smallest picture the global discriminator takes: image_size / 2**(n_dis - 1) >= 3."""
        return 3 * 2 ** (self.n_dis - 1)

    def check_discriminator_size(self) -> None:
        """Raises UserError where the global discriminator's last reflect padding has nothing left to mirror."""
        smallest = self.smallest_size
        if self.image_size < smallest:
            raise UserError(
                f'image_size must be at least {smallest} for n_dis {self.n_dis} (image_size / 2**(n_dis - 1) >= 3), but'
                f' {self.image_size} arrived; use a larger picture or a smaller n_dis.'
            )
