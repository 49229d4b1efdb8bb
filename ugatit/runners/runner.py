"""What the rest of the program knows about a device."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Runner:
    """An opened device; a value, so it can be passed around and logged."""

    name: str  # 'cpu', 'gpu' or 'npu', never 'auto'
    device: str  # for tf.device, such as '/GPU:0'
    description: str  # one line for the log
    native_float16: bool  # whether its own float16 can be used; False: float16 is emulated on float32
