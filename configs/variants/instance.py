"""Instance normalisation in the whole decoder, gamma and beta still from the MLP; the function changes."""

norm = [
    (r'generator_[AB]/adaptive_resblock\d+/res[12]/instance_layer_norm', 'instance'),
    (r'generator_[AB]/layer_ins_norm_[01]', 'instance'),
    ('.*', 'default'),
]
