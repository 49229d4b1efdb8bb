"""Layer normalisation in the whole decoder with gamma and beta of its own, so the MLP is without effect; for
training.
"""

norm = [
    (r'generator_[AB]/adaptive_resblock\d+/res[12]/instance_layer_norm', 'layer:own'),
    (r'generator_[AB]/layer_ins_norm_[01]', 'layer'),
    ('.*', 'default'),
]
