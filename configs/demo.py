"""The demo model: faces drawn in lines (A) to faces of blocks (B) and back, light, 64 x 64, on one CPU core.

    python -m ugatit.data --output=dataset/avatars
    python train.py --config=configs/demo.py --dataset=dataset/avatars --workdir=runs/demo --device=cpu

What came of it is in checkpoints/demo/README.md. The run is some sixty times shorter than the paper's, so it differs
where that matters: a higher learning rate; half the weight of cycle and identity, because here shapes must change; a
tenth of the attention classifier's, because two such different styles are told apart at once and 1000.0 would drown the
rest of the encoder's gradient until they are. Every picture has its face at one place, so none is flipped or cropped.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import default


def get_config() -> ConfigDict:
    """16,000 steps; the learning rate falls over the second half."""
    config = default.get_config()
    config.training.learning_rate = 3e-4
    config.training.epochs = 40
    config.training.steps_per_epoch = 400
    config.training.decay_epoch = 20
    config.training.cycle_weight = 5.0
    config.training.identity_weight = 5.0
    config.training.cam_weight = 100.0
    config.training.save_every = 1000
    config.training.sample_every = 500
    config.training.keep = 20
    config.model.image_size = 64
    config.model.ch = 16
    config.model.n_dis = 5
    config.model.light = True
    config.data.augment = False
    config.data.samples = 8
    return config
