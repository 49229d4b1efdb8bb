"""The marks by which our own reports are known again, so that a later run may replace them and nothing else."""

from __future__ import annotations

import json
import math
from typing import Any, Mapping

from ugatit.data.convert import PathLike, write_file

JSON_KEY, JSON_VALUE = 'ugatit', 'report'  # the first key of every JSON report: seen without reading the whole file
HTML_MARK = '<meta name="generator" content="ugatit report">'  # infer.py's gallery has a mark of its own
HTML_MARKS = (HTML_MARK, '<meta name="generator" content="ugatit diagnose">')  # and that of older pages
SVG_MARK = '<!-- ugatit diagnose -->'


def plain(value: Any) -> Any:
    """The value with null for NaN and infinity, which JSON has not."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_json_report(path: PathLike, value: Mapping[str, Any]) -> None:
    """Writes a marked report, whole or not at all. Names that are no text keep their bytes as JSON escapes."""
    text = json.dumps(plain({JSON_KEY: JSON_VALUE, **value}), indent=1, allow_nan=False)
    write_file(path, f'{text}\n'.encode('ascii'))
