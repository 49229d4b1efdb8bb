"""KID, FID, SSIM and PSNR against what independent packages gave for the same input, recorded in agreement.json.

Recorded with torch-fidelity 0.4.0, pytorch-fid 0.3.0, clean-fid 0.1.35, torchmetrics 1.9.0 and scikit-image 0.26.0, so
that the suite needs none of them. torchmetrics' SSIM is not compared: it counts windows mirrored at the border too.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict

import pytest

from tests import tolerances
from tests.evaluation.sets import features, pictures
from ugatit.evaluation.frechet import fid
from ugatit.evaluation.kernel import kid, polynomial_mmd
from ugatit.numerics import psnr, ssim

RECORDED: Dict[str, Any] = json.loads((pathlib.Path(__file__).parent / 'agreement.json').read_text())
KINDS = ('near', 'far', 'flat')


@pytest.mark.parametrize('kind', KINDS)
def test_kid_draws_the_subsets_that_torch_fidelity_draws(kind: str) -> None:
    recorded = RECORDED[kind]['kid']
    found = kid(*features(kind), recorded['subsets'], recorded['subset_size'], recorded['seed'])
    mean, deviation = recorded['torch-fidelity'].values()
    assert found.mean == pytest.approx(mean, rel=tolerances.METRIC_FORMULA)
    assert found.deviation == pytest.approx(deviation, rel=tolerances.METRIC_FORMULA)


@pytest.mark.parametrize('package', ['torchmetrics', 'clean-fid'])
@pytest.mark.parametrize('kind', KINDS)
def test_one_unbiased_estimate(kind: str, package: str) -> None:
    x, y = features(kind)
    recorded = RECORDED[kind]['mmd12'][package]
    assert polynomial_mmd(x[:12], y[:12]) == pytest.approx(recorded, rel=tolerances.METRIC_FORMULA)


@pytest.mark.parametrize('package', ['pytorch-fid', 'clean-fid', 'torch-fidelity', 'torchmetrics'])
@pytest.mark.parametrize('kind', KINDS)
def test_fid(kind: str, package: str) -> None:
    tolerance = tolerances.FID_WITHOUT_FULL_RANK if kind == 'flat' else tolerances.METRIC_FORMULA
    assert fid(*features(kind)).value == pytest.approx(RECORDED[kind]['fid'][package], rel=tolerance)


def test_ssim_and_psnr() -> None:
    assert ssim(*pictures()) == pytest.approx(RECORDED['ssim']['scikit-image'], rel=tolerances.METRIC_FORMULA)
    assert psnr(*pictures()) == pytest.approx(RECORDED['psnr']['scikit-image'], rel=tolerances.METRIC_FORMULA)
