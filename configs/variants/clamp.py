"""Results of all the generators' convolutions and dense layers clipped to +-256 in float16, as StyleGAN2 does; the
function changes wherever a value is larger.
"""

guard = [
    (r'generator_[AB]/.*', 'clamp:256'),
    ('.*', 'planned'),
]
