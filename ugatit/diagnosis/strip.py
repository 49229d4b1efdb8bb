"""The failure and its cure to look at: the same pictures in float32, in float16 as it is, in float16 with a plan."""

from __future__ import annotations

import math
from typing import List, NamedTuple, Sequence

import numpy as np
from PIL import Image, ImageDraw

from ugatit.checkpoints.location import PathLike
from ugatit.data.convert import to_uint8
from ugatit.errors import UserError
from ugatit.nn.policy import make_policy
from ugatit.numerics import FLOAT16, psnr
from ugatit.planning import plan_ranges, profile_ranges
from ugatit.translate import load

_GAP = 4  # white pixels between two pictures
_SMALLEST = 128  # shown at least this large, so that the text fits above
_HEAD = 40  # height of the text, pixels
_LINE = 14


class Column(NamedTuple):
    """One arithmetic."""

    title: str
    images: np.ndarray  # [N, S, S, 3] float32 in [-1, 1], perhaps NaN
    psnr: float  # dB against float32 over all pictures together, peak 2; inf: the same bits; NaN: no picture

    def label(self) -> str:
        """'58.5 dB'."""
        if math.isinf(self.psnr) and self.psnr > 0:
            return 'the same bits'
        return f'{self.psnr:.1f} dB' if math.isfinite(self.psnr) else 'NaN or infinity'


def strip_columns(
    checkpoint: PathLike,
    direction: str,
    images: np.ndarray,
    precision: str = 'mixed_float16',
    overflow: str = 'saturate',
    variants: str = 'default',
) -> List[Column]:
    """Translates `images` [N, S, S, 3] in float32, in a 16-bit precision as it is, and with a plan made from `images`.

    Args:
        checkpoint: any that `ugatit.load` takes.
        variants: how the network is computed in the last two; see `ugatit.nn.presets`.

    Raises:
        UserError: float32 asked for as the precision, or what `load` raises.
    """
    policy = make_policy(precision, overflow)
    if precision == 'float32':
        raise UserError('the precision must be another than float32, which the others are compared with.')
    exact = load(checkpoint, direction)
    wanted = exact(images).image
    plan = plan_ranges(exact, profile_ranges(exact, images), fit_squares=policy.vector_format is FLOAT16)
    columns = [Column('float32', wanted, math.inf)]
    for title, ranges in ((f'{precision}, as it is', None), (f'{precision}, planned', plan)):
        found = load(checkpoint, direction, precision, overflow, ranges, variants)(images).image
        columns.append(Column(title, found, psnr(found, wanted)))
    return columns


def draw_strip(inputs: np.ndarray, columns: Sequence[Column]) -> np.ndarray:
    """uint8 [height, width, 3]: one row per picture, the input first; above each column its title and its PSNR."""
    count, size = inputs.shape[:2]
    side = size * max(1, -(-_SMALLEST // size))
    shown = [Column('input', inputs, math.nan), *columns]
    sheet = Image.new('RGB', (len(shown) * (side + _GAP) - _GAP, _HEAD + count * (side + _GAP) - _GAP), 'white')
    draw = ImageDraw.Draw(sheet)
    for x, column in enumerate(shown):
        left = x * (side + _GAP)
        lines = [*column.title.split(', '), *([column.label()] if x else [])]
        for y, line in enumerate(lines):
            draw.text((left + 2, y * (_LINE - 1)), line, fill='black')
        for y, image in enumerate(column.images):
            sheet.paste(_picture(image, side), (left, _HEAD + y * (side + _GAP)))
    return np.asarray(sheet)


def _picture(image: np.ndarray, side: int) -> Image.Image:
    """Enlarged pixel by pixel; what is not finite shows black, as it would in a file."""
    pixels = to_uint8(np.nan_to_num(image, nan=-1.0, posinf=1.0, neginf=-1.0))
    return Image.fromarray(pixels).resize((side, side), Image.NEAREST)
