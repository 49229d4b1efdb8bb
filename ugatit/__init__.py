"""U-GAT-IT in TensorFlow that computes the same picture in float16.

    import ugatit
    translate = ugatit.load(path, direction='a2b', precision='float32', overflow='ieee', ranges=None)
    out = translate(images)                                  # [N, H, W, 3] in [-1, 1] -> Translation(image, ...)
    profile = ugatit.profile_ranges(translate, images)       # tensor name -> TensorRange
    plan = ugatit.plan_ranges(translate, profile)            # {network: {group: e}}
    ugatit.fold_ranges(checkpoint, plan, output)             # the drop-in checkpoint

Importing this costs nothing: TensorFlow is imported when one of these is first used.
"""

from __future__ import annotations

import importlib
from typing import Any, Dict, List

__version__ = '0.1.0'

_HOME: Dict[str, str] = {
    'UserError': 'ugatit.errors',
    'Architecture': 'ugatit.nn.architecture',
    'load': 'ugatit.translate',
    'Translation': 'ugatit.translate',
    'Translator': 'ugatit.translate',
    'RangePlan': 'ugatit.ranges',
    'RangeProfile': 'ugatit.ranges',
    'TensorRange': 'ugatit.ranges',
    'profile_ranges': 'ugatit.planning',
    'plan_ranges': 'ugatit.planning',
    'fold_ranges': 'ugatit.checkpoints',
}
__all__ = ['__version__', *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> List[str]:
    return sorted([*globals(), *_HOME])
