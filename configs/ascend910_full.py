"""The paper's full model on selfie2anime, trained on one Ascend 910.

    python train.py --config=configs/ascend910_full.py --dataset=dataset/selfie2anime --workdir=runs/full --device=npu

As ascend910.py, with the MLP that reads every pixel: 8.05 GB of weights and Adam state, a step about twice as much, on
a chip with 32 GB. Nothing has run on a 910; there is no figure to expect.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import ascend910, selfie2anime


def get_config() -> ConfigDict:
    """The full model's settings in a 910's arithmetic."""
    return ascend910.on_910(selfie2anime.get_config())
