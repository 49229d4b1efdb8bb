"""What the page computes, as functions from a picture and settings to results."""

from __future__ import annotations

from typing import NamedTuple, Tuple

import numpy as np

from ugatit.data.convert import to_uint8
from ugatit.diagnosis.report import RangeReport, make_report
from ugatit.inference.inputs import Prepared
from ugatit.inference.results import finished_heatmap, finished_picture, require_picture
from ugatit.numerics import psnr
from ugatit.web.difference import difference_map
from ugatit.web.models import Arithmetic, Models


class Translated(NamedTuple):
    """One picture through the network, as infer.py computes it; all uint8 [S, S, 3]."""

    before: np.ndarray  # the input as the network sees it
    picture: np.ndarray
    attention: np.ndarray  # where the network looked, laid over the input


class Compared(NamedTuple):
    """One arithmetic against the loaded checkpoint in float32."""

    exact: np.ndarray  # uint8 [S, S, 3], float32
    picture: np.ndarray  # uint8 [S, S, 3], black where it is not finite
    difference: np.ndarray  # uint8 [S, S, 3], see `difference_map`
    decibels: float  # PSNR of the network's own outputs, peak 2; inf: the same bits; NaN: some value is not finite
    lost: Tuple[int, int]  # (values that are NaN or infinite, all values)
    report: RangeReport  # every tensor's range for this picture, before and after the plan


def translate(models: Models, prepared: Prepared, direction: str) -> Translated:
    """float32. UserError where the result is no picture."""
    with models.turn:
        found = models.translator(direction)(prepared.square[None])
    require_picture(prepared, found.image[0])
    return Translated(
        to_uint8(prepared.square),
        finished_picture(found.image[0], prepared.geometry, keep_size=False),
        finished_heatmap(prepared, found.heatmap[0], keep_size=False),
    )


def compare(models: Models, prepared: Prepared, direction: str, arithmetic: Arithmetic) -> Compared:
    """The same picture in another arithmetic, perhaps on the stressed twin. UserError where float32 has no picture."""
    images = prepared.square[None]
    with models.turn:
        exact = models.translator(direction)(images).image[0]
        require_picture(prepared, exact)
        found = models.translator(direction, arithmetic)(images).image[0]
        report = _report(models, images, direction, arithmetic)
    finite = np.isfinite(found)
    return Compared(
        to_uint8(exact),
        to_uint8(np.where(finite, found, -1.0)),
        difference_map(found, exact),
        psnr(found, exact),
        (int(found.size - finite.sum()), found.size),
        report,
    )


def _report(models: Models, images: np.ndarray, direction: str, arithmetic: Arithmetic) -> RangeReport:
    """Of this picture, measured in float32, with the plan that was made of the calibration pictures."""
    base = models.translator(direction, Arithmetic('float32', stressed=arithmetic.stressed))
    plan = models.plan(direction, arithmetic.stressed, arithmetic.precision)
    return make_report(base, models.profile(direction, arithmetic.stressed, images), plan=plan)
