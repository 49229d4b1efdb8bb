"""Clips read and written: times, sound, rotation, colours, and nothing half-written."""

from __future__ import annotations

import contextlib
import pathlib
import sys
from fractions import Fraction
from typing import Any, List, Tuple

import numpy as np
import pytest

from tests import tolerances
from tests.data.tiny_clips import RATE, pictures, turn_quarter, write_gif, write_video
from ugatit.data.clips import ClipInfo, Frame, create_clip, is_clip, open_clip, spread, wrote_clip
from ugatit.errors import UserError

av = pytest.importorskip('av')


def _copy(source: pathlib.Path, target: pathlib.Path) -> Tuple[str, ...]:
    """Frame by frame through reader and writer; returns the writer's notes."""
    with open_clip(source) as reader, create_clip(target, reader.info, reader.sound) as writer:
        for piece in reader:
            (writer.add if isinstance(piece, Frame) else writer.add_sound)(piece)
        writer.finish()
        return writer.notes


def _frames(path: pathlib.Path) -> List[Frame]:
    with open_clip(path) as reader:
        return [piece for piece in reader if isinstance(piece, Frame)]


def _sound(path: pathlib.Path) -> Tuple[str, bytes, float]:
    """(codec, all packets, seconds) of a sound track."""
    with av.open(str(path)) as container:
        track = container.streams.audio[0]
        packets = [packet for packet in container.demux(track) if packet.dts is not None]
        seconds = float(sum(packet.duration for packet in packets) * track.time_base)
        return track.codec_context.name, b''.join(bytes(packet) for packet in packets), seconds


@pytest.mark.parametrize('suffix', ['.mp4', '.mov', '.mkv', '.webm'])
def test_frames_their_times_and_sound_are_kept(tmp_path: pathlib.Path, suffix: str) -> None:
    source = write_video(tmp_path / 'in.mp4')
    assert _copy(source, tmp_path / f'out{suffix}') == ()
    before, after = _frames(source), _frames(tmp_path / f'out{suffix}')
    assert len(before) == len(after) == 30
    times = np.array([[float(frame.time), float(frame.duration)] for frame in after])
    times[:, 0] -= times[0, 0]
    assert np.abs(times[:, 0] - np.arange(30) / RATE).max() <= tolerances.CLIP_SECONDS
    assert np.abs(times[:-1, 1] - 1 / RATE).max() <= tolerances.CLIP_SECONDS
    kept, made = _sound(source), _sound(tmp_path / f'out{suffix}')
    if suffix == '.webm':
        assert made[0] == 'opus' and abs(made[2] - kept[2]) <= tolerances.CLIP_SOUND_SECONDS
    else:
        assert made[:2] == kept[:2]


def test_sound_that_fits_is_copied_bit_for_bit_into_webm(tmp_path: pathlib.Path) -> None:
    source = write_video(tmp_path / 'in.webm', sound='libopus')
    _copy(source, tmp_path / 'out.webm')
    assert _sound(tmp_path / 'out.webm')[:2] == _sound(source)[:2]


def test_uneven_times_are_kept(tmp_path: pathlib.Path) -> None:
    times = [Fraction(ms, 1000) for ms in (0, 40, 50, 250, 270, 900, 910, 1500)]
    source = write_video(tmp_path / 'in.mp4', count=8, sound=None, times=times)
    _copy(source, tmp_path / 'out.mp4')
    found = [frame.time for frame in _frames(tmp_path / 'out.mp4')]
    assert np.abs(np.array([float(a - b) for a, b in zip(found, times)])).max() <= tolerances.CLIP_SECONDS


@pytest.mark.parametrize('rate', [Fraction(24000, 1001), Fraction(24), Fraction(30000, 1001), Fraction(60)])
def test_usual_rates_are_kept(tmp_path: pathlib.Path, rate: Fraction) -> None:
    source = write_video(tmp_path / 'in.mp4', rate=rate, sound=None)
    _copy(source, tmp_path / 'out.mp4')
    with open_clip(tmp_path / 'out.mp4') as reader:
        assert abs(reader.info.rate / rate - 1) <= tolerances.CLIP_RATE and reader.info.frames == 30


@pytest.mark.parametrize('suffix', ['.mp4', '.webm'])
def test_colours_survive(tmp_path: pathlib.Path, suffix: str) -> None:
    colours = [(200, 0, 0), (0, 200, 0), (0, 0, 200), (128, 128, 128), (250, 250, 250), (10, 10, 10), (220, 180, 150)]
    pixels = np.concatenate([np.full((48, 32, 3), colour, np.uint8) for colour in colours], axis=1)
    path = tmp_path / f'c{suffix}'
    with create_clip(path, ClipInfo(*pixels.shape[:2], 5, 1.0, Fraction(5), False, None)) as writer:
        for number in range(5):
            writer.add(Frame(pixels, Fraction(number, 5), Fraction(1, 5)))
        writer.finish()
    found = _frames(path)[2].pixels[24, 16::32].astype(int)
    assert np.abs(found - np.array(colours)).max() <= tolerances.CLIP_LEVELS
    with av.open(str(path)) as container:  # and players are told which they are
        assert next(container.decode(video=0)).colorspace == 1


def test_a_clip_that_lies_on_its_side_is_turned_upright(tmp_path: pathlib.Path) -> None:
    path = write_video(tmp_path / 'in.mp4', sound=None)
    turn_quarter(path)
    with open_clip(path) as reader:
        assert (reader.info.height, reader.info.width) == (64, 48)
        frame = next(iter(reader))
    green = frame.pixels[..., 1] > 120  # the bar at the top is at the right now
    assert green[:, -8:].all() and not green[:, :24].any()
    _copy(path, tmp_path / 'out.mp4')
    assert _frames(tmp_path / 'out.mp4')[0].pixels.shape == (64, 48, 3)


def test_a_gif_keeps_durations_loop_and_pixels(tmp_path: pathlib.Path) -> None:
    durations = [40, 100, 20, 70, 300]
    for loop in (0, 3, None):
        source = write_gif(tmp_path / 'in.gif', durations, loop)
        _copy(source, tmp_path / 'out.gif')
        frames = _frames(tmp_path / 'out.gif')
        assert [int(frame.duration * 1000) for frame in frames] == durations
        assert all(np.array_equal(a.pixels, b) for a, b in zip(frames, pictures(5, 40, 50)))
        with open_clip(tmp_path / 'out.gif') as reader:
            assert reader.info.loops == loop


def test_a_gif_becomes_a_video_with_its_times(tmp_path: pathlib.Path) -> None:
    durations = [40, 100, 20, 70, 300]
    _copy(write_gif(tmp_path / 'in.gif', durations), tmp_path / 'out.mp4')
    assert [round(float(frame.duration) * 1000) for frame in _frames(tmp_path / 'out.mp4')] == durations


def test_a_fast_video_becomes_a_gif_of_the_same_length(tmp_path: pathlib.Path) -> None:
    source = write_video(tmp_path / 'in.mp4', count=60, rate=Fraction(60), sound='aac')
    assert _copy(source, tmp_path / 'out.gif') == ('a GIF has no sound, so it is left out',)
    frames = _frames(tmp_path / 'out.gif')
    assert min(frame.duration for frame in frames) >= Fraction(20, 1000)
    assert abs(float(sum(frame.duration for frame in frames)) - 1) <= tolerances.CLIP_GIF_SECONDS


def test_transparency_shows_the_background(tmp_path: pathlib.Path) -> None:
    from PIL import Image

    clear = Image.new('RGBA', (20, 10), (0, 0, 0, 0))
    clear.paste((255, 0, 0, 255), (0, 0, 10, 10))
    clear.save(tmp_path / 'in.gif', save_all=True, append_images=[clear.rotate(180)], duration=50, disposal=2)
    with open_clip(tmp_path / 'in.gif', background='#00ff00') as reader:
        first = next(iter(reader)).pixels
    assert first[5, 5].tolist() == [255, 0, 0] and first[5, 15].tolist() == [0, 255, 0]


def test_frames_are_spread_over_the_clip(tmp_path: pathlib.Path) -> None:
    source = write_video(tmp_path / 'in.mp4', count=50, sound=None)
    times = [float(frame.time) for frame in spread(source, 5)]
    assert np.abs(np.array(times) - (0.2, 0.6, 1.0, 1.4, 1.8)).max() <= 1 / RATE + tolerances.CLIP_SECONDS
    gif = write_gif(tmp_path / 'in.gif', [50] * 10)
    assert [float(frame.time) for frame in spread(gif, 5)] == [0.05, 0.15, 0.25, 0.35, 0.45]
    assert len(list(spread(gif, 99))) == 10


@pytest.mark.parametrize('suffix', ['.mp4', '.gif'])
def test_without_finish_nothing_stays_and_nothing_is_lost(tmp_path: pathlib.Path, suffix: str) -> None:
    target = tmp_path / f'out{suffix}'
    target.write_bytes(b'earlier')
    info = ClipInfo(48, 64, 30, 1.2, Fraction(25), False, None)
    with contextlib.suppress(KeyboardInterrupt), create_clip(target, info) as writer:
        for number, pixels in enumerate(pictures(30)):
            writer.add(Frame(pixels, Fraction(number, 25), Fraction(1, 25)))
            if number == 20:
                raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == [target.name] and target.read_bytes() == b'earlier'


@pytest.mark.parametrize('suffix', ['.mp4', '.mov', '.mkv', '.webm', '.gif'])
def test_our_own_files_are_known(tmp_path: pathlib.Path, suffix: str) -> None:
    source = write_video(tmp_path / 'in.mp4', count=3, sound=None)
    _copy(source, tmp_path / f'out{suffix}')
    assert wrote_clip(tmp_path / f'out{suffix}')
    assert not wrote_clip(source) and not wrote_clip(write_gif(tmp_path / 'in.gif', [50, 50]))


def test_what_is_a_clip(tmp_path: pathlib.Path) -> None:
    write_video(tmp_path / 'a.mp4', count=2, sound=None).rename(tmp_path / 'photo.jpg')
    write_gif(tmp_path / 'b.gif', [50, 50])
    (tmp_path / 'c.mpg').write_bytes(b'\0\0\1\xba' + bytes(100))
    (tmp_path / 'd.txt').write_text('words')
    write_video(tmp_path / 'e.mp4', count=2, sound=None).rename(tmp_path / 'e')
    assert [is_clip(path) for path in sorted(tmp_path.iterdir())] == [True, True, False, True, False]


BAD: Any = {
    'empty.mp4': b'',
    'words.mp4': b'not a video at all\n' * 50,
    'head.mp4': b'\0\0\0\x18ftypisom\0\0\2\0isomiso2' + bytes(500),
}


@pytest.mark.parametrize('name', BAD)
def test_what_is_no_video_is_one_sentence(tmp_path: pathlib.Path, name: str) -> None:
    (tmp_path / name).write_bytes(BAD[name])
    with pytest.raises(
        UserError, match=rf'expected a video, but .*{name} cannot be read as one \(.+\): copy or export'
    ):
        open_clip(tmp_path / name)


def test_a_clip_cut_off_before_its_index(tmp_path: pathlib.Path) -> None:
    path = write_video(tmp_path / 'in.mp4')
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(UserError, match='expected a video, but .*in.mp4'):
        open_clip(path)


def test_a_clip_cut_off_in_the_middle_gives_what_there_is(tmp_path: pathlib.Path) -> None:
    path = write_video(tmp_path / 'in.mkv', count=50)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert 5 <= len(_frames(path)) < 50


def test_sound_alone_is_no_video(tmp_path: pathlib.Path) -> None:
    from tests.data.tiny_clips import _add_tone

    with av.open(str(tmp_path / 'in.m4a'), 'w', format='mp4') as container:
        _add_tone(container, container.add_stream('aac', rate=48_000), 0.2)
    with pytest.raises(UserError, match='has no moving picture in it'):
        open_clip(tmp_path / 'in.m4a')


def test_a_broken_gif_is_one_sentence(tmp_path: pathlib.Path) -> None:
    path = write_gif(tmp_path / 'in.gif', [50] * 5)
    path.write_bytes(path.read_bytes()[:9])
    with pytest.raises(UserError, match='expected a GIF, but .*in.gif is broken'):
        open_clip(path)


def test_without_pyav_the_line_to_install_it(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_video(tmp_path / 'in.mp4', count=2, sound=None)
    monkeypatch.setitem(sys.modules, 'av', None)
    with pytest.raises(UserError, match=r"videos need PyAV, which is not installed; pip install -e '\.\[video\]'"):
        open_clip(path)
