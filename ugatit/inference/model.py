"""The model that a command line asks for: which checkpoint, what it is in one line, what it lacks."""

from __future__ import annotations

import dataclasses
import logging
import os
from typing import Any, Dict, Optional, Sequence

from ugatit.checkpoints.demo import demo_checkpoint
from ugatit.checkpoints.location import Location, locate
from ugatit.inference.inputs import Input, sample
from ugatit.inference.settings import Settings
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION, Architecture
from ugatit.nn.blueprint import check_variants
from ugatit.nn.presets import load_variants
from ugatit.nn.rules import Variants
from ugatit.nn.table import Table, variants_table
from ugatit.ranges import RangePlan
from ugatit.runners import NpuSettings
from ugatit.translate import CALIBRATION_PICTURES, Translator, load

_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class ModelChoice:
    """What `ugatit.load` is asked for; the parts that cost nothing are checked when it is made."""

    location: Location
    direction: str
    precision: str
    overflow: str
    variants: Variants
    device: str
    image_size: Optional[int]
    npu: Optional[NpuSettings] = None

    def on_cpu(self) -> ModelChoice:
        """The same model where it can be measured: an NPU rounds even what is float32 to everyone else."""
        return dataclasses.replace(self, device='cpu', npu=None)

    def load(self, ranges: Optional[RangePlan] = None) -> Translator:
        """The model, with a plan folded in."""
        return load(
            self.location,
            direction=self.direction,
            precision=self.precision,
            overflow=self.overflow,
            ranges=ranges,
            variants=self.variants,
            device=self.device,
            image_size=self.image_size,
            npu=self.npu,
        )

    def describe(self, translate: Translator) -> Dict[str, Any]:
        """For the report, and in one line for the log."""
        architecture, network = translate.architecture, GENERATOR_OF_DIRECTION[self.direction]
        return {
            'checkpoint': os.fspath(self.location.prefix),
            'step': self.location.step,
            'direction': self.direction,
            'network': network,
            'kind': 'light' if architecture.light else 'full',
            'ch': architecture.ch,
            'image_size': translate.image_size,
            'precision': self.precision,
            'overflow': self.overflow,
            'planned': translate.plan is not None,
            'variants': self.variants.name,
            'variants_table': resolved_variants(self.variants, architecture, network),
            'device': translate.device or self.device,
        }


def choose_model(
    checkpoint: Optional[str],
    direction: str,
    precision: str,
    overflow: str,
    variants: str,
    device: str,
    image_size: Optional[int],
    npu: Optional[NpuSettings] = None,
) -> ModelChoice:
    """Finds the checkpoint and reads the variants; says so where it is the demo model.

    Args:
        checkpoint: as the user gave it; None for the demo model.

    Raises:
        UserError: no such checkpoint, size or variants.
    """
    if image_size is not None:
        Architecture(image_size=image_size)
    chosen = load_variants(variants)
    if checkpoint is None:
        _log.info('no --checkpoint: this is the demo model, which knows drawn faces of 64 x 64 pixels and nothing else')
    location = locate(demo_checkpoint() if checkpoint is None else checkpoint)
    return ModelChoice(location, direction, precision, overflow, chosen, device, image_size, npu)


def model_line(described: Dict[str, Any]) -> str:
    """'model: generator_B (a2b), full, ch 64, 256x256 pixels, step 1000000, float16 saturate with a plan, /CPU:0'."""
    size, step = described['image_size'], described['step']
    overflow = '' if described['overflow'] == 'ieee' else f' {described["overflow"]}'
    parts = [
        f'{described["network"]} ({described["direction"]})',
        described['kind'],
        f'ch {described["ch"]}',
        f'{size}x{size} pixels',
        f'step {"unknown" if step is None else step}',
        f'{described["precision"]}{overflow}{" with a plan" if described["planned"] else ""}',
        *([] if described['variants'] == 'default' else [f'variants {described["variants"]}']),
        described['device'],
    ]
    return 'model: ' + ', '.join(parts)


def resolved_variants(variants: Variants, architecture: Architecture, network: str) -> Optional[Table]:
    """The network's layers: layer -> setting -> variant; None where everything is as in the paper."""
    if variants.name == 'default':
        return None
    return {name: row for name, row in check_variants(architecture, variants).items() if name.startswith(network)}


def log_variants(variants: Variants, architecture: Architecture, network: str) -> None:
    """Prints the resolved table of the network, unless everything is as in the paper."""
    layers = resolved_variants(variants, architecture, network)
    if layers is None:
        return
    _log.info('variants %s: %s\n%s', variants.name, variants.summary, variants_table(layers))


def calibrate(translate: Translator, inputs: Sequence[Input], settings: Settings) -> None:
    """Measures the running statistics that the checkpoint lacks, if any, on the first readable inputs."""
    if not translate.uncalibrated:
        return
    pictures = sample(inputs, translate.image_size, settings, CALIBRATION_PICTURES)
    if len(pictures):
        translate.calibrate(pictures)
