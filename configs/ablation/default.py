"""What does each workaround cost? Every choice on one checkpoint, against its own float32 picture.

    python ablate.py --checkpoint=UGATIT_selfie2anime --input=photos --output=ablation

Saturating is the Ascend 910's only mode, so it is what most rows use; `ieee` is that of GPUs. Expected: plain float16
is broken where values pass 65504, whatever is done about statistics alone; clamping and other norms change the picture;
planned is within 1 dB of the floor, and the drop-in with it.
"""

from __future__ import annotations

_910 = {'precision': 'mixed_float16', 'overflow': 'saturate'}
_ALL = {'precision': 'float16', 'overflow': 'saturate'}

variants = [
    dict(name='float32', changes='Nothing: the network as it was trained, in float32, which all rows are compared to.'),
    # What float16 costs when range is no problem at all.
    dict(name='floor-mixed', changes='11 significant bits with unlimited range, statistics in float32: the best that'
         ' mixed float16 could do.', precision='mixed_float16', ranges='floor'),
    dict(name='floor-all', changes='11 significant bits with unlimited range everywhere: the best that all-float16'
         ' could do.', precision='float16', ranges='floor'),
    # As it is.
    dict(name='plain-mixed', changes='Convolutions and dense layers in float16, statistics in float32, saturating: the'
         ' Ascend 910 in training mode.', **_910),
    dict(name='plain-mixed-ieee', changes='The same on a device that overflows to infinity, as GPUs do.',
         precision='mixed_float16'),
    dict(name='plain-all', changes='Everything in float16, saturating: the 910 with force_fp16.', **_ALL),
    dict(name='plain-all-ieee', changes='Everything in float16, overflowing to infinity.', precision='float16'),
    # Known workarounds that keep the network.
    dict(name='float16-operands', changes='Operands in float16, results in float32: force_fp32 on chips that have it;'
         " the 910's convolutions have not.", precision='float16_operands', overflow='saturate'),
    dict(name='float32-statistics', changes='Everything in float16 but means and variances, which are in float32.',
         variants='float32_statistics', **_ALL),
    dict(name='prescaled', changes='Everything in float16; norms divide by powers of two before they square.',
         variants='prescaled', **_ALL),
    # Ours.
    dict(name='planned', changes='Each range group stored times a power of two, so that everything fits.',
         ranges='auto', **_910),
    dict(name='planned-all', changes='Planned, everything in float16 with plain statistics (squares made to fit).',
         ranges='auto', **_ALL),
    dict(name='planned-prescaled', changes='Planned and prescaled, everything in float16.',
         ranges='auto', variants='prescaled', **_ALL),
    dict(name='drop-in', changes='The plan folded into the checkpoint, read by code that knows nothing of it.',
         ranges='drop_in', **_910),
    # Workarounds that change the network.
    dict(name='clamp-256', changes="Results of convolutions and dense layers clipped to +-256, StyleGAN2's conv_clamp.",
         variants='clamp', **_910),
    dict(name='norm-after', changes="A BatchNorm behind every convolution that reads the decoder's AdaLIN stream, the"
         " vendor's first advice; statistics from the calibration pictures.", variants='norm_after', **_910),
    dict(name='norm-after-folded', changes='The same with each BatchNorm folded into its convolution.',
         variants='norm_after_folded', **_910),
    dict(name='mlp-layer-norm', changes="A LayerNorm behind each of the MLP's dense layers, so that gamma and beta stay"
         ' small.', variants='mlp_layer_norm', **_910),
    dict(name='batch-for-instance', changes="BatchNorm for every InstanceNorm of the encoder, the vendor's second"
         ' advice; statistics from the calibration pictures.', variants='batch_swap', **_910),
    dict(name='layer', changes='Layer normalisation in the whole decoder.', variants='layer', **_910),
    dict(name='instance', changes='Instance normalisation in the whole decoder.', variants='instance', **_910),
    dict(name='group', changes='Group normalisation with 32 groups in the whole decoder.', variants='group', **_910),
]  # fmt: skip
