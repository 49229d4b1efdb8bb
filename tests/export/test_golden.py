"""The checkpoint whose numbers were reported from the Ascend 910, as float16 ONNX: what shows the failure."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from tests import tolerances
from ugatit.export.generator import exportable, with_statistics
from ugatit.export.settings import Interface
from ugatit.export.trace import trace
from ugatit.export.true_half import run_true_half
from ugatit.nn.presets import load_variants
from ugatit.numerics import psnr
from ugatit.planning import plan_ranges, profile_ranges
from ugatit.translate import load

TAG, SIZE = 'overflow_light_i64_c16', 32  # a light model takes any size; onnx's evaluator is slow


@pytest.mark.slow
def test_only_true_half_shows_the_failure(golden: pathlib.Path) -> None:
    """Unplanned: onnxruntime's CPU, with float32 between the operators, gives a good picture, halves none."""
    pytest.importorskip('onnx.reference')
    runtime = pytest.importorskip('onnxruntime')
    with np.load(golden / 'outputs' / f'{TAG}.npz') as recorded:
        images = recorded['in/x_A/0'][:, :SIZE, :SIZE]
    translate = load(golden / 'checkpoints' / TAG, image_size=SIZE)
    wanted = translate(images).image
    plan = plan_ranges(translate, profile_ranges(translate, images))
    planned, unplanned = _model(golden, plan), _model(golden, None)
    session = runtime.InferenceSession(unplanned.SerializeToString(), providers=['CPUExecutionProvider'])
    assert psnr(session.run(None, {'test_domain_A': images})[0], wanted) > tolerances.CONVERTED_DB
    assert not np.isfinite(run_true_half(unplanned, images)).all()
    assert psnr(run_true_half(planned, images), wanted) > tolerances.CONVERTED_DB


def _model(golden: pathlib.Path, plan: Any) -> Any:
    from ugatit.export.onnx_file import to_onnx

    variants = with_statistics(load_variants('default'), 'prescaled')
    translate = load(golden / 'checkpoints' / TAG, ranges=plan, variants=variants, image_size=SIZE)
    return to_onnx(trace(exportable(translate, 'float16', 'mirror'), 'a2b', Interface()))
