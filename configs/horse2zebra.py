"""U-GAT-IT (ICLR 2020) on horse2zebra, the data set of CycleGAN: horses (A) to zebras (B).

    python train.py --config=configs/horse2zebra.py --dataset=dataset/horse2zebra --workdir=runs/horse2zebra

The paper trains all data sets alike: the full model, 100 epochs of 10,000 steps, Adam 1e-4, linear decay from epoch 50.
Training pictures 1,067 and 1,334, test pictures 120 and 140.
Texture changes and shape does not: rho of the decoder is expected to stay near 1 (instance normalisation).
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import default


def get_config() -> ConfigDict:
    """The default is the paper's setting."""
    config = default.get_config()
    config.data.name = 'horse2zebra'
    return config
