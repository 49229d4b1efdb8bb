"""A run's settings as frozen values; one dataclass per section of a config file, with the same field names."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Dict, Optional

from ugatit.data.dataset import Loading
from ugatit.data.decode import DEFAULT_MAX_PIXELS
from ugatit.errors import UserError
from ugatit.nn.algebra import ALGEBRAS
from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.policy import Policy, make_policy
from ugatit.nn.presets import load_variants
from ugatit.nn.rules import Variants
from ugatit.ranges.follow import Following
from ugatit.ranges.plan import MOST_HEADROOM
from ugatit.training.device import Device
from ugatit.training.losses import GAN_LOSSES
from ugatit.training.objective import Objective
from ugatit.training.precision import FullPrecision, MixedPrecision
from ugatit.training.scale import GROWTH_STEPS, LARGEST, SMALLEST, START
from ugatit.training.schedule import Schedule

_AT_LEAST_ONE = ('batch_size', 'epochs', 'steps_per_epoch', 'n_critic', 'log_every', 'save_every', 'sample_every',
                 'keep', 'warn_after')  # fmt: skip
_NOT_NEGATIVE = ('adversarial_weight', 'cycle_weight', 'identity_weight', 'cam_weight', 'gradient_penalty_weight', 'l2',
                 'decay_epoch')  # fmt: skip

RANGES = ('auto', 'live', 'none')


def _require(fits: bool, field: str, expected: str, arrived: Any) -> None:
    if not fits:
        raise UserError(f'--config.{field} must be {expected}, but {arrived!r} arrived.')


@dataclasses.dataclass(frozen=True)
class TrainingSettings:
    """Section `training`; configs/default.py says what each field means."""

    seed: int = 0
    batch_size: int = 1
    learning_rate: float = 1e-4
    epochs: int = 100
    steps_per_epoch: int = 10_000
    decay_epoch: int = 50
    decay: bool = True
    n_critic: int = 1
    two_batches: bool = False
    gan_type: str = 'lsgan'
    adversarial_weight: float = 1.0
    cycle_weight: float = 10.0
    identity_weight: float = 10.0
    cam_weight: float = 1000.0
    gradient_penalty_weight: float = 10.0
    l2: float = 1e-4
    batch_momentum: float = 0.9
    recompute: bool = False
    algebra: str = 'auto'
    log_every: int = 10
    save_every: int = 1000
    sample_every: int = 1000
    keep: int = 3
    warn_after: int = 1000

    def __post_init__(self) -> None:
        for field in _AT_LEAST_ONE:
            _require(getattr(self, field) >= 1, f'training.{field}', 'at least 1', getattr(self, field))
        for field in _NOT_NEGATIVE:
            _require(getattr(self, field) >= 0, f'training.{field}', '0 or more', getattr(self, field))
        _require(self.learning_rate > 0, 'training.learning_rate', 'more than 0', self.learning_rate)
        _require(0 <= self.batch_momentum <= 1, 'training.batch_momentum', 'between 0 and 1', self.batch_momentum)
        _require(0 <= self.seed < 2**63, 'training.seed', '0 or more', self.seed)
        _require(self.algebra in ALGEBRAS, 'training.algebra', f'one of {", ".join(ALGEBRAS)}', self.algebra)
        _require(self.gan_type in GAN_LOSSES, 'training.gan_type', f'one of {", ".join(GAN_LOSSES)}', self.gan_type)

    @property
    def schedule(self) -> Schedule:
        return Schedule(
            self.learning_rate, self.epochs, self.steps_per_epoch, self.decay_epoch, self.decay, self.n_critic
        )

    @property
    def objective(self) -> Objective:
        return Objective(
            self.gan_type,
            self.adversarial_weight,
            self.cycle_weight,
            self.identity_weight,
            self.cam_weight,
            self.gradient_penalty_weight,
            self.l2,
        )


@dataclasses.dataclass(frozen=True)
class ModelSettings:
    """Section `model`: the architecture's fields, and the variants."""

    image_size: int = 256
    ch: int = 64
    n_res: int = 4
    n_dis: int = 6
    light: bool = False
    smoothing: bool = True
    sn: bool = True
    cam_generator: bool = True
    cam_discriminator: bool = True
    variants: str = 'default'

    @property
    def architecture(self) -> Architecture:
        """Checked for training: the discriminators must fit the picture too."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(Architecture)}
        architecture = Architecture(**fields)
        architecture.check_discriminator_size()
        return architecture

    def load_variants(self) -> Variants:
        return load_variants(self.variants)


@dataclasses.dataclass(frozen=True)
class DataSettings:
    """Section `data`; the folders are optional where the data set has the official layout."""

    name: Optional[str] = None
    train_a: Optional[str] = None
    train_b: Optional[str] = None
    test_a: Optional[str] = None
    test_b: Optional[str] = None
    augment: bool = True
    resize: str = 'stretch'
    filter: str = 'antialiased'
    background: str = 'white'
    max_pixels: int = DEFAULT_MAX_PIXELS
    on_broken: str = 'fail'
    recursive: bool = False
    cache_share: float = 0.25
    samples: int = 4

    def __post_init__(self) -> None:
        _require(0 <= self.cache_share <= 1, 'data.cache_share', 'between 0 and 1', self.cache_share)
        _require(self.samples >= 1, 'data.samples', 'at least 1', self.samples)
        self.loading(4)

    def loading(self, image_size: int) -> Loading:
        """How files become squares of the model's size."""
        return Loading(
            image_size, self.resize, self.filter, self.background, self.max_pixels, self.on_broken, self.recursive
        )


@dataclasses.dataclass(frozen=True)
class NumericsSettings:
    """Section `numerics`."""

    precision: str = 'float32'
    overflow: str = 'ieee'
    ranges: str = 'auto'
    headroom_bits: float = 2.0
    range_history: int = 16
    loss_scale: float = START
    loss_scale_steps: int = GROWTH_STEPS

    def __post_init__(self) -> None:
        _require(self.ranges in RANGES, 'numerics.ranges', f'one of {", ".join(RANGES)}', self.ranges)
        _require(0 <= self.headroom_bits <= MOST_HEADROOM, 'numerics.headroom_bits', f'between 0 and {MOST_HEADROOM}',
                 self.headroom_bits)  # fmt: skip
        _require(1 <= self.range_history <= 10_000, 'numerics.range_history', 'between 1 and 10000', self.range_history)
        power = math.frexp(self.loss_scale)[0] == 0.5 and SMALLEST <= self.loss_scale <= LARGEST
        _require(power, 'numerics.loss_scale', 'a power of two such as 1024.0', self.loss_scale)
        _require(self.loss_scale_steps >= 1, 'numerics.loss_scale_steps', 'at least 1', self.loss_scale_steps)

    @property
    def policy(self) -> Policy:
        return make_policy(self.precision, self.overflow)

    def make_precision(self, architecture: Architecture, variants: Variants, device: Device) -> FullPrecision:
        """What the numbers mean for updates on this device, which may have a float16 of its own."""
        policy = make_policy(self.precision, self.overflow, device.native_float16)
        policy = device.adapt(Build(policy)).policy
        live = self.ranges == 'live' or (self.ranges == 'auto' and policy.has_float16)
        if not live and not policy.has_float16:
            return FullPrecision(policy)
        following = Following(self.range_history, self.headroom_bits) if live else None
        return MixedPrecision(policy, architecture, variants, following, self.loss_scale, self.loss_scale_steps)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that a run is made from, beside the pictures."""

    training: TrainingSettings = TrainingSettings()
    model: ModelSettings = ModelSettings()
    data: DataSettings = DataSettings()
    numerics: NumericsSettings = NumericsSettings()

    @classmethod
    def from_sections(cls, sections: Dict[str, Dict[str, Any]]) -> Settings:
        """From plain dictionaries, such as those of a config file. UserError names a field that does not fit."""
        kinds = {'training': TrainingSettings, 'model': ModelSettings, 'data': DataSettings,
                 'numerics': NumericsSettings}  # fmt: skip
        _only('config', sections, kinds)
        for section, values in sections.items():
            _only(section, values, {field.name: field for field in dataclasses.fields(kinds[section])})
        return cls(**{section: kinds[section](**values) for section, values in sections.items()})

    def check(self) -> None:
        """What can be wrong without looking at a picture: sizes, variants, precision. UserError says what."""
        self.model.architecture  # noqa: B018, the property raises
        self.model.load_variants()
        self.numerics.policy  # noqa: B018
        self.training.schedule  # noqa: B018

    def to_json(self) -> Dict[str, Dict[str, Any]]:
        """The sections as `from_sections` takes them."""
        return dataclasses.asdict(self)


def _only(what: str, given: Dict[str, Any], legal: Dict[str, Any]) -> None:
    unknown = sorted(set(given) - set(legal))
    if unknown:
        raise UserError(f'{what} has no {unknown[0]}; it has {", ".join(legal)}.')
