"""Batch normalisation in the whole decoder, gamma and beta still from the MLP; the function changes (statistics
come from calibration pictures until they are trained).
"""

norm = [
    (r'generator_[AB]/adaptive_resblock\d+/res[12]/instance_layer_norm', 'batch'),
    (r'generator_[AB]/layer_ins_norm_[01]', 'batch'),
    ('.*', 'default'),
]
