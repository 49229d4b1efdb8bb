"""Which ONNX opsets are written; apart from `onnx_file`, so that a wrong one is refused before packages are needed."""

from __future__ import annotations

from typing import Tuple

from ugatit.errors import UserError

OPSETS: Tuple[int, ...] = (13, 14, 15, 16, 17, 18)  # 13: the first with what is needed; 18: the last that ATC takes


def check_opset(opset: int) -> int:
    """The opset; UserError for one that is not among OPSETS."""
    if opset not in OPSETS:
        raise UserError(f'--opset must be from {OPSETS[0]} to {OPSETS[-1]}, but {opset} arrived; use {OPSETS[0]}.')
    return opset
