"""Moving pictures as a stream of frames: video files through PyAV, GIF through Pillow; never a whole clip in memory."""

from __future__ import annotations

import os
import pathlib
from fractions import Fraction
from typing import Any, ContextManager, Iterator, NamedTuple, Optional, Protocol, Tuple, Union

import numpy as np

from ugatit.data import sniff
from ugatit.errors import UserError

INSTALL = "pip install -e '.[video]'"
VIDEO_SUFFIXES = (
    '.mp4',
    '.m4v',
    '.mov',
    '.mkv',
    '.webm',
    '.avi',
    '.mpg',
    '.mpeg',
    '.ts',
    '.mts',
    '.wmv',
    '.flv',
    '.3gp',
)
WRITTEN_SUFFIXES = ('.mp4', '.m4v', '.mov', '.mkv', '.webm', '.gif')
MARK = 'ugatit'
"""The comment in files that we wrote, by which a later run knows what it may replace."""

_VIDEO_KINDS = ('MP4 video', 'Matroska video', 'RIFF sound or video')


class ClipInfo(NamedTuple):
    """What is known before the frames are read."""

    height: int  # pixels, upright
    width: int
    frames: Optional[int]  # how many; an estimate where the file does not say, None where nothing can be known
    seconds: Optional[float]
    rate: Fraction  # frames in a second, on average
    audio: bool
    loops: Optional[int]  # of a GIF: 0 for ever, None: played once


class Frame(NamedTuple):
    """One picture of a clip."""

    pixels: np.ndarray  # uint8 [H, W, 3], RGB, upright
    time: Fraction  # when it is shown, in seconds
    duration: Fraction  # for how long


Sound = Any  # a piece of the sound track, which only the reader's and the writer's library understand


class Reader(Protocol):
    """An open clip; it can be iterated once."""

    info: ClipInfo
    damaged: int  # pieces that could not be decoded so far, and were left out
    sound: Any  # the sound track for the writer's constructor, None without one

    def __iter__(self) -> Iterator[Union[Frame, Sound]]: ...


class Writer(Protocol):
    """A file that appears under its name when `finish` has been called, and not at all otherwise."""

    notes: Tuple[str, ...]  # what could not be kept

    def add(self, frame: Frame) -> None: ...

    def add_sound(self, sound: Sound) -> None: ...

    def finish(self) -> None: ...


def is_clip(path: Union[str, os.PathLike[str]]) -> bool:
    """Whether the file is a moving picture to the user: by content and name, for photo.jpg should be a picture.

    Where the content is not known the name decides.
    """
    suffix = pathlib.Path(path).suffix.lower()
    try:
        with pathlib.Path(path).open('rb') as file:
            kind = sniff.identify(file.read(sniff.HEAD_BYTES))
    except OSError:
        return False
    if kind in _VIDEO_KINDS:
        return suffix not in sniff.PICTURE_EXTENSIONS
    return kind == 'GIF' or (suffix in VIDEO_SUFFIXES and not sniff.is_picture(kind))


def is_gif(path: Union[str, os.PathLike[str]]) -> bool:
    """Whether the file's content is GIF."""
    with pathlib.Path(path).open('rb') as file:
        return sniff.identify(file.read(sniff.HEAD_BYTES)) == 'GIF'


def open_clip(path: Union[str, os.PathLike[str]], background: str = 'white') -> ContextManager[Reader]:
    """Opens a clip for reading.

    Args:
        path: a file that FFmpeg reads, or a GIF.
        background: what shows through the transparent parts of a GIF.

    Raises:
        UserError: no readable clip, without a picture, or PyAV is missing.
    """
    if is_gif(path):
        from ugatit.data.gif_files import GifReader

        return GifReader(path, background)
    require_video()
    from ugatit.data.video_reader import VideoReader

    return VideoReader(path)


def create_clip(path: pathlib.Path, info: ClipInfo, sound: Any = None) -> ContextManager[Writer]:
    """Opens a clip for writing; `info` of the frames that will come, `sound` from the reader.

    Raises:
        UserError: a suffix that is not in WRITTEN_SUFFIXES, or PyAV is missing.
    """
    suffix = path.suffix.lower()
    if suffix not in WRITTEN_SUFFIXES:
        raise UserError(f'videos are written as {", ".join(WRITTEN_SUFFIXES)}, but {path.name} ends in'
                        f' {suffix or "nothing"}; choose one of these.')  # fmt: skip
    if suffix == '.gif':
        from ugatit.data.gif_files import GifWriter

        return GifWriter(path, info, sound)
    require_video()
    from ugatit.data.video_writer import VideoWriter

    return VideoWriter(path, info, sound)


def wrote_clip(path: pathlib.Path) -> bool:
    """Whether the file is a clip that this program wrote."""
    if not path.is_file() or not path.stat().st_size:
        return False
    if is_gif(path):
        from ugatit.data.gif_files import comment
    else:
        require_video()
        from ugatit.data.video_reader import comment
    return comment(path) == MARK


def spread(path: Union[str, os.PathLike[str]], count: int, background: str = 'white') -> Iterator[Frame]:
    """Up to `count` frames, evenly spread over the clip, without reading all of a video."""
    with open_clip(path, background) as reader:
        yield from reader.spread(count)


def require_video() -> None:
    """UserError with the line to install where PyAV is missing."""
    try:
        import av  # noqa: F401
    except ImportError:
        raise UserError(f'videos need PyAV, which is not installed; {INSTALL}') from None
