"""A LayerNorm behind each of the MLP's dense layers, so that gamma and beta stay small; the function changes, so
it is for training.
"""

guard = [
    (r'generator_[AB]/MLP/(linear_0|linear_1|gamma|beta)', 'norm_after'),
    ('.*', 'planned'),
]
