"""A face as the selfie2anime data frame it: cut out of a photograph, and put back.

The framing is measured on the data set's two photographs that are at hand, 256 x 256 each: the square that the cascades
call a face is 0.70 and 0.71 of the picture's width, and its centre lies at 0.51, 0.43 and 0.52, 0.45 of width and
height. They are not straightened (one head leans by 8 degrees), so faces are not straightened here either.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

import numpy as np
from PIL import Image

from ugatit.data.faces import Face, find_faces

FACE_SHARE = 0.705  # of the crop's width, that a face's square takes
FACE_HEIGHT = 0.44  # of the crop's height, at which its centre lies; from the left it is the middle

_SLACK = 0.1  # of its edge, by which a crop is moved or made smaller before anything is mirrored
_FEATHER = 0.12  # of its edge, over which a result that is put back fades into the photograph
_SMALL = 80  # pixels across a crop, below which the result can only be soft


class Window(NamedTuple):
    """A square of a picture, in its pixels; what lies outside of the picture is mirrored into it."""

    top: int
    left: int
    side: int


class FaceCrop(NamedTuple):
    """Which square of a photograph to translate. `cut` takes it out, `paste_back` puts a result in its place."""

    window: Window
    face: Optional[Face]  # None: none was found, the window is the centre
    notes: Tuple[str, ...]  # what the user should know, a sentence each


def find_crop(pixels: np.ndarray) -> FaceCrop:
    """The largest face of uint8 RGB [H, W, 3] in the data's framing; the centre, with a note, where there is none.

    Raises:
        UserError: OpenCV is missing.
    """
    faces = find_faces(pixels)
    if not faces:
        return FaceCrop(centre_window(*pixels.shape[:2]), None, ('no face was found, so the centre is used',))
    crop = _around(faces[0], pixels)
    several = (f'{len(faces)} faces were found, and the largest is used',) if len(faces) > 1 else ()
    return crop._replace(notes=(*several, *crop.notes))


def find_crops(pixels: np.ndarray) -> Tuple[FaceCrop, ...]:
    """Every face, from left to right; the centre, with a note, where there is none. As `find_crop` otherwise."""
    faces = sorted(find_faces(pixels, every=True), key=lambda face: face.x)
    return tuple(_around(face, pixels) for face in faces) or (find_crop(pixels),)


def _around(face: Face, pixels: np.ndarray) -> FaceCrop:
    window = face_window(face, *pixels.shape[:2])
    soft = f'the face is only {round(face.width)} pixels wide, so expect a soft result'
    return FaceCrop(window, face, (soft,) if window.side < _SMALL else ())


def face_window(face: Face, height: int, width: int) -> Window:
    """The square that frames a face as the data do, moved or shrunk a little where that keeps it inside the picture."""
    side = face.width / FACE_SHARE
    side = max(min(side, height, width), (1 - _SLACK) * side)
    top, left = face.y - FACE_HEIGHT * side, face.x - side / 2
    edge = max(1, round(side))
    return Window(_moved(round(top), edge, height), _moved(round(left), edge, width), edge)


def centre_window(height: int, width: int) -> Window:
    """The largest square in the middle."""
    edge = min(height, width)
    return Window((height - edge) // 2, (width - edge) // 2, edge)


def cut(pixels: np.ndarray, window: Window) -> np.ndarray:
    """uint8 [side, side, 3]: the window's pixels, mirrored where it reaches over the picture's edge."""
    top, left, bottom, right = _inside(pixels, window)
    margins = (
        (top - window.top, window.top + window.side - bottom),
        (left - window.left, window.left + window.side - right),
    )
    return np.pad(pixels[top:bottom, left:right], (*margins, (0, 0)), mode='symmetric')


def paste_back(photograph: np.ndarray, result: np.ndarray, window: Window) -> np.ndarray:
    """A copy of uint8 [H, W, 3] in which a result, uint8 [S, S, 3] of any S, takes the window's place.

    Its edge fades into the photograph, except where that is the photograph's own edge.
    """
    top, left, bottom, right = _inside(photograph, window)
    square = np.asarray(Image.fromarray(result).resize((window.side, window.side), Image.BILINEAR))
    part = square[top - window.top : bottom - window.top, left - window.left : right - window.left].astype(np.float32)
    rows = _weights(top, bottom, photograph.shape[0], window.side)
    weight = np.minimum(rows[:, None], _weights(left, right, photograph.shape[1], window.side))[..., None]
    done = photograph.copy()
    mixed = weight * part + (1 - weight) * done[top:bottom, left:right]
    done[top:bottom, left:right] = np.floor(mixed + 0.5).astype(np.uint8)
    return done


def _moved(start: int, edge: int, length: int) -> int:
    """The start of a stretch of `edge` pixels, moved towards the inside of 0..length by the slack at most."""
    most = round(_SLACK * edge)
    inside = min(max(start, 0), max(0, length - edge))
    return start + min(max(inside - start, -most), most)


def _inside(pixels: np.ndarray, window: Window) -> Tuple[int, int, int, int]:
    """top, left, bottom, right of the window's part that lies in the picture; never empty, for a face's centre does."""
    height, width = pixels.shape[:2]
    bottom, right = min(height, window.top + window.side), min(width, window.left + window.side)
    return max(0, window.top), max(0, window.left), bottom, right


def _weights(start: int, stop: int, length: int, side: int) -> np.ndarray:
    """float32 [stop - start] from 0 at an edge to 1 in the middle; an edge of the photograph itself does not fade."""
    place = np.arange(start, stop, dtype=np.float32) + 0.5
    before = place - start if start > 0 else np.full_like(place, side)
    after = stop - place if stop < length else np.full_like(place, side)
    ramp = np.clip(np.minimum(before, after) / (_FEATHER * side), 0, 1)
    return ramp * ramp * (3 - 2 * ramp)
