"""A BatchNorm behind every convolution of the decoder, the vendor's first advice; the function changes (statistics
come from calibration pictures until they are trained).
"""

# The convolutions that read the AdaLIN stream, where the reported values grow.
guard = [
    (r'generator_[AB]/adaptive_resblock\d+/res[12]/conv_0', 'norm_after'),
    (r'generator_[AB]/up_conv_[01]', 'norm_after'),
    ('.*', 'planned'),
]
