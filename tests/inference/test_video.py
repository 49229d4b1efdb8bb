"""infer.py with a clip: every frame as a picture would be, one size, nothing half-written, sentences for the rest."""

from __future__ import annotations

import json
import os
import pathlib
import signal
from typing import Any, List

import numpy as np
import pytest
from PIL import Image

import infer
from tests import tolerances
from tests.data.tiny_clips import pictures, write_gif, write_video
from tests.inference.tiny import SIZE
from ugatit.cli.main import run
from ugatit.data.clips import Frame, open_clip
from ugatit.data.convert import to_float, to_uint8
from ugatit.data.face_crop import Window
from ugatit.data.resize import resize
from ugatit.errors import UserError
from ugatit.inference.settings import Settings
from ugatit.inference.video import clip_crop, translate_clip
from ugatit.translate import Translation, Translator

pytest.importorskip('av')
pytestmark = pytest.mark.usefixtures('shared_models')


class _Negative:
    """A model of 16 x 16 pixels that is easy to predict."""

    image_size, plan = SIZE, None

    def __init__(self, at: int = -1, event: Any = None) -> None:
        self.calls, self._at, self._event = 0, at, event

    def __call__(self, images: np.ndarray) -> Translation:
        if self.calls == self._at:
            if isinstance(self._event, float):
                return Translation(np.full_like(images, self._event), None, None)
            self._event()
        self.calls += 1
        return Translation(-images, None, None)


def _infer(*words: object) -> int:
    return run(infer.main, infer.FLAGS, [str(word) for word in words])


def _frames(path: pathlib.Path) -> List[Frame]:
    with open_clip(path) as reader:
        return [piece for piece in reader if isinstance(piece, Frame)]


@pytest.fixture
def gif(tmp_path: pathlib.Path) -> pathlib.Path:
    """Five frames of 50 x 40 pixels; GIF has few colours, but keeps them."""
    return write_gif(tmp_path / 'in.gif', [50] * 5, loop=2)


def _square(pixels: np.ndarray) -> np.ndarray:
    return to_uint8(-to_float(resize(pixels, SIZE).pixels))


def _near(found: np.ndarray, expected: np.ndarray) -> bool:
    return np.abs(found.astype(int) - expected).max() <= tolerances.CLIP_PALETTE_LEVELS


@pytest.mark.parametrize('batch_size', [1, 2, 5, 8])
def test_every_frame_is_translated_once_and_in_order(gif, tmp_path: pathlib.Path, batch_size: int) -> None:
    done = translate_clip(_Negative(), gif, tmp_path / 'out.gif', Settings(batch_size=batch_size))
    frames = _frames(tmp_path / 'out.gif')
    assert done.frames == len(frames) == 5 and done.size == (40, 50) and done.warnings == ()
    for frame, pixels in zip(frames, pictures(5, 40, 50)):
        assert _near(frame.pixels, _square(pixels))
    with open_clip(tmp_path / 'out.gif') as reader:
        assert reader.info.loops == 2


def test_side_by_side_shows_what_the_network_saw(gif: pathlib.Path, tmp_path: pathlib.Path) -> None:
    translate_clip(_Negative(), gif, tmp_path / 'out.gif', Settings(), side_by_side=True)
    for frame, pixels in zip(_frames(tmp_path / 'out.gif'), pictures(5, 40, 50)):
        assert frame.pixels.shape == (SIZE, 2 * SIZE, 3)
        assert _near(frame.pixels[:, :SIZE], np.rint(resize(pixels, SIZE).pixels).astype(np.uint8))
        assert _near(frame.pixels[:, SIZE:], _square(pixels))


def test_keep_size_beside_the_untouched_input(gif: pathlib.Path, tmp_path: pathlib.Path) -> None:
    settings = Settings(keep_size=True, resize='pad')
    translate_clip(_Negative(), gif, tmp_path / 'out.gif', settings, side_by_side=True)
    for frame, pixels in zip(_frames(tmp_path / 'out.gif'), pictures(5, 40, 50)):
        assert frame.pixels.shape == (40, 100, 3) and np.array_equal(frame.pixels[:, :50], pixels)


def test_odd_sizes_lose_a_row_and_say_so(tmp_path: pathlib.Path) -> None:
    from tests.data.tiny_clips import pictures as draw

    frames = [Image.fromarray(pixels) for pixels in draw(3, 41, 51)]
    frames[0].save(tmp_path / 'in.gif', save_all=True, append_images=frames[1:], duration=50)
    done = translate_clip(_Negative(), tmp_path / 'in.gif', tmp_path / 'out.mp4', Settings(keep_size=True))
    assert _frames(tmp_path / 'out.mp4')[0].pixels.shape == (40, 50, 3)
    assert done.warnings == ('video formats want even sizes, so the last row or column of pixels is cut off',)


def test_a_video_end_to_end_with_its_sound(tiny_checkpoint, tmp_path: pathlib.Path, capsys) -> None:
    source, target, report = write_video(tmp_path / 'in.mp4'), tmp_path / 'made' / 'out.mp4', tmp_path / 'report.json'
    words = [f'--checkpoint={tiny_checkpoint}', f'--input={source}', f'--output={target}', '--batch_size=4']
    assert _infer(*words, '--side_by_side', f'--json={report}') == 0
    assert f'30 frames translated, 1.2 s at 25 frames/s: {target}' in capsys.readouterr().err
    with open_clip(target) as reader:
        assert reader.info[:3] == (SIZE, 2 * SIZE, 30) and reader.info.rate == 25 and reader.info.audio
    found = json.loads(report.read_text())
    assert found['video'] == {'frames': 30, 'seconds': 1.2, 'rate': 25.0}
    assert (found['inputs'][0]['height'], found['inputs'][0]['width']) == (48, 64)
    before = target.read_bytes()
    assert _infer(*words, '--side_by_side') == 0
    assert '1 file of an earlier run will be replaced' in capsys.readouterr().err
    assert len(target.read_bytes()) == len(before)
    assert [path.name for path in target.parent.iterdir()] == ['out.mp4']


def test_into_a_folder_it_is_called_after_the_input(tiny_checkpoint, tmp_path: pathlib.Path) -> None:
    source = write_video(tmp_path / 'clip.mkv', count=3, sound=None)
    assert _infer(f'--checkpoint={tiny_checkpoint}', source, f'--output={tmp_path / "out"}') == 0
    assert [path.name for path in (tmp_path / 'out').iterdir()] == ['clip_a2b.mkv']


def test_a_plan_is_measured_on_frames(tiny_checkpoint, gif: pathlib.Path, tmp_path: pathlib.Path, capsys) -> None:
    words = [f'--checkpoint={tiny_checkpoint}', f'--input={gif}', f'--output={tmp_path / "out.gif"}']
    assert _infer(*words, '--precision=mixed_float16', '--ranges=auto') == 0
    assert 'ranges: ' in capsys.readouterr().err


def test_a_face_is_cropped_once_for_the_clip(golden: pathlib.Path, tmp_path: pathlib.Path, tiny: Translator) -> None:
    pytest.importorskip('cv2')
    face = Image.open(golden / 'images' / 'female_222.jpg').resize((120, 120))
    frames = []
    for number in range(6):
        canvas = Image.new('RGB', (320, 240), (90, 110, 120))
        canvas.paste(face, (80 + 4 * number, 60))
        frames.append(canvas)
    frames[0].save(tmp_path / 'in.gif', save_all=True, append_images=frames[1:], duration=50)
    settings = Settings(face_crop='auto', paste_back=True)
    crop = clip_crop(tmp_path / 'in.gif', settings)
    found = np.array(crop.window) - Window(60, 90, 120)
    assert np.abs(found).max() <= 120 * tolerances.FACE_FRAMING and crop.notes == ()
    translate_clip(_Negative(), tmp_path / 'in.gif', tmp_path / 'out.mp4', settings, crop)
    top, left, side = crop.window
    for frame, canvas in zip(_frames(tmp_path / 'out.mp4'), frames):
        changed = np.abs(frame.pixels.astype(int) - np.asarray(canvas)).max(axis=-1) > 40
        assert changed[top + side // 3 : top + side // 2, left + side // 3 : left + 2 * side // 3].mean() > 0.5
        changed[top : top + side, left : left + side] = False
        assert changed.mean() < 0.01


def test_a_clip_without_a_face_says_so(gif: pathlib.Path) -> None:
    pytest.importorskip('cv2')
    crop = clip_crop(gif, Settings(face_crop='auto'))
    assert crop.window == Window(0, 5, 40) and crop.notes == ('no face was found, so the centre is used',)


def _interrupt() -> None:
    raise KeyboardInterrupt


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(('event', 'error'), [(_interrupt, KeyboardInterrupt), (_terminate, KeyboardInterrupt),
                                              (float('nan'), UserError)])  # fmt: skip
@pytest.mark.parametrize('suffix', ['.mp4', '.gif'])
def test_what_ends_in_the_middle_leaves_nothing(gif, tmp_path: pathlib.Path, event, error, suffix: str) -> None:
    target = tmp_path / f'out{suffix}'
    target.write_bytes(b'earlier')
    with pytest.raises(error):
        translate_clip(_Negative(3, event), gif, target, Settings())
    assert sorted(path.name for path in tmp_path.iterdir()) == ['in.gif', target.name]
    assert target.read_bytes() == b'earlier'
    assert signal.getsignal(signal.SIGTERM) != signal.default_int_handler


def test_nan_is_named_with_its_time(gif: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match=r'in\.gif, at 0\.15 s: the result has 768 NaN or infinite values'):
        translate_clip(_Negative(3, float('nan')), gif, tmp_path / 'out.gif', Settings())


def test_a_flat_frame_is_no_end(gif: pathlib.Path, tmp_path: pathlib.Path) -> None:
    model = _Negative(0, 0.5)
    done = translate_clip(model, gif, tmp_path / 'out.gif', Settings())
    assert done.warnings == ('5 of 5 frames came out as one flat colour',)


def test_progress_counts_frames(gif: pathlib.Path, tmp_path: pathlib.Path) -> None:
    seen: List[Any] = []

    class Bar:
        def __init__(self, items: Any, noun: str) -> None:
            seen.append((len(items), noun))

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def advance(self, count: int = 1) -> None:
            seen.append(count)

    translate_clip(_Negative(), gif, tmp_path / 'out.gif', Settings(batch_size=2), progress=Bar)
    assert seen == [(5, 'frames'), 1, 1, 1, 1, 1]


REFUSED = {
    'two videos': (['a.mp4', 'b.mp4'], [], 'a.mp4 is a video, and a video is translated on its own'),
    'a picture too': (['a.mp4', 'c.png'], [], 'leave out the other inputs'),
    'no video': (['c.png'], ['--output=o.mp4'], 'the input must be one video or animated GIF'),
    'onto itself': (['a.mp4'], ['--output=a.mp4'], 'would overwrite the input'),
    'onto another': (['a.mp4'], ['--output=b.mp4'], 'is there already and is no result of ours'),
    'another format': (['a.mp4'], ['--output=o.avi'], 'videos are written as .mp4, .m4v, .mov, .mkv, .webm, .gif'),
    'a picture out of it': (['a.mp4'], ['--output=o.png'], 'videos are written as'),
    'heat maps': (['a.mp4'], ['--output=o.mp4', '--heatmap'], '--heatmap is for pictures, but a.mp4 is a video'),
    'every face': (['a.mp4'], ['--output=o.mp4', '--face_crop=all'], 'use --face_crop=auto'),
    'broken': (['bad.mp4'], ['--output=o.mp4'], 'expected a video, but bad.mp4 cannot be read as one'),
    'too large': (['a.mp4'], ['--output=o.mp4', '--max_pixels=100'], 'expected at most 100 pixels, but a.mp4 has 3072'),
    'pictures only': (['c.png'], ['--side_by_side'], '--side_by_side is for videos'),
}


@pytest.mark.parametrize('name', REFUSED)
def test_what_cannot_be_is_one_sentence(tiny_checkpoint, tmp_path, monkeypatch, capsys, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    for clip in ('a.mp4', 'b.mp4'):
        write_video(pathlib.Path(clip), count=3, sound=None)
    Image.fromarray(pictures(1)[0]).save('c.png')
    pathlib.Path('bad.mp4').write_bytes(b'no video\n' * 100)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    sources, words, expected = REFUSED[name]
    if 'face' in name:
        pytest.importorskip('cv2')
    assert _infer(f'--checkpoint={tiny_checkpoint}', *sources, *words) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith('error: ')]
    assert expected in line
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
