"""What every run of configs/ablation/train_demo.py has in common: the demo's two kinds of faces at 32 x 32, ch 8.

    python train.py --config=configs/ablation/train_base.py --dataset=dataset/avatars --workdir=runs/base --device=cpu

Small enough that eighteen runs are a matter of an hour on a free core, and large enough that the results look like
faces of the other kind. As in configs/demo.py the learning rate is higher and the attention classifier's weight lower
than the paper's, because the runs are so short, and no face is flipped or cropped. What is in the way of a comparison
is left at the paper's values: cycle and identity weigh 10.0.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import default


def get_config() -> ConfigDict:
    """1,000 steps; the learning rate falls over the second half."""
    config = default.get_config()
    config.training.learning_rate = 3e-4
    config.training.epochs = 10
    config.training.steps_per_epoch = 100
    config.training.decay_epoch = 5
    config.training.cam_weight = 100.0
    config.training.save_every = 1000
    config.training.sample_every = 1000
    config.training.keep = 1
    config.model.image_size = 32
    config.model.ch = 8
    config.model.n_res = 2
    config.model.n_dis = 4
    config.model.light = True
    config.data.augment = False
    config.data.samples = 8
    return config
