"""Every export format against its checkpoint: size, largest difference, PSNR, time. Needs the golden checkpoints.

    python -m benchmarks.bench_export [--golden=../shared/golden] [--only=light|full] [--json=FILE]

Light and full golden overflow checkpoints, 64 pixels: a2b overflows float16, b2a of the same checkpoint is healthy.
Prints a JSON line for every row of the tables in docs/export.md: the files with their floors (float16 with unlimited
exponent), then what float16 ONNX gives in true half arithmetic, planned and unplanned, ours and through
onnxconverter-common (light, 32 pixels). `python -m benchmarks.export_tables FILE...` puts what --json wrote into that
page.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, Optional

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from ugatit.data.reports import plain  # noqa: E402
from ugatit.export.check import Bound  # noqa: E402
from ugatit.export.formats import FORMATS  # noqa: E402
from ugatit.export.generator import exportable, statistics_for, with_statistics  # noqa: E402
from ugatit.export.onnx_file import to_onnx  # noqa: E402
from ugatit.export.settings import ExportSettings, Interface  # noqa: E402
from ugatit.export.trace import trace  # noqa: E402
from ugatit.export.true_half import converted, run_true_half  # noqa: E402
from ugatit.export.write import export_file  # noqa: E402
from ugatit.nn.policy import make_policy  # noqa: E402
from ugatit.nn.presets import load_variants  # noqa: E402
from ugatit.numerics import psnr  # noqa: E402
from ugatit.planning import plan_ranges, profile_ranges  # noqa: E402
from ugatit.translate import Translator, load  # noqa: E402

TAGS = {'light': 'overflow_light_i64_c16', 'full': 'overflow_full_i64_c8'}
CONDITIONS = {'overflow': ('a2b', 'A'), 'healthy': ('b2a', 'B')}
ANYTHING = Bound(None, None)


class Case:
    """One generator with its pictures, plan and float32 result."""

    def __init__(self, golden: pathlib.Path, kind: str, condition: str, size: Optional[int] = None) -> None:
        self.kind, self.condition = kind, condition
        self.direction, domain = CONDITIONS[condition]
        self._path = golden / 'checkpoints' / TAGS[kind]
        self._size = size or (64 if kind == 'light' else None)
        with np.load(golden / 'outputs' / f'{TAGS[kind]}.npz') as recorded:
            pictures = np.concatenate([recorded[f'in/x_{domain}/{i}'] for i in range(3)])
        self.images = pictures[:, :size, :size] if size else pictures
        translate = self.load(None, None)
        self.source = translate(self.images)
        self.plan = plan_ranges(translate, profile_ranges(translate, self.images))

    def load(self, plan: Any, statistics: Optional[str]) -> Translator:
        """The model with a plan folded in; None for the statistics of the paper."""
        variants = with_statistics(load_variants('default'), statistics)
        return load(self._path, self.direction, ranges=plan, variants=variants, device='cpu', image_size=self._size)

    def floor(self, precision: str) -> float:
        """dB of the same rounding with an unlimited exponent."""
        translate = self.load(None, statistics_for(precision, None))
        found = translate.twin(make_policy(precision).floor())(tf.constant(self.images)).image.numpy()
        return psnr(found, self.source.image)


def table(golden: pathlib.Path, kinds: List[str]) -> Iterator[Dict[str, Any]]:
    """One row per format, kind, precision and condition; everything planned."""
    for kind in kinds:
        for condition in CONDITIONS:
            case = Case(golden, kind, condition)
            floor = case.floor('float16')
            for precision in ('float32', 'float16'):
                statistics = statistics_for(precision, None)
                translate = case.load(case.plan, statistics)
                for name in FORMATS:
                    settings = ExportSettings(name, ANYTHING, precision, statistics or 'plain')
                    made = _exported(case, translate, settings)
                    yield {'model': kind, 'values': condition, 'precision': precision, 'format': name, **made,
                           'floor_psnr': floor if precision == 'float16' else None}  # fmt: skip


def _exported(case: Case, translate: Translator, settings: ExportSettings) -> Dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / f'file{FORMATS[settings.format].suffix}'
        made = export_file(case.source, translate, case.images, output, settings, {})
    found = made.check
    return {'bytes': made.size, 'largest_difference': found.largest_difference, 'psnr': found.psnr,
            'seconds': found.seconds, 'runtime': found.runtime}  # fmt: skip


def true_half(golden: pathlib.Path) -> Iterator[Dict[str, Any]]:
    """The overflow checkpoint at 32 pixels: which float16 ONNX survives where halves are stored."""
    case = Case(golden, 'light', 'overflow', 32)
    for precision, statistics in (('mixed_float16', 'plain'), ('float16', 'prescaled'), ('float16', 'float32')):
        for plan in (case.plan, None):
            row = {'file': f'{precision}, {statistics}', 'planned': plan is not None}
            yield {**row, 'psnr': _half_psnr(case, _model(case, precision, statistics, plan)),
                   'floor_psnr': case.floor(precision) if statistics != 'float32' else None}  # fmt: skip
    for statistics, plan in (('prescaled', case.plan), ('prescaled', None), ('plain', None)):
        model = converted(_model(case, 'float32', statistics, plan))
        yield {'file': f'onnxconverter-common of float32, {statistics}', 'planned': plan is not None,
               'psnr': _half_psnr(case, model)}  # fmt: skip


def _model(case: Case, precision: str, statistics: str, plan: Any) -> Any:
    generator = exportable(case.load(plan, statistics), precision, 'mirror')
    return to_onnx(trace(generator, case.direction, Interface()))


def _half_psnr(case: Case, model: Any) -> Optional[float]:
    found = run_true_half(model, case.images)
    return psnr(found, case.source.image) if np.isfinite(found).all() else None


def main() -> int:
    """Prints rows as they come; --json writes all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--golden', type=pathlib.Path, default=pathlib.Path('../shared/golden'))
    parser.add_argument('--only', choices=list(TAGS))
    parser.add_argument('--json', help='also write the result here')
    options = parser.parse_args()
    warnings.simplefilter('ignore')
    rows = []
    for row in table(options.golden, [options.only] if options.only else list(TAGS)):
        print(json.dumps(plain(row)), flush=True)
        rows.append(row)
    halves = []
    for row in true_half(options.golden) if options.only != 'full' else ():
        print(json.dumps(plain(row)), flush=True)
        halves.append(row)
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file:
            json.dump(plain({'table': rows, 'true_half': halves}), file, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
