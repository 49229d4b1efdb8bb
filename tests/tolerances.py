"""Every tolerance of the suite, each with the reason for its size; tests hold no tolerance numbers of their own.

Where exactness is claimed there is no tolerance: tests compare with `==` or `np.array_equal`.
"""

from __future__ import annotations

# Relative: one formula written two ways in float64, sums of at most a few thousand terms (measured: 2e-16).
FLOAT64_FORMULA = 1e-12
# Times the number of terms and sum(|x||w|): the worst a float32 accumulation can be off, in any order.
FLOAT32_UNIT_ROUNDOFF = 2.0**-24

# Decoding to 8 bits a channel, in levels of 255. Rounding and keeping the high byte of 16 bits differ by at most one.
SIXTEEN_BIT_LEVELS = 1
# CMYK and back: the project's own limit; rounding of inks and JPEG at quality 98 take 2 to 5.
CMYK_LEVELS = 6
# JPEG at quality 95 of a smooth picture (measured: 7, with halved colour 14 to 17).
JPEG_LEVELS = 20
# LAB in 8 bits and back, mean over the picture.
LAB_MEAN_LEVELS = 2
# One rounding of float32 near 1: the training loader's three float32 operations in another order.
LOADER_ULP = 2.4e-7
# Axes of a disc that went through a resize and back, in pixels: sampling moves its edge by a fraction of a pixel.
CIRCLE_PIXELS = 2.0
# OpenCV's 11-bit weights and two roundings against exact bilinear, in levels of 255.
FIXED_POINT_LEVELS = 1.5
# A smooth gradient (0..1) through a resize to less and back, away from the border.
RESTORE_GRADIENT = 0.02
