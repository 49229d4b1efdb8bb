"""The vendor's result sheet: its column names, its number formats, one row per compared output."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from typing import Dict, List, Optional, Sequence, Tuple

from ugatit.dumps.matching import Alone, Pair
from ugatit.dumps.metrics import Metrics

HEADER = (
    'Index', 'OpSequence', 'OpType', 'NPUDump', 'DataType', 'Address', 'GroundTruth', 'DataType', 'TensorIndex',
    'Shape', 'OverFlow', 'CosineSimilarity', 'MaxAbsoluteError', 'AccumulatedRelativeError',
    'RelativeEuclideanDistance', 'KullbackLeiblerDivergence', 'StandardDeviation', 'MeanAbsoluteError',
    'RootMeanSquareError', 'MaxRelativeError', 'MeanRelativeError', 'CompareFailReason',
)  # fmt: skip
_SMALL = 0.001  # means and deviations below it are written as 0
NAN = 'NaN'


@dataclasses.dataclass(frozen=True)
class Row:
    """One compared output, or one operator that has no counterpart."""

    sequence: int  # place in topological order, from 0
    op_type: str
    left: str  # operator, as the left dump names it
    right: str  # '*' where there is none
    tensor: str  # 'NAME:output:0'
    left_type: str = NAN
    right_type: str = NAN
    address: int = 0
    shape: Tuple[int, ...] = ()
    metrics: Optional[Metrics] = None
    reason: str = ''
    relation: str = 'same'

    @property
    def overflow(self) -> str:
        """'YES' or 'NO' for float16, 'NaN' for other types."""
        if self.metrics is None or self.left_type != 'float16':
            return NAN
        return 'NO' if self.metrics.left_saturated == 0 else 'YES'

    def to_json(self) -> Dict[str, object]:
        values = dataclasses.asdict(self)
        return {**values, 'overflow': self.overflow}

    @staticmethod
    def from_json(values: Dict[str, object]) -> Row:
        values = {key: value for key, value in values.items() if key != 'overflow'}
        if values['metrics'] is not None:
            metrics = dict(values['metrics'])
            values['metrics'] = Metrics(**{**metrics, 'notes': tuple(metrics['notes'])})
        return Row(**{**values, 'shape': tuple(values['shape'])})


def row_of(sequence: int, pair: Pair) -> Row:
    """The row of a pair before it is measured."""
    return Row(
        sequence=sequence,
        op_type=pair.operator.type,
        left=pair.operator.name,
        right=f'{pair.truth[0]}',
        tensor=f'{pair.operator.name}:output:{pair.output}',
        relation=pair.relation,
    )


def alone_rows(start: int, left: Sequence[Alone], right: Sequence[Alone]) -> List[Row]:
    """Operators without a counterpart: reported, never dropped."""
    found = [Row(0, a.type, a.name, '*', f'{a.name}:output:*', reason=a.reason) for a in left]
    found += [Row(0, a.type, '*', a.name, f'{a.name}:output:*', reason=a.reason) for a in right]
    return [dataclasses.replace(row, sequence=start + i) for i, row in enumerate(found)]


def csv_text(rows: Sequence[Row]) -> str:
    """The whole sheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator='\n')
    writer.writerow(HEADER)
    for index, row in enumerate(rows):
        writer.writerow([_harmless(cell) for cell in cells(index, row)])
    return out.getvalue()


def cells(index: int, row: Row) -> List[str]:
    """One row, in the order of HEADER."""
    address = str(row.address) if row.address else NAN
    head = [str(index), str(row.sequence), row.op_type or NAN, row.left, row.left_type, address, row.right,
            row.right_type, row.tensor, _shape(row.shape), row.overflow]  # fmt: skip
    m = row.metrics
    if m is None:
        return [*head, *[NAN] * 10, row.reason]
    numbers = (m.mean_absolute, m.rmse, m.max_relative, m.mean_relative)
    first = (m.cosine, m.max_absolute, m.accumulated_relative, m.relative_euclidean, m.kl)
    return [*head, *map(number, first), deviation(m), *map(number, numbers), row.reason]


def number(value: float) -> str:
    """Six decimals."""
    return NAN if math.isnan(value) else f'{value:.6f}'


def deviation(m: Metrics) -> str:
    """'(mean;std),(mean;std)' of left and right."""
    values = [0.0 if abs(v) < _SMALL else v for v in (m.left_mean, m.left_std, m.right_mean, m.right_std)]
    return '({:.3f};{:.3f}),({:.3f};{:.3f})'.format(*values)


def _shape(shape: Tuple[int, ...]) -> str:
    return f'[{",".join(map(str, shape))}]'


def _harmless(cell: str) -> str:
    """No cell may begin like a formula: a spreadsheet would run it. Numbers may be negative."""
    return f"'{cell}" if re.match(r'[=+@\t\r]|-(?![0-9.])', cell) else cell
