"""A clip through one model: frame by frame, as a stream, into a file that appears when it is complete."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import signal
import statistics
import threading
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ugatit.data.clips import ClipInfo, Frame, Reader, Sound, create_clip, is_gif, open_clip, spread
from ugatit.data.decode import DecodedImage
from ugatit.data.face_crop import FaceCrop, centre_window, cut, face_window
from ugatit.data.faces import Face, find_faces
from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.inference.inputs import Input, Prepared, thumbnail
from ugatit.inference.progress import Silent
from ugatit.inference.run import ProgressBar
from ugatit.inference.settings import Settings
from ugatit.inference.video_look import Look
from ugatit.translate import Translator

SAMPLES = 16
"""Frames, spread over a clip, that ranges and statistics are measured on, and in which faces are looked for."""

_SAMPLE_EDGE = 1024  # pixels, of those that are kept for measuring
_MOVES = 0.2  # of the crop's edge: how far a face may be from where it mostly is before that is worth a warning


class Translated(NamedTuple):
    """What became of a clip."""

    frames: int
    seconds: float  # of the clip
    rate: float  # frames per second, on average
    size: Tuple[int, int]  # of the input: height, width
    warnings: Tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class _Sample(Input):
    """A frame in memory, where a picture in a file is expected."""

    pixels: Optional[np.ndarray] = None

    def decode(self, settings: Settings) -> DecodedImage:
        return DecodedImage(self.pixels)


def sample_frames(path: pathlib.Path, settings: Settings, crop: Optional[FaceCrop]) -> List[Input]:
    """Frames spread over the clip, cropped and reduced: inputs for `load_planned` with `face_crop='off'`."""
    found = []
    for frame in spread(path, SAMPLES, settings.background):
        pixels = frame.pixels if crop is None else cut(frame.pixels, crop.window)
        found.append(_Sample(path, pathlib.PurePath(path.name), pixels=thumbnail(pixels, _SAMPLE_EDGE)))
    return found


def clip_crop(path: pathlib.Path, settings: Settings) -> Optional[FaceCrop]:
    """One square for the whole clip, where the largest face mostly is; None without `face_crop`.

    It does not follow the face: whatever jitters in the input, the network draws anew in every frame.
    """
    if settings.face_crop == 'off':
        return None
    looked, faces, size = 0, [], (1, 1)
    for frame in spread(path, SAMPLES, settings.background):
        looked, size = looked + 1, frame.pixels.shape[:2]
        faces += find_faces(frame.pixels)[:1]
    if not faces:
        return FaceCrop(centre_window(*size), None, ('no face was found, so the centre is used',))
    middle = Face(*(statistics.median(values) for values in zip(*faces)))
    window = face_window(middle, *size)
    notes = []
    if len(faces) < looked / 2:
        notes.append(f'a face was found in {len(faces)} of {looked} frames that were looked at')
    away = max(max(abs(face.x - middle.x), abs(face.y - middle.y)) for face in faces) / window.side
    if away > _MOVES:
        notes.append(f'the face moves by {away:.0%} of the crop, which stays where the face mostly is')
    return FaceCrop(window, middle, tuple(notes))


def translate_clip(
    translate: Translator,
    path: pathlib.Path,
    target: pathlib.Path,
    settings: Settings,
    crop: Optional[FaceCrop] = None,
    side_by_side: bool = False,
    progress: ProgressBar = Silent,
) -> Translated:
    """Translates every frame, batch by batch; `target` is there when all is done, and otherwise as it was.

    Args:
        translate: from `ugatit.load`, or what is called like it.
        path: the clip.
        target: a name with a suffix among `ugatit.data.clips.WRITTEN_SUFFIXES`; its folder exists.
        settings: `keep_size`, `paste_back`, `resize`, `batch_size`, `background` count.
        crop: from `clip_crop`.
        side_by_side: the input to the left of the result.
        progress: called with the frames, as far as their number is known, and a noun.

    Raises:
        UserError: no readable clip, or a result with NaN or infinite values.
    """
    with _terminated_as_interrupted(), open_clip(path, settings.background) as reader:
        info = reader.info
        _require_size(info, path, settings)
        look = Look(translate.image_size, settings, crop, side_by_side)
        height, width = look.size(info.height, info.width)
        shape = info._replace(height=height, width=width, loops=info.loops if is_gif(path) else 0)
        with create_clip(target, shape, reader.sound) as writer, progress(range(info.frames or 0), 'frames') as bar:
            for done in _translated(translate, reader, look, settings.batch_size, path):
                if isinstance(done, Frame):
                    writer.add(done)
                    bar.advance()
                else:
                    writer.add_sound(done)
            if not look.done:
                raise UserError(f'no frame of {printable(path)} can be decoded: copy or export it again')
            writer.finish()
        warnings = (*(crop.notes if crop else ()), *writer.notes, *look.notes(), *_damage(reader.damaged))
        return Translated(look.done, info.seconds or 0.0, float(info.rate), (info.height, info.width), warnings)


def _translated(
    translate: Translator, reader: Reader, look: Look, batch_size: int, path: pathlib.Path
) -> Iterator[Union[Frame, Sound]]:
    """Frames translated in batches; the sound in between as it comes."""
    batch: List[Tuple[Frame, Prepared]] = []
    for piece in reader:
        if not isinstance(piece, Frame):
            yield piece
            continue
        batch.append((piece, look.prepare(piece.pixels)))
        if len(batch) == batch_size:
            yield from _batch(translate, batch, look, path)
            batch = []
    yield from _batch(translate, batch, look, path)


def _batch(
    translate: Translator, batch: Sequence[Tuple[Frame, Prepared]], look: Look, path: pathlib.Path
) -> Iterator[Frame]:
    if not batch:
        return
    images = translate(np.stack([prepared.square for _, prepared in batch])).image
    for (frame, prepared), image in zip(batch, images):
        try:
            yield frame._replace(pixels=look.finish(frame.pixels, prepared, image))
        except UserError as error:
            raise UserError(f'{printable(path)}, at {float(frame.time):.2f} s: {error}') from None


def _require_size(info: ClipInfo, path: pathlib.Path, settings: Settings) -> None:
    pixels = info.height * info.width
    if pixels > settings.max_pixels:
        raise UserError(f'expected at most {settings.max_pixels} pixels, but {printable(path)} has {pixels}'
                        f' ({info.width} x {info.height}); make it smaller, or raise the limit with'
                        f' --max_pixels={pixels}.')  # fmt: skip


def _damage(pieces: int) -> Tuple[str, ...]:
    return (f'{pieces} damaged pieces could not be decoded and are left out',) if pieces else ()


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends the run as Ctrl-C does, so that no temporary file stays behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
