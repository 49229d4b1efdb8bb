"""What every run of configs/ablation/train_demo.py has in common: the demo's two kinds of faces at 32 x 32, ch 8.

    python train.py --config=configs/ablation/train_base.py --dataset=dataset/avatars --workdir=runs/base --device=cpu

Small enough that eighteen runs are a matter of an hour or two on one core, and large enough that the results look like
faces of the other kind. Everything else is as in configs/demo.py.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import demo


def get_config() -> ConfigDict:
    """1,000 steps; the learning rate falls over the second half."""
    config = demo.get_config()
    config.training.epochs = 10
    config.training.steps_per_epoch = 100
    config.training.decay_epoch = 5
    config.training.save_every = 1000
    config.training.sample_every = 1000
    config.training.keep = 1
    config.model.image_size = 32
    config.model.ch = 8
    config.model.n_res = 2
    config.model.n_dis = 4
    return config
