"""The light model on selfie2anime, trained on an Ascend 910: float16 that saturates, and exponents that follow.

    python train.py --config=configs/ascend910.py --dataset=dataset/selfie2anime --workdir=runs/ascend910 --device=npu

Everything is as in selfie2anime_light.py but the arithmetic: a 910 convolves in float16 only, whose results end at
65504. Range exponents follow the values (docs/float16_training.md), losses are scaled, and a step that overflowed is
left out. The same file with --device=cpu emulates that arithmetic. Nothing has run on a 910: there is no figure to
expect, and docs/ascend.md says what to look at first. Expected of the emulation: losses close to float32's.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import selfie2anime_light


def get_config() -> ConfigDict:
    """The light model's settings in a 910's arithmetic."""
    return on_910(selfie2anime_light.get_config())


def on_910(config: ConfigDict) -> ConfigDict:
    """What the chip does anyway in the mode that it is opened in, so that other devices emulate the same."""
    config.numerics.precision = 'mixed_float16'
    config.numerics.overflow = 'saturate'
    config.numerics.ranges = 'live'
    return config
