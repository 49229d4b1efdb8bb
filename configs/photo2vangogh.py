"""U-GAT-IT (ICLR 2020) on photo2vangogh, the data set of CycleGAN: photographs (A) to paintings by van Gogh (B).

    python train.py --config=configs/photo2vangogh.py --dataset=dataset/photo2vangogh --workdir=runs/photo2vangogh

The paper trains all data sets alike: the full model, 100 epochs of 10,000 steps, Adam 1e-4, linear decay from epoch 50.
Training pictures 6,287 and 400, test pictures 751 and 400.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import default


def get_config() -> ConfigDict:
    """The default is the paper's setting."""
    config = default.get_config()
    config.data.name = 'photo2vangogh'
    return config
