"""GIF through Pillow, frame by frame: durations and loop kept, memory that does not grow with the clip."""

from __future__ import annotations

import contextlib
import os
import pathlib
from fractions import Fraction
from typing import Any, Iterator, Optional, Union

import numpy as np
from PIL import GifImagePlugin, Image

from ugatit.data.clips import MARK, ClipInfo, Frame, Sound
from ugatit.data.names import printable
from ugatit.data.samples import parse_colour
from ugatit.errors import UserError

_UNSTATED = 100  # ms: what browsers show a frame for whose duration is 0
_TICK = 10  # ms, of a GIF's durations
_SHORTEST = 20  # ms: browsers slow frames down that are shorter
_TRAILER = b';'


class GifReader(contextlib.AbstractContextManager):
    """See `ugatit.data.clips.Reader`."""

    damaged = 0
    sound = None

    def __init__(self, path: Union[str, os.PathLike[str]], background: str) -> None:
        self._name, self._colour = printable(path), parse_colour(background)
        try:
            self._image = GifImagePlugin.GifImageFile(os.fspath(path))
            frames = self._image.n_frames
        except Exception as error:  # as in ugatit.data.decode: hostile files raise anything
            raise UserError(f'expected a GIF, but {self._name} is broken ({error}): copy or export it again') from None
        self._durations = [self._duration(index) for index in range(frames)]
        seconds = float(sum(self._durations))
        rate = Fraction(frames / seconds).limit_denominator(1000)
        self.info = ClipInfo(*self._image.size[::-1], frames, seconds, rate, False, self._loops())

    def __exit__(self, *_: object) -> None:
        self._image.close()

    def __iter__(self) -> Iterator[Union[Frame, Sound]]:
        time = Fraction(0)
        for index, duration in enumerate(self._durations):
            yield Frame(self._pixels(index), time, duration)
            time += duration

    def spread(self, count: int) -> Iterator[Frame]:
        """Every so many frames; fewer than `count` of a short clip."""
        total = len(self._durations)
        for index in sorted({total * (2 * number + 1) // (2 * count) for number in range(count)}):
            yield Frame(self._pixels(index), sum(self._durations[:index], Fraction(0)), self._durations[index])

    def _pixels(self, index: int) -> np.ndarray:
        try:
            self._image.seek(index)
            picture = self._image.convert('RGBA')
        except Exception as error:  # as above
            raise UserError(f'frame {index + 1} of {self._name} is broken ({error}): export the GIF again') from None
        ground = Image.new('RGBA', picture.size, (*self._colour, 255))
        return np.asarray(Image.alpha_composite(ground, picture).convert('RGB'))

    def _duration(self, index: int) -> Fraction:
        with contextlib.suppress(Exception):  # a broken frame is named when its turn comes
            self._image.seek(index)
        return Fraction(self._image.info.get('duration') or _UNSTATED, 1000)

    def _loops(self) -> Optional[int]:
        return self._image.info.get('loop')


class GifWriter(contextlib.AbstractContextManager):
    """See `ugatit.data.clips.Writer`. Every frame has its own 256 colours."""

    def __init__(self, path: pathlib.Path, info: ClipInfo, sound: Any) -> None:
        self._path, self._temporary = path, path.with_name(f'.{path.name}.ugatit.tmp')
        self._loops, self._size = info.loops, (info.width, info.height)
        self._file = self._temporary.open('wb')
        self._pending: Optional[Frame] = None
        self._begun = self._shown = 0  # frames written; and until when they are shown, ms
        self.notes = ('a GIF has no sound, so it is left out',) if sound is not None else ()

    def __exit__(self, *_: object) -> None:
        self._file.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink()

    def add(self, frame: Frame) -> None:
        """A frame that would be shown for less than 20 ms is left out: players would slow the whole clip down."""
        if self._pending is None:
            self._pending, self._shown = frame, _ticks(frame.time)
        elif _ticks(frame.time) - self._shown >= _SHORTEST:
            self._write(_ticks(frame.time))
            self._pending = frame

    def add_sound(self, sound: Sound) -> None:
        pass

    def finish(self) -> None:
        end = _ticks(self._pending.time + self._pending.duration)
        self._write(max(end, self._shown + _SHORTEST))
        self._file.write(_TRAILER)
        self._file.close()
        os.replace(self._temporary, self._path)

    def _write(self, until: int) -> None:
        """The pending frame, shown until then."""
        picture = Image.fromarray(self._pending.pixels).quantize(256, Image.MEDIANCUT, dither=Image.NONE)
        if not self._begun:
            info = (
                {'comment': MARK.encode()} if self._loops is None else {'comment': MARK.encode(), 'loop': self._loops}
            )
            for block in GifImagePlugin.getheader(picture, info=info)[0]:
                self._file.write(block)
        for block in GifImagePlugin.getdata(picture, duration=until - self._shown, include_color_table=True):
            self._file.write(block)
        self._begun, self._shown = self._begun + 1, until


def comment(path: pathlib.Path) -> Optional[str]:
    """The comment that is stored in a GIF; None for none."""
    try:
        with GifImagePlugin.GifImageFile(os.fspath(path)) as image:
            stored = image.info.get('comment', b'')
    except Exception:  # as above
        return None
    return stored.decode('latin-1') if isinstance(stored, bytes) else str(stored)


def _ticks(seconds: Fraction) -> int:
    """ms, rounded to what a GIF can say; of the time since the start, so that roundings do not add up."""
    return round(seconds * 1000 / _TICK) * _TICK
