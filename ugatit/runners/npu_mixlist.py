"""`modify_mixlist`: keeps the statistics' operators in float32 in the modes where a list decides.

In `allow_mix_precision` an operator on neither list follows the one before it, so the squared differences behind a
convolution become float16 and overflow from |x - mean| = 256 on. The list is by operator type, for the whole graph.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, Tuple

from ugatit.nn.rules import Variants

# Types as the NPU's compiler names them: the operators of ugatit.nn.standardize, and the official graph's
# SquaredDifference. What comes behind them (gamma, beta, residual sums) follows them.
STATISTICS_OPERATORS: Tuple[str, ...] = (
    'SquaredDifference', 'Square', 'Sub', 'Sqrt', 'Rsqrt', 'RealDiv', 'ReduceMeanD', 'ReduceSumD',
)  # fmt: skip


def mixlist(variants: Variants) -> Dict[str, Any]:
    """The JSON's content: the statistics' operators are black-listed, which keeps them float32.

    Only where every normalisation is `prescaled`, which was made for float16, nothing is listed.
    """
    prescaled = {variant for _, variant in variants.statistics} == {'prescaled'}
    black = [] if prescaled else list(STATISTICS_OPERATORS)
    return {'black-list': {'to-add': black, 'to-remove': []}, 'white-list': {'to-add': [], 'to-remove': []}}


def write_mixlist(folder: pathlib.Path, variants: Variants) -> pathlib.Path:
    """Writes `mixlist.json` into the folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / 'mixlist.json'
    path.write_text(json.dumps(mixlist(variants), indent=1) + '\n', 'utf-8')
    return path
