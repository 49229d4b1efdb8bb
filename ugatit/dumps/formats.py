"""Ascend's storage formats by number, turned into NHWC, HWCN (kernels) or ND, padding removed.

NC1HWC0    [N, C1, H, W, C0]         C = C1 * C0 cut
FRACTAL_NZ [..., N1, M1, M0, N0]     M = M1 * M0, N = N1 * N0 cut
FRACTAL_Z  [C1 * H * W, N1, N0, C0]  kernels: [H, W, C, N]
"""

from __future__ import annotations

from typing import Callable, Dict, Sequence, Tuple

import numpy as np

from ugatit.dumps.layout import Layout, plain
from ugatit.errors import UserError

NCHW, NHWC, ND, NC1HWC0, FRACTAL_Z, HWCN, NDHWC, FRACTAL_NZ, NCDHW = 0, 1, 2, 3, 4, 16, 27, 29, 30
DHWCN, NDC1HWC0, FRACTAL_Z_3D, FRACTAL_Z_G = 31, 32, 33, 39
FORMAT_NAMES = {
    0: 'NCHW', 1: 'NHWC', 2: 'ND', 3: 'NC1HWC0', 4: 'FRACTAL_Z', 5: 'NC1C0HWPAD', 6: 'NHWC1C0', 7: 'FSR_NCHW',
    8: 'FRACTAL_DECONV', 9: 'C1HWNC0', 12: 'NC1HWC0_C04', 13: 'FRACTAL_Z_C04', 14: 'CHWN', 16: 'HWCN',
    25: 'C1HWNCoC0', 26: 'MD', 27: 'NDHWC', 28: 'FRACTAL_ZZ', 29: 'FRACTAL_NZ', 30: 'NCDHW', 31: 'DHWCN',
    32: 'NDC1HWC0', 33: 'FRACTAL_Z_3D', 34: 'CN', 35: 'NC', 36: 'DHWNC', 39: 'FRACTAL_Z_G', 40: 'RESERVED', 255: 'MAX',
}  # fmt: skip
FORMAT_NUMBERS = {name: number for number, name in FORMAT_NAMES.items()}
Shape = Tuple[int, ...]


def format_name(number: int) -> str:
    """The vendor's name, or the number where it has none here."""
    return FORMAT_NAMES.get(number, f'format {number}')


def to_layout(
    flat: np.ndarray,  # all stored values
    number: int,  # of the format
    shape: Sequence[int],  # as stored
    original_shape: Sequence[int] = (),  # without padding; (): unknown
    original_format: int = NHWC,  # in which the original shape is written, where it is ambiguous
    groups: int = 0,
) -> Layout:
    """Where each value of the unpadded tensor lies. UserError for a shape that does not fit, or an unknown format."""
    shape, original = tuple(map(int, shape)), tuple(map(int, original_shape))
    if _size(shape) != flat.size:
        raise UserError(f'shape {list(shape)} has {_size(shape)} elements, but {flat.size} are stored')
    stored = flat.reshape(shape)
    if number in _TILED:
        rank, convert = _TILED[number]
        if len(shape) < rank or number != FRACTAL_NZ and len(shape) != rank:
            raise UserError(f'{format_name(number)} of {len(shape)} dimensions; it has {rank}')
        if groups > 1 and number in (FRACTAL_Z, FRACTAL_Z_3D, FRACTAL_Z_G):
            raise UserError(f'{format_name(number)} with {groups} groups cannot be unpacked')
        return convert(stored, original, original_format)
    if number == NCHW and len(shape) == 4:
        return plain(stored.transpose(0, 2, 3, 1))
    if number == NCDHW and len(shape) == 5:
        return plain(stored.transpose(0, 2, 3, 4, 1))
    if number in FORMAT_NAMES and number not in (NCHW, NHWC, ND, HWCN, NDHWC, NCDHW, DHWCN, 34, 35):
        raise UserError(f"{format_name(number)} cannot be unpacked; convert the file with the vendor's tool")
    return plain(stored)


def _nc1hwc0(stored: np.ndarray, original: Shape, original_format: int) -> Layout:
    n, c1, h, w, c0 = stored.shape
    channels = _channels((n, h, w), c1, c0, original, original_format == NCHW)
    return Layout(stored.transpose(0, 2, 3, 1, 4), (1, 1, 1, 2), (n, h, w, channels))


def _ndc1hwc0(stored: np.ndarray, original: Shape, original_format: int) -> Layout:
    n, d, c1, h, w, c0 = stored.shape
    channels = _channels((n, d, h, w), c1, c0, original, original_format == NCDHW)
    return Layout(stored.transpose(0, 1, 3, 4, 2, 5), (1, 1, 1, 1, 2), (n, d, h, w, channels))


def _channels(rest: Shape, c1: int, c0: int, original: Shape, channels_first: bool) -> int:
    """C without padding: where the original shape has it, or all that is stored."""
    if not original:
        return c1 * c0
    last, first = (*rest, original[-1]), (rest[0], original[min(1, len(original) - 1)], *rest[1:])
    for candidate in (first, last) if channels_first else (last, first):
        c = candidate[1] if candidate is first else candidate[-1]
        if candidate == original and max(0, c1 - 1) * c0 < c <= c1 * c0:
            return c
    raise UserError(f'original shape {list(original)} does not fit {c1} * {c0} channels and {list(rest)}')


def _fractal_nz(stored: np.ndarray, original: Shape, original_format: int) -> Layout:
    del original_format
    batch, (n1, m1, m0, n0) = stored.shape[:-4], stored.shape[-4:]
    view = np.moveaxis(stored, -4, -2)  # [..., M1, M0, N1, N0]
    rows, columns = original[-2:] if len(original) >= 2 else (1, *original) if original else (m1 * m0, n1 * n0)
    count = _size(batch)
    if original and _size(original[:-2]) not in (count, 1) or rows > m1 * m0 or columns > n1 * n0:
        raise UserError(f'original shape {list(original)} does not fit FRACTAL_NZ {list(stored.shape)}')
    return Layout(view, (*((1,) * len(batch)), 2, 2), (*batch, rows, columns))


def _fractal_z(stored: np.ndarray, original: Shape, original_format: int) -> Layout:
    return _kernel(stored, original, original_format, 2)


def _fractal_z_3d(stored: np.ndarray, original: Shape, original_format: int) -> Layout:
    return _kernel(stored, original, original_format, 3)


def _kernel(stored: np.ndarray, original: Shape, original_format: int, spatial: int) -> Layout:
    """[.. C1 .., N1, N0, C0]: in two dimensions C1, H, W, in three D, C1, H, W."""
    rows, n1, n0, c0 = stored.shape
    if len(original) != spatial + 2:
        raise UserError(f'a kernel in fractals needs its original shape, but {list(original)} arrived')
    sides, c, n = _kernel_sides(original, original_format)
    area = _size(sides)
    if not area or rows % area or c > rows // area * c0 or n > n1 * n0:
        raise UserError(f'original shape {list(original)} does not fit the kernel {list(stored.shape)}')
    c1 = rows // area
    if spatial == 2:
        view = stored.reshape(c1, *sides, n1, n0, c0).transpose(1, 2, 0, 5, 3, 4)
    else:
        view = stored.reshape(sides[0], c1, *sides[1:], n1, n0, c0).transpose(0, 2, 3, 1, 6, 4, 5)
    return Layout(view, (1,) * spatial + (2, 2), (*sides, c, n))


def _kernel_sides(original: Shape, original_format: int) -> Tuple[Shape, int, int]:
    if original_format in (NCHW, NCDHW):  # [N, C, H, W]; TensorFlow's kernels are [H, W, C, N] whatever is said
        return original[2:], original[1], original[0]
    return original[:-2], original[-2], original[-1]


def _size(shape: Sequence[int]) -> int:
    """Product as a Python integer: a hostile shape must not wrap round."""
    size = 1
    for side in shape:
        size *= int(side)
    return size


_TILED: Dict[int, Tuple[int, Callable[[np.ndarray, Shape, int], Layout]]] = {
    NC1HWC0: (5, _nc1hwc0),
    NDC1HWC0: (6, _ndc1hwc0),
    FRACTAL_NZ: (4, _fractal_nz),
    FRACTAL_Z: (4, _fractal_z),
    FRACTAL_Z_G: (4, _fractal_z),
    FRACTAL_Z_3D: (4, _fractal_z_3d),
}
