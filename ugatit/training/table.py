"""losses.csv: one row per logged step, exact float32 values; a resumed run continues it without doubled rows."""

from __future__ import annotations

import csv
import io
import pathlib
import re
from typing import Dict, List, Mapping, TextIO

from ugatit.data.convert import write_file

FIRST = ('step', 'learning_rate')  # step: how many steps the run had behind it after this one


_STEP = re.compile('[0-9]{1,18}')


class LossTable:
    """Appends rows; call `flush` before every checkpoint, so that no row that a resumed run needs is missing."""

    def __init__(self, path: pathlib.Path, columns: List[str], steps_done: int) -> None:
        """Keeps the rows up to `steps_done`; those of steps that are about to be repeated go, and a torn last line."""
        self._columns = [*FIRST, *columns]
        kept = [row for row in read_rows(path) if int(row['step']) <= steps_done]
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, self._columns, extrasaction='ignore', lineterminator='\n')
        writer.writeheader()
        writer.writerows(kept)
        write_file(path, buffer.getvalue().encode())
        self._file: TextIO = path.open('a', encoding='utf-8', newline='')
        self._writer = csv.DictWriter(self._file, self._columns, extrasaction='ignore', lineterminator='\n')

    def write(self, step: int, learning_rate: float, losses: Mapping[str, float]) -> None:
        """One row; terms that this step did not compute stay empty, those without a column are left out."""
        self._writer.writerow({'step': step, 'learning_rate': repr(learning_rate), **losses})

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_rows(path: pathlib.Path) -> List[Dict[str, str]]:
    """The complete rows of a table, in order; none where there is no file."""
    try:
        text = path.read_text(encoding='utf-8', errors='replace')
    except FileNotFoundError:
        return []
    complete = text[: text.rfind('\n') + 1]
    rows = csv.DictReader(io.StringIO(complete))
    whole = [row for row in rows if None not in row and None not in row.values()]
    return [row for row in whole if _STEP.fullmatch(row.get('step', ''))]
