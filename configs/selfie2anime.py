"""U-GAT-IT (ICLR 2020), the full model on selfie2anime: 3,400 selfies of women (A) and anime faces (B), 100 tests each.

    python train.py --config=configs/selfie2anime.py --dataset=dataset/selfie2anime --workdir=runs/selfie2anime

The settings of the paper and of the released checkpoint: 100 epochs of 10,000 steps, Adam 1e-4, linear decay from epoch
50. Weights and Adam state take 8.05 GB, a step about twice as much; the authors used a V100 with 32 GB
for four days. With less, see selfie2anime_light.py. Men and older people were not in the data, and it shows.
"""

from __future__ import annotations

from ml_collections import ConfigDict

from configs import default


def get_config() -> ConfigDict:
    """The default is the paper's setting."""
    config = default.get_config()
    config.data.name = 'selfie2anime'
    return config
