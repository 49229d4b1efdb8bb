"""Figures that tests found out, printed when all are through, by whichever process they were run."""

from __future__ import annotations

from typing import Dict, Tuple

FOUND: Dict[str, Tuple[float, str]] = {}
"""What it is -> (size, the rest of the line) of the largest."""


def report(what: str, size: float, line: str) -> None:
    """Keeps the largest of its kind, as a plain float: nothing else of numbers passes between processes."""
    size = float(size)
    if what not in FOUND or size > FOUND[what][0]:
        FOUND[what] = size, line


def merge(found: Dict[str, Tuple[float, str]]) -> None:
    """Those of another process."""
    for what, (size, line) in found.items():
        report(what, size, line)
