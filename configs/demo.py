"""The demo model: faces drawn in lines (A) to faces of blocks (B) and back, light, 64 x 64, on one CPU core.

    python -m ugatit.data --output=dataset/avatars
    python train.py --config=configs/demo.py --dataset=dataset/avatars --workdir=runs/demo --device=cpu \\
        --config.training.epochs=25 --config.training.steps_per_epoch=200 --config.training.decay=False \\
        --config.training.learning_rate=3e-4 --config.training.cam_weight=100.0
    python train.py --config=configs/demo.py --dataset=dataset/avatars --workdir=runs/demo --device=cpu

What came of it is in checkpoints/demo/README.md. The run is some eighty times shorter than the paper's, so it differs
where that matters. The first command makes 5000 steps with three times the paper's learning rate and a tenth of the
attention classifier's weight, because two such different styles are told apart at once and 1000.0 would drown the rest
of the encoder's gradient until they are. Going on like that ended badly near step 5900, in this way, we think: a
classifier that is always right has hardly any gradient, Adam forgets how large it can be, and one surprising picture
throws a generator off.
So the second command goes on to step 12,000 with half the learning rate and a tenth of that weight. Cycle and identity
weigh twice as much as in the paper, because shapes change soon here, and what has to be learned is to keep colours:
with 5.0 all faces had one skin after 1000 steps, with 10.0 still many after 2000. Every picture has its face at one
place, so none is flipped or cropped.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import default


def get_config() -> ConfigDict:
    """12,000 steps; the learning rate falls over the last 4,000."""
    config = default.get_config()
    config.training.learning_rate = 1.5e-4
    config.training.epochs = 30
    config.training.steps_per_epoch = 400
    config.training.decay_epoch = 20
    config.training.cycle_weight = 20.0
    config.training.identity_weight = 20.0
    config.training.cam_weight = 10.0
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
