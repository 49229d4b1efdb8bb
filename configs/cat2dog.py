"""U-GAT-IT (ICLR 2020) on cat2dog, the data set of DRIT: cats (A) to dogs (B).

    python train.py --config=configs/cat2dog.py --dataset=dataset/cat2dog --workdir=runs/cat2dog

The paper trains all data sets alike: the full model, 100 epochs of 10,000 steps, Adam 1e-4, linear decay from epoch 50.
Training pictures 771 and 1,264, test pictures 100 and 100.
Shape changes: rho of the decoder is expected to fall below 1 (some layer normalisation).
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import default


def get_config() -> ConfigDict:
    """The default is the paper's setting."""
    config = default.get_config()
    config.data.name = 'cat2dog'
    return config
