"""AdaIN in the decoder's residual blocks and instance normalisation behind its upsampling; the function changes."""

norm = [
    (r'generator_[AB]/adaptive_resblock\d+/res[12]/instance_layer_norm', 'adaptive_instance'),
    (r'generator_[AB]/layer_ins_norm_[01]', 'instance'),
    ('.*', 'default'),
]
