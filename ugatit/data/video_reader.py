"""Video files read through PyAV, which has FFmpeg inside: frames upright and with their times, and the sound."""

from __future__ import annotations

import contextlib
import os
import pathlib
from fractions import Fraction
from typing import Any, Iterator, List, Optional, Union

import av
import numpy as np
from av.error import FFmpegError
from av.video.reformatter import Colorspace

from ugatit.data.clips import ClipInfo, Frame, Sound
from ugatit.data.names import printable
from ugatit.errors import UserError

BT709 = 1  # as primaries, transfer function and matrix of ITU-T H.273
BT601 = (5, 6)  # in both its spellings
TICK = Fraction(1, 90_000)  # a time base in which 24, 25, 30, 29.97 and 60 frames a second are whole or nearly so

_FAR = 10.0  # seconds from which seeking is quicker than decoding on


class VideoReader(contextlib.AbstractContextManager):
    """See `ugatit.data.clips.Reader`."""

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self._name, self.damaged = printable(path), 0
        self._container = _opened(os.fspath(path), self._name)
        streams = [stream for stream in self._container.streams.video if not _is_cover(stream)]
        if not streams:
            self._container.close()
            raise UserError(f'expected a video, but {self._name} has no moving picture in it: give another file')
        self._video = streams[0]
        self._video.thread_type = 'AUTO'
        self.sound = next(iter(self._container.streams.audio), None)
        self.info = self._described(os.fspath(path))

    def __exit__(self, *_: object) -> None:
        self._container.close()

    def __iter__(self) -> Iterator[Union[Frame, Sound]]:
        """Frames and pieces of the sound track, in the file's order."""
        wanted = [stream for stream in (self._video, self.sound) if stream is not None]
        earlier: Optional[Frame] = None  # what files say of durations is often wrong: the next frame ends this one
        for packet in self._packets(self._container, *wanted):
            if packet.stream is self._video:
                for frame in map(self._frame, self._decoded(packet)):
                    if earlier is not None:
                        yield earlier._replace(duration=max(frame.time - earlier.time, TICK))
                    earlier = frame
            elif packet.dts is not None:
                yield packet
        if earlier is not None:
            yield earlier

    def spread(self, count: int) -> Iterator[Frame]:
        """The frames at `count` points of the clip; fewer of a clip that has fewer."""
        seconds, position, found = self.info.seconds or 0.0, -1.0, iter(())
        for number in range(count):
            target = seconds * (number + 0.5) / count
            if position < 0 or target > position + _FAR:  # what lies nearer is reached sooner by decoding on
                with contextlib.suppress(FFmpegError):
                    self._container.seek(int(target * av.time_base), backward=True)
                found = self._only_frames()
            frame = next((frame for frame in found if frame.time >= target), None)
            if frame is None:
                return
            position = frame.time
            yield self._frame(frame)

    def _only_frames(self) -> Iterator[Any]:
        for packet in self._packets(self._container, self._video):
            yield from self._decoded(packet)

    def _described(self, path: str) -> ClipInfo:
        video = self._video
        seconds = _seconds(self._container, video)
        rate = Fraction(video.average_rate or video.guessed_rate or 25)
        frames = video.frames or (round(seconds * rate) if seconds else None)
        height, width = self._first(path).pixels.shape[:2]
        return ClipInfo(height, width, frames, seconds, rate, self.sound is not None, None)

    def _first(self, path: str) -> Frame:
        """A frame alone knows whether the pictures lie on their side. A file of its own: seeking back loses sound."""
        with _opened(path, self._name) as probe:
            stream = probe.streams[self._video.index]
            found = next((frame for packet in self._packets(probe, stream) for frame in self._decoded(packet)), None)
        self.damaged = 0
        if found is None:
            self._container.close()
            raise UserError(f'expected a video, but no frame of {self._name} can be decoded: copy or export it again')
        return self._frame(found)

    def _packets(self, container: Any, *streams: Any) -> Iterator[Any]:
        packets = container.demux(*streams)
        while True:
            try:
                yield next(packets)
            except StopIteration:
                return
            except FFmpegError:  # the file ends in the middle, or a piece is missing
                self.damaged += 1
                return

    def _decoded(self, packet: Any) -> List[Any]:
        try:
            return [frame for frame in packet.decode() if frame.pts is not None]
        except FFmpegError:
            self.damaged += 1
            return []

    def _frame(self, frame: Any) -> Frame:
        aspect = self._video.codec_context.sample_aspect_ratio or 1
        width = frame.width if aspect == 1 else max(1, round(frame.width * aspect))
        matrix = _matrix(frame)
        pixels = frame.reformat(format='rgb24', width=width, src_colorspace=matrix, dst_colorspace=matrix).to_ndarray()
        turns = round(getattr(frame, 'rotation', 0) / 90) % 4
        base = frame.time_base or self._video.time_base
        duration = Fraction(frame.duration or 0) * base or 1 / Fraction(self._video.average_rate or 25)
        return Frame(np.ascontiguousarray(np.rot90(pixels, turns)), frame.pts * base, duration)


def comment(path: pathlib.Path) -> Optional[str]:
    """The comment that is stored in a file; None for none, or for no video."""
    try:
        with av.open(os.fspath(path)) as container:
            return {key.lower(): value for key, value in container.metadata.items()}.get('comment')
    except (FFmpegError, OSError):
        return None


def _opened(path: str, name: str) -> Any:
    try:
        return av.open(path)
    except (FFmpegError, OSError) as error:
        raise UserError(
            f'expected a video, but {name} cannot be read as one ({reason(error)}): copy or export it again'
        ) from None


def reason(error: BaseException) -> str:
    """The library's own words, on one line."""
    return ' '.join(str(getattr(error, 'strerror', None) or error).split())


def _matrix(frame: Any) -> Colorspace:
    """How the frame's colours are meant; where it does not say, as players guess: by its size."""
    if frame.colorspace in (BT709, *BT601):
        return Colorspace.ITU709 if frame.colorspace == BT709 else Colorspace.ITU601
    return Colorspace.ITU709 if frame.height >= 720 else Colorspace.ITU601


def _is_cover(stream: Any) -> bool:
    """A picture of the album, in files that are music otherwise."""
    return 'attached_pic' in str(getattr(stream, 'disposition', '')).lower()


def _seconds(container: Any, stream: Any) -> Optional[float]:
    if stream.duration:
        return float(stream.duration * stream.time_base)
    return container.duration / av.time_base if container.duration else None
