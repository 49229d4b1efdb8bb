"""Video files written through PyAV.

Sound is copied as it is where the new container can hold its format, else encoded anew. Pictures are stored as BT.709
in 4:2:0 and say so; no colour is left to a player's guess.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Any, Dict, Iterator, Tuple

import av
from av.error import FFmpegError
from av.video.reformatter import ColorRange, Colorspace

from ugatit.data.clips import MARK, ClipInfo, Frame, Sound
from ugatit.data.names import printable
from ugatit.data.video_reader import BT709, TICK, reason
from ugatit.errors import UserError

_FORMATS = {'.mp4': 'mp4', '.m4v': 'mp4', '.mov': 'mov', '.mkv': 'matroska', '.webm': 'webm'}
# Without frames that lean on later ones ('bf'): their order makes uneven durations come out wrong.
_ENCODERS: Tuple[Tuple[str, Dict[str, str]], ...] = (
    ('libx264', {'crf': '18', 'preset': 'medium', 'bf': '0'}),
    ('libopenh264', {}),
    ('mpeg4', {'qscale:v': '3'}),
)
_WEBM_ENCODERS = (('libvpx-vp9', {'crf': '24', 'b': '0', 'deadline': 'good', 'cpu-used': '4', 'row-mt': '1'}),)
_COPIED = {
    '.mp4': ('aac', 'mp3', 'opus', 'ac3', 'eac3', 'alac', 'flac'),
    '.m4v': ('aac', 'mp3', 'opus', 'ac3', 'eac3', 'alac', 'flac'),
    '.mov': ('aac', 'mp3', 'ac3', 'eac3', 'alac', 'pcm_s16le', 'pcm_s24le'),
    '.mkv': ('aac', 'mp3', 'opus', 'vorbis', 'ac3', 'eac3', 'alac', 'flac', 'pcm_s16le', 'pcm_s24le'),
    '.webm': ('opus', 'vorbis'),
}
"""Formats of sound that a container holds and players expect in it."""


class VideoWriter(contextlib.AbstractContextManager):
    """See `ugatit.data.clips.Writer`."""

    def __init__(self, path: pathlib.Path, info: ClipInfo, sound: Any) -> None:
        self._path, self._temporary = path, path.with_name(f'.{path.name}.ugatit.tmp')
        self._container = av.open(os.fspath(self._temporary), 'w', format=_FORMATS[path.suffix.lower()])
        self._container.metadata['comment'] = MARK
        self._video = self._video_stream(info)
        self._durations: Dict[int, int] = {}  # of frames that the encoder still has, by their time
        self.notes: Tuple[str, ...] = ()
        self._sound = _SoundTrack(self._container, sound, path.suffix.lower()) if sound is not None else None
        if self._sound is not None and self._sound.stream is None:
            self.notes = (f'the sound ({self._sound.codec}) does not fit into {path.suffix} and is left out',)

    def __exit__(self, kind: Any, *_: object) -> None:
        """Without `finish` nothing stays."""
        with contextlib.suppress(Exception):
            self._container.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink()

    def add(self, frame: Frame) -> None:
        picture = av.VideoFrame.from_ndarray(frame.pixels, format='rgb24')
        picture = picture.reformat(
            format='yuv420p',
            src_colorspace=Colorspace.ITU709,
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
        )
        picture.pts, picture.time_base = round(frame.time / TICK), TICK
        self._durations[picture.pts] = max(1, round(frame.duration / TICK))
        self._encode(picture)

    def add_sound(self, sound: Sound) -> None:
        with self._named():
            if self._sound is not None:
                self._sound.add(sound)

    def finish(self) -> None:
        with self._named():
            self._encode(None)
            if self._sound is not None:
                self._sound.finish()
            self._container.close()
            os.replace(self._temporary, self._path)

    def _encode(self, picture: Any) -> None:
        """Encoders know when a frame begins, but not for how long it stays: it matters for the last one."""
        with self._named():
            for packet in self._video.encode(picture):
                packet.duration = self._durations.pop(packet.pts, 0)
                self._container.mux(packet)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (FFmpegError, OSError) as error:
            raise UserError(f'expected to write {printable(self._path)}, but: {reason(error)}: check the free space,'
                            ' or choose another container') from error  # fmt: skip

    def _video_stream(self, info: ClipInfo) -> Any:
        encoders = _WEBM_ENCODERS if self._path.suffix.lower() == '.webm' else _ENCODERS
        name, options = next(encoder for encoder in encoders if encoder[0] in av.codecs_available)
        stream = self._container.add_stream(name, rate=info.rate, options=dict(options))
        context = stream.codec_context
        stream.width, stream.height, stream.pix_fmt = info.width, info.height, 'yuv420p'
        context.time_base = TICK
        context.colorspace = context.color_primaries = context.color_trc = BT709
        context.color_range = ColorRange.MPEG
        return stream


class _SoundTrack:
    """Copies packets, or encodes them anew for a container that cannot hold them."""

    def __init__(self, container: Any, source: Any, suffix: str) -> None:
        self._container, self.codec = container, source.codec_context.name
        self._copied = source.codec_context.codec.canonical_name in _COPIED[suffix]
        self.stream = None
        if self._copied:
            self.stream = container.add_stream_from_template(source)
        elif container.default_audio_codec in av.codecs_available:
            self.stream = container.add_stream(container.default_audio_codec, rate=source.codec_context.sample_rate)

    def add(self, packet: Any) -> None:
        if self.stream is None:
            return
        if self._copied:
            packet.stream = self.stream
            self._container.mux(packet)
            return
        with contextlib.suppress(FFmpegError):
            for frame in packet.decode():
                self._container.mux(self.stream.encode(frame))

    def finish(self) -> None:
        if self.stream is not None and not self._copied:
            self._container.mux(self.stream.encode(None))
