"""The paper's table of normalisations and attention, in small: 32 x 32 faces of the demo domains, 1,000 steps, ch 8.

    python -m ugatit.data --output=dataset/avatars --train=600 --test=100
    python ablate.py --train --dataset=dataset/avatars --output=ablation_train --config=configs/ablation/train_demo.py

Equal seeds start from the same weights where variables are the same, and see the same pictures in the same order. What
came of it is in docs/ablation.md; a thousand steps are a fiftieth of what the demo model had, so it shows how early
training differs, not what a network becomes.
"""

from __future__ import annotations

base = 'configs/ablation/train_base.py'
seeds = (0, 1)
runs = [
    dict(name='adalin', changes='The paper: AdaLIN in the decoder, attention in all four networks.', reference=True),
    dict(name='instance', changes='Instance normalisation in the decoder, gamma and beta of its own.',
         fields={'model.variants': 'instance_own'}),
    dict(name='layer', changes='Layer normalisation in the decoder, gamma and beta of its own.',
         fields={'model.variants': 'layer_own'}),
    dict(name='adain', changes='AdaIN in the decoder, gamma and beta from the MLP.',
         fields={'model.variants': 'adaptive_instance'}),
    dict(name='batch', changes='Batch normalisation in the decoder, gamma and beta of its own.',
         fields={'model.variants': 'batch_own'}),
    dict(name='group', changes='Group normalisation in the decoder, 8 groups, gamma and beta of its own.',
         fields={'model.variants': 'configs/ablation/variants/group8_own.py'}),
    dict(name='no_cam', changes='No attention anywhere.',
         fields={'model.cam_generator': False, 'model.cam_discriminator': False}),
    dict(name='no_cam_generator', changes='No attention in the generators.', fields={'model.cam_generator': False}),
    dict(name='no_cam_discriminator', changes='No attention in the discriminators.',
         fields={'model.cam_discriminator': False}),
]  # fmt: skip
