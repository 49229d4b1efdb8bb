"""`ugatit.load`: a checkpoint's generator, ready to translate pictures in any precision."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np
import tensorflow as tf

from ugatit.checkpoints.demo import demo_checkpoint
from ugatit.checkpoints.location import PathLike
from ugatit.checkpoints.sources import UNTRAINED, InitialWeights, Source, StoredWeights, WeightsAsOfficial
from ugatit.errors import UserError
from ugatit.nn.algebra import ALGEBRAS, LEAST_CH
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION, Architecture
from ugatit.nn.blueprint import blueprint, check_variants
from ugatit.nn.build import Build, Registry
from ugatit.nn.call import FROZEN_CALL, Call
from ugatit.nn.fast_generator import FastGenerator, fits
from ugatit.nn.generator import Generator, GeneratorOutput
from ugatit.nn.policy import FLOAT32_POLICY, Policy, make_policy
from ugatit.nn.presets import load_variants
from ugatit.nn.rules import Variants
from ugatit.nn.scaling import UNPLANNED, Folded
from ugatit.ranges import RangePlan, check_permission, folding_factory
from ugatit.runners import NpuSettings, Runner, open_runner
from ugatit.runners.bfloat16 import cpu_has_bfloat16

_log = logging.getLogger(__name__)

CALIBRATION_PICTURES = 16  # batch statistics of so many pictures; all of them are in memory together


class Translation(NamedTuple):
    """What `translate(images)` gives; NumPy float32."""

    image: np.ndarray  # [N, H, W, 3] in [-1, 1]
    cam_logits: Optional[np.ndarray]  # [N, 2]: average, max pooling; None for a model without CAM
    heatmap: np.ndarray  # [N, H / 4, W / 4]: where the generator looks, any scale


class Translator:
    """A loaded generator; call it with pictures. Calls of any batch size, one compiled program per picture size."""

    def __init__(
        self,
        generator: Generator,
        direction: str,
        device: str,
        plan: Optional[RangePlan] = None,
        uncalibrated: Tuple[str, ...] = (),
        static: bool = False,
        rounds: bool = False,
        products: Optional[tf.DType] = None,
    ) -> None:
        """What a runner and its device ask for.

        static: every batch size is compiled on its own. rounds: float32 operators are not float32 on this device.
        products: compute by the identities of `ugatit.nn.algebra`, matrix products in this format; None: plainly.
        """
        self.generator, self.direction, self.device, self.plan = generator, direction, device, plan
        self._uncalibrated = uncalibrated  # layers whose running statistics no checkpoint gave
        self._static, self.rounds, self._products = static, rounds, products
        self._fast: Optional[FastGenerator] = None
        self._programs: Dict[Tuple[Optional[int], int, int], Any] = {}

    @property
    def architecture(self) -> Architecture:
        """What was read off the checkpoint."""
        return self.generator.architecture

    @property
    def policy(self) -> Policy:
        """The precision that calls compute in."""
        return self.generator.build.policy

    @property
    def image_size(self) -> int:
        """Side of the pictures the model was trained with; light models take others too."""
        return self.architecture.image_size

    @property
    def uncalibrated(self) -> Tuple[str, ...]:
        """Layers whose running statistics neither the checkpoint nor `calibrate` gave; the first call measures them."""
        return self._uncalibrated

    def __call__(self, images: Union[np.ndarray, tf.Tensor]) -> Translation:
        """images [N, H, W, 3] float32 in [-1, 1], H and W multiples of 4 -> Translation.

        Raises:
            UserError: another rank, channel count or range, or a size that the model cannot take.
        """
        images = self._checked(images)
        if self._uncalibrated:
            _log.warning(
                'running statistics come from the first call: %d pictures', min(len(images), CALIBRATION_PICTURES)
            )
            self.calibrate(images)
        with tf.device(self.device):
            found = self._program(images.shape)(tf.constant(images))
        logits = None if found.cam_logits is None else found.cam_logits.numpy()
        return Translation(found.image.numpy(), logits, found.heatmap.numpy())

    def calibrate(self, images: np.ndarray) -> None:
        """Measures the running statistics that the checkpoint lacks (batch norms of a variant), in float32."""
        if self.rounds:
            raise UserError(
                'The checkpoint lacks running statistics, and this device cannot measure them in float32; translate a'
                ' picture with --device=cpu, or use variants without batch norms.'
            )
        images = self._checked(images)[:CALIBRATION_PICTURES]
        with tf.device(self.device):
            self.twin(FLOAT32_POLICY)(tf.constant(images), Call(batch_momentum=0.0))
        _log.info('running statistics of %d layers measured on %d pictures', len(self._uncalibrated), len(images))
        self._uncalibrated = ()

    def twin(self, policy: Policy) -> Generator:
        """The same variables, exponents and variants under another policy; nothing is copied."""
        build = self.generator.build
        variables = self.generator.named_variables
        shared = dataclasses.replace(
            build, policy=policy, factory=lambda name, *_: variables[name], registry=Registry()
        )  # fmt: skip
        return Generator(self.architecture, self.generator.scope, shared)

    def _program(self, shape: Tuple[int, ...]) -> Any:
        size = (shape[0] if self._static else None, *shape[1:3])
        if size not in self._programs:
            function = tf.function(self._function(), autograph=False)  # all its branches are Python's
            self._programs[size] = function.get_concrete_function(tf.TensorSpec([*size, 3], tf.float32))
        return self._programs[size]

    def _function(self) -> Callable[[tf.Tensor], GeneratorOutput]:
        if self._products is None:
            return lambda images: self.generator(images, FROZEN_CALL)
        if self._fast is None:  # prepared for the first picture: not everybody who loads a model translates
            self._fast = FastGenerator(self.generator, self._products)
        return self._fast

    def _checked(self, images: Union[np.ndarray, tf.Tensor]) -> np.ndarray:
        images = np.asarray(images, np.float32)
        if images.ndim != 4 or images.shape[-1] != 3 or images.shape[0] == 0:
            raise UserError(f'Pictures are expected as [N, height, width, 3], but shape {list(images.shape)} arrived;'
                            ' stack RGB pictures along a first axis.')  # fmt: skip
        largest = float(np.max(np.abs(images)))
        if not largest <= 1.001:
            raise UserError(
                f'Pictures are expected in [-1, 1], but |value| reaches {largest:g}; use pixels / 127.5 - 1.'
            )
        self._check_size(images.shape[1], images.shape[2])
        return images

    def _check_size(self, height: int, width: int) -> None:
        if height % 4 or width % 4:
            raise UserError(
                f'Height and width must be multiples of 4, but {height}x{width} arrived; resize the pictures.'
            )
        trained = self.image_size
        if not self.architecture.light and (height, width) != (trained, trained):
            raise UserError(
                f'This is a full model, whose MLP fixes the size to {trained}x{trained}, but {height}x{width} arrived;'
                ' resize the pictures or use a light model.'
            )


def load(
    path: Optional[PathLike] = None,
    direction: str = 'a2b',
    precision: str = 'float32',
    overflow: str = 'ieee',
    ranges: Optional[RangePlan] = None,
    variants: Union[str, Mapping[str, Any], Variants] = 'default',
    device: str = 'auto',
    image_size: Optional[int] = None,
    seed: int = 0,
    npu: Optional[NpuSettings] = None,
    algebra: str = 'auto',
) -> Translator:
    """Loads one generator.

    Args:
        path: a checkpoint: directory, parent of one, prefix or `.index` file; None for the demo model that comes with
            the project.
        direction: 'a2b' (generator_B, selfie to anime) or 'b2a' (generator_A).
        precision: float32, mixed_float16, float16, float16_operands or mixed_bfloat16.
        overflow: 'ieee' (inf, NaN) or 'saturate' (the Ascend 910's).
        ranges: a plan, folded into the weights now; None for none.
        variants: a preset's name, a file, or rules; see `ugatit.nn.presets`.
        device: auto, cpu, gpu or npu.
        image_size: of a light model, where the default or the checkpoint's JSON is not what is wanted.
        seed: of whatever the checkpoint does not hold.
        npu: dumps and further options of an NPU, with device='npu' only.
        algebra: 'auto' computes the same sums with fewer operations where that pays: on a CPU, from ch 32 on, with
            the paper's layers, in float32, and in mixed_bfloat16 where the CPU has it. Results differ by rounding, a
            plan changes no bit of either. 'plain' computes operation by operation. Tensors in between are always the
            plain ones.

    Raises:
        UserError: anything that does not fit, before big tensors are read.
    """

    def source(scope: str) -> Source:
        return StoredWeights(demo_checkpoint() if path is None else path, scope, image_size, seed)

    policy, chosen = make_policy(precision, overflow), load_variants(variants)
    return _load(source, direction, policy, chosen, ranges, device, npu, algebra)


def load_untrained(
    direction: str = 'a2b',
    precision: str = 'float32',
    overflow: str = 'ieee',
    ranges: Optional[RangePlan] = None,
    variants: Union[str, Mapping[str, Any], Variants] = 'default',
    device: str = 'auto',
    image_size: int = UNTRAINED.image_size,
    seed: int = 0,
) -> Translator:
    """A small light generator with initial weights: no picture worth seeing, but every operation; otherwise as `load`.

    Raises:
        UserError: as `load`.
    """

    def source(scope: str) -> Source:
        return InitialWeights(seed, image_size)

    return _load(source, direction, make_policy(precision, overflow), load_variants(variants), ranges, device)


def load_as_official(
    path: PathLike, direction: str = 'a2b', device: str = 'auto', image_size: Optional[int] = None
) -> Translator:
    """A checkpoint as code reads it that knows nothing of folded exponents: epsilon 1e-5 everywhere, float32.

    What the official program would compute from a drop-in checkpoint (`ugatit.fold_ranges`).
    """

    def source(scope: str) -> Source:
        return WeightsAsOfficial(path, scope, image_size, seed=0)

    return _load(source, direction, FLOAT32_POLICY, load_variants('default'), None, device)


def _load(
    source: Callable[[str], Source],
    direction: str,
    policy: Policy,
    variants: Variants,
    ranges: Optional[RangePlan],
    device: str,
    npu: Optional[NpuSettings] = None,
    algebra: str = 'auto',
) -> Translator:
    if algebra not in ALGEBRAS:
        raise UserError(f'algebra must be one of {", ".join(ALGEBRAS)}, but {algebra!r} arrived.')
    if direction not in GENERATOR_OF_DIRECTION:
        raise UserError(f'direction must be one of {", ".join(GENERATOR_OF_DIRECTION)}, but {direction!r} arrived.')
    if ranges is not None and not isinstance(ranges, RangePlan):
        raise UserError(f'ranges must be a RangePlan or None, but {ranges!r} arrived; make one with ugatit.plan_ranges,'
                        ' or read one with ugatit.RangePlan.load(path).')  # fmt: skip
    scope = GENERATOR_OF_DIRECTION[direction]
    runner = open_runner(device, policy, variants, npu)
    if runner.native_float16:
        policy = make_policy(policy.name, policy.overflow, native=True)
    build = runner.adapt(Build(policy, variants=variants))
    with tf.device(runner.device):
        generator, plan, uncalibrated = _build(source(scope), scope, build, ranges)
    rounds = runner.name == 'npu' and policy.name != 'float32'
    products = _product_format(generator, runner) if algebra == 'auto' else None
    return Translator(generator, direction, runner.device, plan, uncalibrated, runner.static_shapes, rounds, products)


def _product_format(generator: Generator, runner: Runner) -> Optional[tf.DType]:
    """What the identities' matrix products would be computed in; None where they do not hold or do not pay."""
    if runner.name != 'cpu' or generator.architecture.ch < LEAST_CH or not fits(generator):
        return None
    if generator.build.policy == FLOAT32_POLICY:
        return tf.float32
    return tf.bfloat16 if generator.build.policy.name == 'mixed_bfloat16' and cpu_has_bfloat16() else None


def _build(
    source: Source, scope: str, build: Build, ranges: Optional[RangePlan]
) -> Tuple[Generator, Optional[RangePlan], Tuple[str, ...]]:
    architecture, variants = source.architecture, build.variants
    if variants.name != 'default':
        check_variants(architecture, variants)
    registry = blueprint(architecture, scope, variants)
    official = registry if variants.name == 'default' else blueprint(architecture, scope)
    factory = source.factory(scope, registry.variables, official.variables)
    before = source.folded(scope)
    check_permission(registry, before)
    added = {} if ranges is None else ranges.nonzero(scope)
    check_permission(registry, added)
    total = {group: before.get(group, 0) + added.get(group, 0) for group in {**before, **added}}
    if added:
        factory = folding_factory(factory, registry, added)
    planned = ranges is not None or bool(before)
    build = dataclasses.replace(build, scaling=Folded(total) if planned else UNPLANNED, factory=factory)
    missing = tuple(layer for layer in registry.running if not source.holds(f'{layer}/moving_mean'))
    return Generator(architecture, scope, build), ranges, missing
