"""Does everything work here? A tiny light network for 40 steps on the CPU: under a minute, most of it compilation.

    python train.py --config=configs/smoke.py --dataset=dataset/NAME --workdir=runs/smoke --device=cpu

A few pictures in trainA and trainB are enough. Expected: losses.csv with 40 rows in which the losses of both
discriminators and the CAM terms fall, two checkpoints, sample strips of blurred colours, and plots.png where matplotlib
is installed. It learns nothing more.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import default


def get_config() -> ConfigDict:
    """The default with everything made small."""
    config = default.get_config()
    config.training.learning_rate = 1e-3
    config.training.epochs = 2
    config.training.steps_per_epoch = 20
    config.training.decay_epoch = 1
    config.training.log_every = 1
    config.training.save_every = 20
    config.training.sample_every = 20
    config.model.image_size = 32
    config.model.ch = 4
    config.model.n_res = 1
    config.model.n_dis = 4
    config.model.light = True
    config.data.samples = 2
    return config
