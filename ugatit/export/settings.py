"""What an exported file looks like from outside, and in which arithmetic it computes."""

from __future__ import annotations

import dataclasses
from typing import Optional, Tuple

from ugatit.errors import UserError
from ugatit.export.check import Bound
from ugatit.nn.architecture import Architecture


@dataclasses.dataclass(frozen=True)
class Interface:
    """Inputs and outputs."""

    dynamic_batch: bool = False  # any number of pictures in one call; otherwise one
    dynamic_size: bool = False  # any height and width that are multiples of 4; light models only
    uint8: bool = False  # pictures go in and come out as 0..255, scaled inside
    heatmap: bool = False  # also give where the generator looks, [N, H / 4, W / 4]

    def input_shape(self, size: int) -> Tuple[Optional[int], ...]:
        """[N, H, W, 3] with None where it is free."""
        side = None if self.dynamic_size else size
        return (None if self.dynamic_batch else 1, side, side, 3)

    def check(self, architecture: Architecture) -> None:
        """UserError where the model cannot have such an interface."""
        if self.dynamic_size and not architecture.light:
            side = architecture.image_size
            raise UserError(
                f'--dynamic_size needs a light model: this is a full one, whose MLP has a weight for every pixel of'
                f' {side}x{side} pictures; export it with that size, or use a light model.'
            )


@dataclasses.dataclass(frozen=True)
class ExportSettings:
    """Everything about one file but the model; `ugatit.cli.commands.export_model` makes it from flags."""

    format: str  # a key of ugatit.export.formats.FORMATS
    bound: Bound  # that the check must keep
    precision: str = 'float32'  # of weights and operators: float32, mixed_float16 or float16
    statistics: str = 'plain'  # how norms compute them: plain, float32, prescaled, or 'mixed' where rules differ
    interface: Interface = Interface()
    reflect_pad: str = 'mirror'  # or 'slices', for compilers without MirrorPad
    opset: int = 13  # of ONNX
    fit_squares: bool = False  # the plan makes squared differences fit float16, too
    soc_version: str = 'Ascend910A'  # in ATC's command line
    precision_mode: Optional[str] = None  # of ATC; None: the one in which the file is right
