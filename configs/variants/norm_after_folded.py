"""The BatchNorm of `norm_after` multiplied into its convolution, so that the large value never exists; the
function changes as it does there.
"""

# The convolutions that read the AdaLIN stream, where the reported values grow.
guard = [
    (r'generator_[AB]/adaptive_resblock\d+/res[12]/conv_0', 'norm_after:folded'),
    (r'generator_[AB]/up_conv_[01]', 'norm_after:folded'),
    ('.*', 'planned'),
]
