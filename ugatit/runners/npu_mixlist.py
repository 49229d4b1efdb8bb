"""`modify_mixlist`: keeps the statistics' operators in float32 in the modes where a list decides.

In `allow_mix_precision` an operator on neither list follows the one before it, so the squared differences behind a
convolution become float16 and overflow from |x - mean| = 256 on. The list is by operator type, for the whole graph.
"""

from __future__ import annotations

import json
import pathlib
from typing import Sequence, Tuple

from ugatit.nn.rules import Variants

# Types as the NPU's compiler names them: the operators of ugatit.nn.standardize, and the official graph's
# SquaredDifference. What comes behind them (gamma, beta, residual sums) follows them.
STATISTICS_OPERATORS: Tuple[str, ...] = (
    'SquaredDifference', 'Square', 'Sub', 'Sqrt', 'Rsqrt', 'RealDiv', 'ReduceMeanD', 'ReduceSumD',
)  # fmt: skip


def black_list(operators: Sequence[str]) -> str:
    """The text of a file for the adapter's `modify_mixlist` or ATC's `--modify_mixlist`: these stay float32."""
    content = {
        'black-list': {'to-add': list(operators), 'to-remove': []},
        'white-list': {'to-add': [], 'to-remove': []},
    }
    return json.dumps(content, indent=1) + '\n'


def mixlist(variants: Variants) -> str:
    """The statistics' operators in the black list; none where every normalisation is `prescaled`, made for float16."""
    prescaled = {variant for _, variant in variants.statistics} == {'prescaled'}
    return black_list(() if prescaled else STATISTICS_OPERATORS)


def write_mixlist(folder: pathlib.Path, variants: Variants) -> pathlib.Path:
    """Writes `mixlist.json` into the folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / 'mixlist.json'
    path.write_text(mixlist(variants), 'utf-8')
    return path
