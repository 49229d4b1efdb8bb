"""Every tolerance of the suite, each with the reason for its size; tests hold no tolerance numbers of their own.

Where exactness is claimed there is no tolerance: tests compare with `==` or `np.array_equal`.
"""

from __future__ import annotations

# Relative: one formula written two ways in float64, sums of at most a few thousand terms (measured: 2e-16).
FLOAT64_FORMULA = 1e-12
# Times the number of terms and sum(|x||w|): the worst a float32 accumulation can be off, in any order.
FLOAT32_UNIT_ROUNDOFF = 2.0**-24
# Half a unit in the last of float16's 11 significant bits, relative.
FLOAT16_UNIT_ROUNDOFF = 2.0**-11

# Decoding to 8 bits a channel, in levels of 255. Rounding and keeping the high byte of 16 bits differ by at most one.
SIXTEEN_BIT_LEVELS = 1
# CMYK and back: the project's own limit; rounding of inks and JPEG at quality 98 take 2 to 5.
CMYK_LEVELS = 6
# JPEG at quality 95 of a smooth picture (measured: 7, with halved colour 14 to 17).
JPEG_LEVELS = 20
# WebP at Pillow's own quality of 80, the same picture (measured: 30).
WEBP_LEVELS = 40
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

# Training against recorded official runs. Relative, for a named loss; where the recorded effect of moving the inputs by
# 1e-6 is larger, ten times that (measured here: 1e-6 at most).
TRAINING_LOSS = 1e-5
SENSITIVITY_FACTOR = 10.0
# Losses near zero (wgan's differ in sign between pictures): float32 rounding of terms of about 1.
TRAINING_LOSS_ABSOLUTE = 1e-6
# Share of the gradient's norm, per tensor (measured: see tests/training).
TRAINING_GRADIENT = 1e-3
# A weight after an update: share of the learning rate, or so many units in the last place of the largest weight.
TRAINING_WEIGHT_RATE = 1e-3
TRAINING_WEIGHT_ULP = 4
# Adam's moments: relative to the largest of the tensor.
TRAINING_SLOT = 1e-3
# Rounding may fall on either side of a ReLU's or L1's kink. These seeds of 1e-6 input noise are tried in turn, 0 being
# none, until one equals the recorded run in everything at once. Measured: natural lsgan at 0 on both, natural
# wgan-gp at 0 on 2.6.5 and at 5 on 2.21; converged runs need none on 2.21, and wgan-gp's the fifth on 2.6.5.
KINK_DRAWS = (0, 5, 3, 1, 2, 4, 6, 7, 8, 9)
# A unit vector after power iterations, and a picture in [-1, 1]: float32 sums in another order, three steps long.
TRAINING_SINGULAR_VECTOR = 1e-5
TRAINING_FAKE = 1e-4

# A tensor's mean, as a share of its largest value: float32 sums of up to some thousand values in another order.
PROFILE_MEAN = 1e-5
# A tensor's largest value in a batch of one against a batch of three: convolutions sum in another order.
PROFILE_BATCH = 1e-4

# The network's float32 outputs against the official ones: share of the tensor's largest absolute value. The project's
# own limit (measured: 1.9e-5 in pictures and cam logits, 9.9e-6 in activations, 9e-7 in u).
OFFICIAL_OUTPUT = 1e-4
# Against float64: this, or so many times the distance of the official float32 outputs themselves.
FLOAT64_OUTPUT = 5e-6
FLOAT64_NOISE_FACTOR = 4.0
# Small networks with random weights in float32 against float64 (measured: 1.5e-5 in pictures).
NETWORK_FLOAT32 = 1e-4
# The same float64 distance computed by two programs, relative: their float64 rounding against differences of 1e-7.
CROSSCHECK_DIGITS = 1e-4
# A loss or penalty equation in float32 against float64: sums of some fifty terms.
LOSS_FORMULA = 1e-6
PENALTY_FORMULA = 1e-5
# A parabola's central difference quotient (exact but for float32) against its derivative.
FINITE_DIFFERENCE = 1e-3
# Five Adam updates in float32 against float64: 1 - 0.999 is off by 1.3e-5 in float32.
ADAM_FORMULA = 5e-5
# The layer tables print seven digits; means over thousands of values of both signs are near zero.
TABLE_DIGITS = 1e-6
# The project's target in dB: float16 this close to its floor, the same rounding with an unlimited exponent. Where an
# overflow is forced, plain float16 must lie at least BROKEN_DB below the floor.
FLOOR_DB = 1.0
BROKEN_DB = 10.0
# All-float16 with plain statistics and a plan that fits the squares.
SQUARES_DB = 3.0
# Heat maps and logits in float16 against float32, as a share of the largest: a few roundings of 2**-11.
FLOAT16_HEATMAP = 0.02
FLOAT16_LOGITS = 0.02
# Pictures in one call of a network against one by one: other block sizes in the same float32 sums (measured: 2e-7 in
# pictures).
TOGETHER = 1e-5
# A dense product summed in pieces, share of the sum of absolute products: float32 additions in another order. And what
# remains of it in a picture behind emulated float16, where a sum may round to the neighbouring value.
HALF_KERNEL = 1e-6
HALF_KERNEL_IMAGE = 2e-3
# x_hat against float64 of the input as it is stored, share of the largest |x_hat|. Float16: four roundings of 2**-11
# (centred twice, deviation, quotient; measured: 1.2e-3). Float32: means over 65,792 values on 2.6.5 (measured: 8.2e-6).
X_HAT_FLOAT16 = 2e-3
X_HAT_FLOAT32 = 2e-5
# Gradients through two ways of computing the same x_hat in float32, share of the largest.
X_HAT_GRADIENT = 1e-4

# Recorded layer tables of the official code (seven digits): relative to a tensor's largest |value|. Float32 sums in
# another order, through some 40 layers (measured: 1.4e-5).
LAYER_TABLE = 1e-4
# The mean of the reported convolution, "about 8157": as far as the record states it.
REPORTED_MEAN = 1.0
# A stressed checkpoint in the hands of code that keeps epsilon 1e-5, in levels of 255: what is left of an epsilon that
# is relatively smaller, where variances are of about 0.01 to 1 (measured: 0.005).
STRESS_LEVELS = 0.05
# A formula in float64 against the same with 60 digits: a few roundings, and log1p and expm1 lose nothing near 0.
DOUBLE = 1e-12
# A CAM logit of weights times powers of two: the same float32 sums, but the bias is added at another scale.
CAM_SCALING = 1e-5
# Memory after 500 pictures over that after 100: allocators settle during the first hundreds (measured: 1.00 to 1.04).
FOLDER_MEMORY = 1.05
# A picture in [-1, 1] through infer.py against the official code: float32 on another TensorFlow (measured: 9e-6).
OFFICIAL_PICTURE = 1e-4

# PSNR in dB, peak 2.0, over all pictures of a set. A wrong picture stays below this (measured: 9.9 to 17.4).
BROKEN_PICTURE_DB = 20.0
# Native and emulated halves differ in the order of float32 sums only (measured: 62 to 65).
NATIVE_DB = 55.0
# Bfloat16 has 8 bits and float32's range: right, and coarse (measured: 33 to 42).
BFLOAT16_DB = 30.0
# Figures in docs/, in dB: rounding noise of three small pictures differs between machines and TensorFlow versions
# (measured between 2.21 and 2.6.5: 1.8 on the full model, 0.3 on the light one); a wrong picture differs by tens.
DOCUMENTED_DECIBELS = 2.5
# A measure of two dumped tensors in blocks against the whole arrays at once, both float64: sums in another order, and
# the KL divergence and the deviation written so that two passes suffice.
DUMP_METRIC = 1e-9

# --- metrics of sets of pictures ---
# KID, FID, SSIM and PSNR in float64 against other packages on the same input: sums in another order, and eigenvalues in
# place of a matrix root (measured: 4e-15, FID 3e-14).
METRIC_FORMULA = 1e-11
# FID where a covariance has no full rank: the others' matrix root of a singular product (measured: 1e-9).
FID_WITHOUT_FULL_RANK = 1e-7
# FID of a set and itself: roots of eigenvalues that are 0 up to rounding, about 1e-16 ** 0.5 each.
FID_OF_EQUAL_SETS = 1e-5
# A mean over 2000 draws against its expectation: four standard errors.
STANDARD_ERRORS = 4.0
# The biased estimate of the same is off by so many times what STANDARD_ERRORS allows, at least (measured: 23), and the
# unbiased one is negative in more than this share of the draws (half of them, were the spread symmetric).
BIASED_FACTOR = 10.0
UNBIASED_NEGATIVE = 0.3
# Two sets that anybody tells apart: KID larger by so many of its deviations over subsets.
KID_DEVIATIONS_APART = 2.0
# Random features between NumPy 1.19 and 2.4: float32 convolutions in another order, divided by small spreads.
RANDOM_FEATURES = 1e-3
# A mean over 299 x 299 values in float32.
GRAPH_MEAN = 1e-5

# Ten levels of 255 added to float32 pictures in [-1, 1] and measured again, in levels.
DIFFERENCE_LEVELS = 1e-4
# Bytes of weights in mixed float16 over float32: kernels are half, the few vectors stay whole.
MIXED_WEIGHT_BYTES = 0.6

# --- training runs ---
MEMORY_STATE = 0.002  # relative: weights and Adam slots of the full model against the official files' 8.05 GB
# The estimate of a whole training process against eight measured ones (largest: 9 %).
MEMORY_ESTIMATE = 0.1
MEMORY_GROWTH = 0.05  # relative growth of the process from step 100 to step 500, with ten saves and strips in between
# The same, relative, for measures far from zero.
DUMP_METRIC_RELATIVE = 1e-7
# Distance of two dumps in front of the first bad operator: only float16's precision so far (2**-11 a layer).
CAST_DISTANCE = 0.01

# Weights after five steps (of at most 1e-4 each), one device against two: gradients of each picture are averaged in
# another order (float32), the 22 biases without a true gradient left out. The size is the project's own demand.
REPLICAS = 1e-6

# --- controls: what must differ, and by how much at least ---
# A fold by 3 in place of a power of two, at most: the function is nearly the same, only rounding and epsilon move.
FOLD_BY_THREE = 1e-2
# Another normalisation is another function: far beyond the float32 rounding of NETWORK_FLOAT32.
ANOTHER_FUNCTION = 0.01
# Pictures in [-1, 1] that overflow destroyed differ by more than this somewhere, healthy ones nowhere.
DESTROYED_PICTURE = 0.5
# A discriminator's logits under overflow, as a share of the largest; five times what FLOAT16_LOGITS allows.
DESTROYED_LOGITS = 0.1
# x_hat where plain statistics fail, share of the largest |x_hat|: squares that overflow; a float16 mean that is off by
# a deviation; a float32 mean of 65,792 values near 3001 (measured: 0.03 to 0.44).
X_HAT_SQUARES_OVERFLOW = 0.5
X_HAT_FLOAT16_MEAN = 0.1
X_HAT_FLOAT32_MEAN = 1e-3
# Antialiasing averages stripes to within one level of 255; picking misses by more.
STRIPE_LEVELS = 1.0

# dB against float32 of pictures in saturating float16: what overflowed (measured: 13 to 21), and what a plan makes of
# it (measured: 52 to 75, depending on how few bits the values need).
WRONG_PICTURE_DECIBELS = 25.0
RIGHT_PICTURE_DECIBELS = 45.0
# The demo model's stored translations, in levels of 255: another order of additions crosses a rounding edge.
DEMO_LEVELS = 1
# Its control, in levels: another face differs by more somewhere, and no translation is nearer to its input on average.
DEMO_ANOTHER_FACE = 50
DEMO_NO_COPY = 10
# Demo faces. Lines: inside a sixteenth of the side some block spans more levels than this, where one of a single colour
# spans none. Darker than INK is drawn, 255 is paper; each is more than this share of every picture.
AVATAR_LINE_LEVELS = 100
AVATAR_INK = 200
AVATAR_SHARE = 0.1

# --- exported files ---
# A float16 file that is right, in dB: float16 costs 50 to 60 (a tiny network with overflowing weights: see BROKEN_DB).
CONVERTED_DB = 40.0
# An exported file against what the same file made before, on the same machine: float32 sums in another order.
EXPORT_DRIFT = 1e-5
# Batches of one and of three through one float16 file: another order of sums, then a rounding of 2**-11 or two.
EXPORT_BATCH = 0.01
# A float16 file is so many bytes smaller than a float32 one, as a share of the float32 weights: half of them, but for
# norms and tables that stay float32, and casts that come in.
EXPORT_HALF_SHARES = (0.35, 0.55)
# A file with bytes in and out, in levels of 255: rounding to nearest, and float32 on one of its edges.
EXPORT_BYTES_LEVELS = 1.0

# --- training in float16 ---
# Losses of one step in float16 against float32, relative, over all variants: some forty layers that round to 2**-11.
# (Measured: 1e-4 at most.)
FLOAT16_LOSS = 0.005
# Its gradients, as a share of the norm over a generator's weights; and what saturated values make of them, at least.
FLOAT16_GRADIENT = 0.1
WRONG_GRADIENT = 0.5
# The lower half of a float32 cut off, relative: bfloat16 has 8 significant bits.
BFLOAT16_TRUNCATION = 2.0**-7

# --- faces ---
# A crop's left edge, top edge or size against the data's framing, as a share of its edge. The data set's own pictures
# come out almost whole (measured: 0.01); elsewhere a crop may move by a tenth to stay inside the picture, and the
# cascades' square varies by some 5 % with size and tilt.
FACE_FRAMING_DATA = 0.03
FACE_FRAMING = 0.15

# --- clips ---
# Times of frames, in seconds: Matroska and WebM keep milliseconds.
CLIP_SECONDS = 0.0011
# Sound encoded anew: encoders begin with some silence, and end on whole packets of 20 ms.
CLIP_SOUND_SECONDS = 0.08
# Frames a second, relative: files store the time of each frame on a grid of 1/90000 s.
CLIP_RATE = 0.002
# Length of a GIF, in seconds: durations are whole hundredths, and a last frame has 0.02 at least.
CLIP_GIF_SECONDS = 0.03
# Flat colours through BT.709 in 8 bits, in levels of 255 (measured: 2).
CLIP_LEVELS = 3
# A frame of a GIF that has more colours than 256, in levels of 255 (measured: 0 on the tests' small ones).
CLIP_PALETTE_LEVELS = 4

# --- identities of ugatit.nn.algebra ---
# One layer by an identity in float32 against float64, share of the largest: sums over some hundred products, through
# Winograd's transforms, which lose two bits at most (measured: 1.6e-6).
ALGEBRA_LAYER = 1e-5

# --- engines that compare dumps ---
# NumPy's and the compiled one, both float64: sums in another order.
DUMP_ENGINES = 1e-11
# The compiled engine's own logarithm of a quotient, relative, where it is no nearer to zero than 1e-3: a few roundings.
DUMP_LOGARITHM = 1e-15
