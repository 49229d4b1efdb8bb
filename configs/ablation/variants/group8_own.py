"""Group normalisation with 8 groups in the whole decoder with gamma and beta of its own, so the MLP is without effect;
for training narrow networks, where 32 groups would be one channel each.
"""

norm = [
    (r'generator_[AB]/adaptive_resblock\d+/res[12]/instance_layer_norm', 'group:8:own'),
    (r'generator_[AB]/layer_ins_norm_0', 'group:8'),
    (r'generator_[AB]/layer_ins_norm_1', 'group:4'),
    ('.*', 'default'),
]
