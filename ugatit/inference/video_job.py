"""Which input is a video, and what its result is called; known before TensorFlow is imported."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Optional, Sequence

from ugatit.data.clips import VIDEO_SUFFIXES, WRITTEN_SUFFIXES, is_clip, is_gif, require_video, wrote_clip
from ugatit.data.names import printable
from ugatit.data.sniff import PICTURE_EXTENSIONS
from ugatit.errors import UserError
from ugatit.inference.outputs import key_of, require_writable

_OTHER_FILES = (PICTURE_EXTENSIONS | frozenset(VIDEO_SUFFIXES)) - frozenset(WRITTEN_SUFFIXES)


@dataclasses.dataclass(frozen=True)
class VideoJob:
    """A clip to translate."""

    path: pathlib.Path
    target: pathlib.Path
    side_by_side: bool = False


def find_video(sources: Sequence[str], output: str) -> Optional[pathlib.Path]:
    """The clip that is to be translated as one; None where the inputs are pictures.

    A GIF is one where the output ends like a moving picture, else it is a picture like any other.

    Raises:
        UserError: a video among other inputs, or a video's output without a video.
    """
    moving = pathlib.Path(output).suffix.lower() in WRITTEN_SUFFIXES and not pathlib.Path(output).is_dir()
    paths = [pathlib.Path(os.path.expanduser(source)) for source in sources]
    clips = [path for path in paths if path.is_file() and is_clip(path) and (moving or not is_gif(path))]
    if not clips:
        if moving:
            raise UserError(f'--output={printable(output)} is a video, so the input must be one video or animated GIF;'
                            ' name it, or a folder for the results of pictures.')  # fmt: skip
        return None
    if len(paths) > 1:
        raise UserError(f'{printable(clips[0])} is a video, and a video is translated on its own; leave out the other'
                        ' inputs.')  # fmt: skip
    return clips[0]


def video_job(path: pathlib.Path, output: str, direction: str, side_by_side: bool) -> VideoJob:
    """Names the result: `output` itself, or in the folder `output` the clip's name with the direction.

    Raises:
        UserError: no name for a video, the input itself, or a file that is not ours.
    """
    target = pathlib.Path(os.path.expanduser(output))
    if target.suffix.lower() in _OTHER_FILES and not target.is_dir():
        raise UserError(f'videos are written as {", ".join(WRITTEN_SUFFIXES)}, but --output={printable(target)}'
                        ' arrived; choose one of these.')  # fmt: skip
    if target.suffix.lower() not in WRITTEN_SUFFIXES or target.is_dir():
        suffix = path.suffix.lower() if path.suffix.lower() in WRITTEN_SUFFIXES else '.mp4'
        target = target / f'{path.stem}_{direction}{suffix}'
    if target.suffix.lower() != '.gif' or not is_gif(path):
        require_video()
    require_writable(target.parent)
    if key_of(target) == key_of(path):
        raise UserError(f'--output={printable(target)} would overwrite the input; choose another name.')
    if target.is_dir() or (os.path.lexists(target) and not wrote_clip(target)):
        raise UserError(f'{printable(target)} is there already and is no result of ours, so it is not replaced; choose'
                        ' another --output, or remove it.')  # fmt: skip
    return VideoJob(path, target, side_by_side)
