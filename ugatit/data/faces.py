"""Where faces are in a photograph: OpenCV's cascades, made surer by asking two and surer still by tilting the picture.

One cascade alone finds faces in folds and foliage: what `frontalface_alt2` proposes counts only if another cascade,
trained apart, sees a face at the same place. Where nothing is found the picture is turned by 15 degrees to either
side, then by 30, because the cascades know upright faces alone. They learned from photographs, and often miss drawn
faces.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np

from ugatit.errors import UserError

INSTALL = "pip install -e '.[faces]'"
TILTS: Tuple[Tuple[int, ...], ...] = ((0,), (-15, 15), (-30, 30))
"""Degrees by which the picture is turned, in rounds; a later round comes only where the earlier ones found nothing."""

_PROPOSER = 'haarcascade_frontalface_alt2.xml'
_JUDGES = ('haarcascade_frontalface_alt.xml', 'haarcascade_frontalface_default.xml')
_LONGEST = 1024  # longer edge of the picture that is searched, pixels
_SMALLEST, _SMALLEST_SHARE = 24, 0.03  # a face's width: pixels, and share of the searched picture's shorter edge
_SAME = 0.5  # intersection over union from which two boxes are one face
_BACKGROUND = 0.25  # a face with less than this share of the largest one's width is taken for background or error


class Face(NamedTuple):
    """The square that the cascades call a face, from the brows' upper edge to the chin, in the picture's pixels."""

    x: float  # of the centre
    y: float
    width: float
    tilt: int  # degrees by which the picture had to be turned, 0 for an upright face


def require_detector() -> None:
    """UserError with the line to install where OpenCV or its cascades are missing."""
    _cascades()


def find_faces(pixels: np.ndarray, every: bool = False) -> Tuple[Face, ...]:
    """The faces of uint8 RGB [H, W, 3], largest first.

    Args:
        pixels: an upright picture of any size.
        every: search all tilts, for pictures with several people; without it tilted faces are only looked for where
            there is no upright one.

    Raises:
        UserError: OpenCV or its cascades are missing.
    """
    grey, scale = _searched(pixels)
    found: List[Face] = []
    for tilts in TILTS:
        found = _distinct(found + [face for tilt in tilts for face in _at_tilt(grey, tilt)])
        if found and not every:
            break
    large = [face for face in found if face.width >= _BACKGROUND * found[0].width]
    return tuple(Face(face.x * scale, face.y * scale, face.width * scale, face.tilt) for face in large)


def _searched(pixels: np.ndarray) -> Tuple[np.ndarray, float]:
    """The picture in grey and no larger than needed; and how many of its pixels one of the result's is."""
    cv2 = _opencv()
    scale = max(1.0, max(pixels.shape[:2]) / _LONGEST)
    size = tuple(max(1, round(edge / scale)) for edge in (pixels.shape[1], pixels.shape[0]))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) if scale > 1 else pixels
    return cv2.cvtColor(np.ascontiguousarray(small), cv2.COLOR_RGB2GRAY), scale


def _at_tilt(grey: np.ndarray, tilt: int) -> Iterator[Face]:
    turned, back = _turned(grey, tilt)
    smallest = max(_SMALLEST, int(_SMALLEST_SHARE * min(grey.shape)))
    for left, top, width, _ in _detect(_PROPOSER, turned, 1.1, smallest):
        if any(_confirmed(judge, turned, left, top, width) for judge in _JUDGES):
            x, y = (float(value) for value in back @ (left + width / 2, top + width / 2, 1.0))
            if 0 <= x < grey.shape[1] and 0 <= y < grey.shape[0]:  # the turned canvas has corners without a picture
                yield Face(x, y, float(width), tilt)


def _turned(grey: np.ndarray, tilt: int) -> Tuple[np.ndarray, np.ndarray]:
    """The picture turned by so many degrees on a canvas that holds all of it, and the 2x3 matrix that leads back."""
    if not tilt:
        return grey, np.eye(2, 3)
    cv2 = _opencv()
    height, width = grey.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), tilt, 1.0)
    cosine, sine = abs(matrix[0, 0]), abs(matrix[0, 1])
    wide, high = round(height * sine + width * cosine), round(height * cosine + width * sine)
    matrix[:, 2] += (wide / 2 - width / 2, high / 2 - height / 2)
    turned = cv2.warpAffine(grey, matrix, (wide, high), borderMode=cv2.BORDER_REPLICATE)
    return turned, cv2.invertAffineTransform(matrix)


def _confirmed(judge: str, grey: np.ndarray, left: int, top: int, width: int) -> bool:
    """Whether this cascade, too, sees a face at that place; only its surroundings are searched."""
    margin = int(0.4 * width)
    x, y = max(0, left - margin), max(0, top - margin)
    part = np.ascontiguousarray(grey[y : top + width + margin, x : left + width + margin])
    boxes = _detect(judge, part, 1.05, int(0.6 * width), int(1.5 * width))
    return any(_overlap((a + x, b + y, w), (left, top, width)) > _SAME for a, b, w, _ in boxes)


def _detect(
    cascade: str, grey: np.ndarray, step: float, smallest: int, largest: int = 0
) -> Sequence[Tuple[int, int, int, int]]:
    """(left, top, width, height) of what one cascade finds; `largest` 0: no limit."""
    classifier = _cascades()[cascade]
    found = classifier.detectMultiScale(grey, step, 3, 0, (smallest, smallest), (largest, largest))
    return [tuple(int(value) for value in box) for box in found]


def _distinct(faces: Sequence[Face]) -> List[Face]:
    """Largest first, each face once: turned by another angle it is found again."""
    kept: List[Face] = []
    for face in sorted(faces, key=lambda face: (-face.width, abs(face.tilt))):
        if all(max(abs(face.x - other.x), abs(face.y - other.y)) > other.width / 2 for other in kept):
            kept.append(face)
    return kept


def _overlap(one: Tuple[float, float, float], other: Tuple[float, float, float]) -> float:
    """Intersection over union of two squares (left, top, width)."""
    wide, high = (
        max(0.0, min(one[axis] + one[2], other[axis] + other[2]) - max(one[axis], other[axis])) for axis in (0, 1)
    )
    return wide * high / (one[2] ** 2 + other[2] ** 2 - wide * high)


_LOCAL = threading.local()  # a classifier has buffers of its own and must not be shared by threads


def _cascades() -> Dict[str, Any]:
    if not hasattr(_LOCAL, 'cascades'):
        cv2 = _opencv()
        _LOCAL.cascades = {name: cv2.CascadeClassifier(cv2.data.haarcascades + name) for name in (_PROPOSER, *_JUDGES)}
    return _LOCAL.cascades


@functools.cache
def _opencv() -> Any:
    try:
        import cv2
    except ImportError:
        raise UserError(f'finding faces needs OpenCV, which is not installed; {INSTALL}') from None
    if not hasattr(cv2, 'CascadeClassifier') or not hasattr(cv2, 'data'):
        raise UserError(f'finding faces needs the cascades of OpenCV 4, but {cv2.__version__} is installed, which has'
                        f' none; {INSTALL}')  # fmt: skip
    return cv2
