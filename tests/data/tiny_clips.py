"""Clips made by tests: a bar that grows, a tone."""

from __future__ import annotations

import pathlib
from fractions import Fraction
from typing import List, Optional, Sequence

import numpy as np
from PIL import Image

RATE = 25
SAMPLES = 48_000  # of the tone, a second


def pictures(count: int, height: int = 48, width: int = 64) -> List[np.ndarray]:
    """Red, with a blue bar that grows from the left, and a green one at the top."""
    found = []
    for number in range(count):
        pixels = np.zeros((height, width, 3), np.uint8)
        pixels[...] = (200, 30, 30)
        pixels[:, : width * (number + 1) // (count + 1)] = (20, 20, 220)
        pixels[: height // 3] = (30, 200, 60)
        found.append(pixels)
    return found


def write_video(
    path: pathlib.Path,
    count: int = 30,
    rate: Fraction = Fraction(RATE),
    sound: Optional[str] = 'aac',
    times: Optional[Sequence[Fraction]] = None,  # seconds, in place of a steady rate
    height: int = 48,
    width: int = 64,
) -> pathlib.Path:
    """H.264 (VP9 in WebM) with a tone of 440 Hz."""
    import av

    with av.open(str(path), 'w') as container:
        encoder = 'libvpx-vp9' if path.suffix == '.webm' else 'libx264'
        video = container.add_stream(encoder, rate=rate)
        video.width, video.height, video.pix_fmt = width, height, 'yuv420p'
        video.codec_context.time_base = Fraction(1, 1000) if times else 1 / Fraction(rate)
        track = container.add_stream(sound, rate=SAMPLES) if sound else None
        for number, pixels in enumerate(pictures(count, height, width)):
            frame = av.VideoFrame.from_ndarray(pixels, format='rgb24')
            frame.time_base = video.codec_context.time_base
            frame.pts = round(times[number] * 1000) if times else number
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        if track is not None:
            _add_tone(container, track, float(count / rate))
    return path


def _add_tone(container, track, seconds: float) -> None:
    import av

    tone = np.sin(2 * np.pi * 440 * np.arange(int(SAMPLES * seconds)) / SAMPLES).astype(np.float32) * 0.3
    for start in range(0, len(tone), 960):
        frame = av.AudioFrame.from_ndarray(tone[None, start : start + 960], format='fltp', layout='mono')
        frame.sample_rate, frame.pts, frame.time_base = SAMPLES, start, Fraction(1, SAMPLES)
        container.mux(track.encode(frame))
    container.mux(track.encode(None))


def write_gif(path: pathlib.Path, durations: Sequence[int], loop: Optional[int] = 0) -> pathlib.Path:
    """durations in ms, one for each frame; loop 0: for ever, None: once."""
    frames = [Image.fromarray(pixels) for pixels in pictures(len(durations), 40, 50)]
    more = {} if loop is None else {'loop': loop}
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=list(durations), **more)
    return path


def turn_quarter(path: pathlib.Path) -> None:
    """Writes into an MP4 that it is shown turned by 90 degrees clockwise, as phones do."""
    data = bytearray(path.read_bytes())
    one = (0x00010000).to_bytes(4, 'big')
    upright = one + bytes(12) + one + bytes(12) + (0x40000000).to_bytes(4, 'big')
    turned = bytes(4) + one + bytes(4) + (0xFFFF0000).to_bytes(4, 'big') + bytes(16) + (0x40000000).to_bytes(4, 'big')
    place = data.index(upright, data.index(b'tkhd'))
    data[place : place + 36] = turned
    path.write_bytes(bytes(data))
