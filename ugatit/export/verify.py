"""`export.py --verify=FILE`: the check of an exported file repeated, wherever it is now and without the checkpoint."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any, Dict, NamedTuple

import numpy as np

from ugatit.errors import UserError
from ugatit.export.check import Bound, Check, as_image, compare
from ugatit.export.formats import open_exported
from ugatit.export.sidecar import checksum, json_path, read_golden, read_json


class Verified(NamedTuple):
    """What came of it."""

    check: Check  # against the source
    drift: float  # largest difference from what the file itself made when it was written
    bound: Bound
    same_bytes: bool  # the checksum is that of the JSON

    @property
    def passed(self) -> bool:
        return self.same_bytes and self.check.passes(self.bound)

    def to_json(self) -> Dict[str, Any]:
        return {
            'passed': self.passed,
            'same_bytes': self.same_bytes,
            'bound': dataclasses.asdict(self.bound),
            'largest_difference_from_first_run': self.drift,
            'check': self.check.to_json(),
        }


def verify(path: pathlib.Path) -> Verified:
    """Runs the file on the pictures beside it.

    Raises:
        UserError: no file, nothing beside it, or no runtime for it here.
    """
    runner = open_exported(path)
    facts = read_json(path)
    if facts is None:
        raise UserError(f'{json_path(path)} is needed to check {path.name}, but it is not there; copy it along with the'
                        ' file.')  # fmt: skip
    golden = read_golden(path)
    check, made = compare(runner, golden.images, golden.wanted, golden.heatmap)
    difference = np.abs(as_image(made).astype(np.float64) - as_image(golden.made))
    drift = float(difference.max()) if np.isfinite(difference).all() else float('inf')
    return Verified(check, drift, Bound(**facts['bound']), checksum(path) == facts['sha256'])
