"""Exact algebra: the network on the CPU with fewer operations, and the same numbers.

One file per identity, its equation in the docstring. None of them approximates: they are other ways of writing the
same sums, so results differ from the plain layers, their dull twins, by float32 rounding only, and powers of two
commute with all of them, so a range plan changes no bit here either.

In inference they make up a generator of their own (`ugatit.nn.fast_generator`), on one picture [H, W, C] at a time with
kernels that are prepared once. In training the layers themselves use those with gradients (trained.py).
"""

ALGEBRAS = ('auto', 'plain')
"""Where they hold and pay, or nowhere."""
LEAST_CH = 32
"""Smaller networks are bound by the number of operations, of which the identities need more (docs/performance.md)."""
