"""The light model on selfie2anime: the MLP reads a global average, a fifth of the weights, plainly weaker pictures.

    python train.py --config=configs/selfie2anime_light.py --dataset=dataset/selfie2anime --workdir=runs/light

The official flag `--light True`, everything else as in selfie2anime.py. Expected: pictures with less change of shape
(users of the original say so; the paper has no number for it). 1.61 GB of weights and Adam state; a checkpoint takes as
much. Still too much: --config.model.ch=32, or --config.model.image_size=128.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import selfie2anime


def get_config() -> ConfigDict:
    """The full model's settings but one."""
    config = selfie2anime.get_config()
    config.model.light = True
    return config
