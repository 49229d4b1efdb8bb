"""Exact algebra: the generator's inference on the CPU with fewer operations, and the same numbers.

One file per identity, its equation in the docstring. None of them approximates: they are other ways of writing the same
sums, so results differ from the plain network (`ugatit.nn.generator`, the dull twin) by float32 rounding only, and
powers of two commute with all of them, so a range plan changes no bit here either. Everything works on one picture
[H, W, C] at a time. Intermediate tensors are not those of the official graph, so whoever asks for these (a tap), or for
another format, variant or device, gets the plain network.
"""

from ugatit.nn.algebra.generator import LEAST_CH, FastGenerator, fits

__all__ = ['LEAST_CH', 'FastGenerator', 'fits']
