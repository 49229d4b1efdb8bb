"""What becomes of each frame of a clip, before and behind the network: all results of a clip have one size."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np
from PIL import Image

from ugatit.data.convert import check_picture, to_uint8
from ugatit.data.decode import DecodedImage
from ugatit.data.face_crop import FaceCrop, cut, paste_back
from ugatit.data.resize import plan_geometry
from ugatit.errors import UserError
from ugatit.inference.inputs import Prepared, prepare_decoded
from ugatit.inference.results import finished_picture
from ugatit.inference.settings import RESIZES, Settings


class Look:
    """From a frame to the network's square, and from its result to the frame that is written."""

    def __init__(self, square: int, settings: Settings, crop: Optional[FaceCrop], side_by_side: bool) -> None:
        self._square, self._settings, self._crop, self._both = square, settings, crop, side_by_side
        self.done = self._flat = 0  # frames
        self._odd = False

    def size(self, height: int, width: int) -> Tuple[int, int]:
        """Height and width of what is written for frames of this size; even, as video formats want it."""
        height, width = self._one(height, width)
        width *= 2 if self._both else 1
        self._odd = bool(height % 2 or width % 2)
        self._frame = (max(2, height - height % 2), max(2, width - width % 2))
        return self._frame

    def prepare(self, pixels: np.ndarray) -> Prepared:
        """The frame as the network takes it."""
        return prepare_decoded(DecodedImage(pixels), self._square, self._settings, self._crop)

    def finish(self, pixels: np.ndarray, prepared: Prepared, image: np.ndarray) -> np.ndarray:
        """uint8 [height, width, 3] of `size`. UserError for a result with NaN or infinite values."""
        self._check(prepared, image)
        if self._settings.paste_back and self._crop is not None:
            result, before = paste_back(pixels, to_uint8(image), self._crop.window), pixels
        else:
            result = finished_picture(image, prepared.geometry, self._settings.keep_size)
            before = self._before(pixels, prepared) if self._both else result
        self.done += 1
        return self._fitted(np.concatenate([before, result], axis=1) if self._both else result)

    def notes(self) -> Tuple[str, ...]:
        """What the user should know of the frames that were finished."""
        odd = ('video formats want even sizes, so the last row or column of pixels is cut off',) if self._odd else ()
        flat = (f'{self._flat} of {self.done} frames came out as one flat colour',) if self._flat else ()
        return (*odd, *flat)

    def _one(self, height: int, width: int) -> Tuple[int, int]:
        if self._settings.paste_back:
            return height, width
        if not self._settings.keep_size:
            return self._square, self._square
        if self._crop is not None:
            return self._crop.window.side, self._crop.window.side
        return plan_geometry(height, width, self._square, RESIZES[self._settings.resize][0]).source[2:]

    def _before(self, pixels: np.ndarray, prepared: Prepared) -> np.ndarray:
        """The input beside the result, in its size."""
        if not self._settings.keep_size:
            return to_uint8(prepared.square)
        if self._crop is not None:
            return cut(pixels, self._crop.window)
        top, left, height, width = prepared.geometry.source
        return pixels[top : top + height, left : left + width]

    def _check(self, prepared: Prepared, image: np.ndarray) -> None:
        """A clip may be black for a moment; what is no number is never a picture."""
        problem = check_picture(image)
        if problem is not None and not np.isfinite(image).all():
            raise UserError(problem)
        self._flat += problem is not None and not prepared.flat

    def _fitted(self, pixels: np.ndarray) -> np.ndarray:
        """The size that the file was begun with: an odd row less, or scaled where a clip changes its own on the way."""
        height, width = self._frame
        if 0 <= pixels.shape[0] - height <= 1 and 0 <= pixels.shape[1] - width <= 1:
            return np.ascontiguousarray(pixels[:height, :width])
        return np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).resize((width, height), Image.BILINEAR))
