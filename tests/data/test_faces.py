"""Faces on photographs: found where they were put, framed as the data are, put back where they came from."""

from __future__ import annotations

import pathlib
import sys
import threading
from typing import List, NamedTuple, Tuple

import numpy as np
import pytest
from PIL import Image

from tests import tolerances
from ugatit.data import faces
from ugatit.data.face_crop import Window, centre_window, cut, face_window, find_crop, find_crops, paste_back
from ugatit.data.faces import Face, find_faces
from ugatit.errors import UserError

SELFIES = ('female_222.jpg', 'female_2321.jpg')


class Placed(NamedTuple):
    """A selfie somewhere on a canvas: its centre, its edge, and degrees counter-clockwise."""

    x: float
    y: float
    edge: int
    tilt: int = 0
    selfie: int = 0

    def framed(self) -> np.ndarray:
        """left, top, edge of the square that the data's framing is around this face."""
        return np.array([self.x - self.edge / 2, self.y - self.edge / 2, self.edge])


@pytest.fixture(scope='module')
def selfies(golden: pathlib.Path) -> List[Image.Image]:
    """The data set's two photographs; skips where OpenCV 4 is missing."""
    cv2 = pytest.importorskip('cv2')
    if not hasattr(cv2, 'CascadeClassifier'):
        pytest.skip('this OpenCV has no cascades')
    return [Image.open(golden / 'images' / name).convert('RGB') for name in SELFIES]


def _canvas(selfies: List[Image.Image], *placed: Placed, size: Tuple[int, int] = (640, 480)) -> np.ndarray:
    """A soft background with selfies on it."""
    noise = np.random.default_rng(1).integers(60, 200, (6, 8, 3)).astype(np.uint8)
    canvas = Image.fromarray(noise).resize(size, Image.BICUBIC)
    for x, y, edge, tilt, selfie in placed:
        picture = selfies[selfie].resize((edge, edge), Image.BILINEAR)
        mask = Image.new('L', (edge, edge), 255).rotate(tilt, Image.BICUBIC, expand=True)
        picture = picture.rotate(tilt, Image.BICUBIC, expand=True)
        canvas.paste(picture, (round(x - picture.width / 2), round(y - picture.height / 2)), mask)
    return np.asarray(canvas)


def _misplaced(window: Window, placed: Placed) -> float:
    """How far left edge, top edge or size is from the data's framing, as a share of its edge; the worst of them."""
    left, top, edge = np.abs(np.array([window.left, window.top, window.side]) - placed.framed()) / placed.edge
    return max(left, top, edge)


@pytest.mark.parametrize('selfie', [0, 1])
def test_a_picture_of_the_data_set_stays_whole(selfies: List[Image.Image], selfie: int) -> None:
    crop = find_crop(np.asarray(selfies[selfie]))
    assert crop.face is not None and crop.notes == ()
    assert _misplaced(crop.window, Placed(128, 128, 256)) <= tolerances.FACE_FRAMING_DATA


PLACEMENTS = {
    'large': Placed(320, 240, 400),
    'small': Placed(500, 120, 70),
    'small, other face': Placed(140, 330, 90, selfie=1),
    'leaning left': Placed(300, 240, 250, 10),
    'leaning right': Placed(300, 240, 250, -10),
    'tilted left': Placed(320, 230, 260, 20, 1),
    'tilted right': Placed(320, 230, 260, -25),
    'in the corner': Placed(90, 85, 180),
    'cut by the left border': Placed(70, 240, 300),
    'cut by the lower border': Placed(400, 420, 200),
    'cut by the right border': Placed(560, 220, 200, selfie=1),
    'wider than the picture': Placed(320, 240, 500),
}


@pytest.mark.parametrize('name', PLACEMENTS)
def test_a_face_is_framed_wherever_it_is(selfies: List[Image.Image], name: str) -> None:
    placed = PLACEMENTS[name]
    crop = find_crop(_canvas(selfies, placed))
    assert crop.face is not None
    assert _misplaced(crop.window, placed) <= tolerances.FACE_FRAMING
    assert all('faces were found' not in note for note in crop.notes)


def test_the_largest_of_two_is_taken_and_said(selfies: List[Image.Image]) -> None:
    small, large = Placed(150, 240, 160), Placed(450, 240, 240, selfie=1)
    crop = find_crop(_canvas(selfies, small, large))
    assert _misplaced(crop.window, large) <= tolerances.FACE_FRAMING
    assert crop.notes == ('2 faces were found, and the largest is used',)


def test_every_face_is_found_from_left_to_right_tilted_ones_too(selfies: List[Image.Image]) -> None:
    placed = (Placed(150, 200, 220, -20), Placed(450, 260, 240, selfie=1))
    crops = find_crops(_canvas(selfies, *placed))
    assert len(crops) == 2
    for crop, one in zip(crops, placed):
        assert _misplaced(crop.window, one) <= tolerances.FACE_FRAMING


def test_specks_in_the_background_are_no_faces_of_the_picture(selfies: List[Image.Image]) -> None:
    assert len(find_crops(_canvas(selfies, Placed(400, 240, 400), Placed(90, 90, 70)))) == 1


@pytest.mark.parametrize('every', [False, True])
def test_without_a_face_the_centre_is_used_and_said(selfies: List[Image.Image], every: bool) -> None:
    canvas = _canvas(selfies)
    crop = find_crops(canvas)[0] if every else find_crop(canvas)
    assert crop.face is None and crop.window == Window(0, 80, 480)
    assert crop.notes == ('no face was found, so the centre is used',)


@pytest.mark.parametrize('shape', [(1, 1), (3, 500), (30, 30)])
def test_pictures_too_small_for_a_face(selfies: List[Image.Image], shape: Tuple[int, int]) -> None:
    assert find_crop(np.full((*shape, 3), 90, np.uint8)).window == centre_window(*shape)


def test_a_small_face_is_called_soft(selfies: List[Image.Image]) -> None:
    (note,) = find_crop(_canvas(selfies, Placed(500, 120, 70))).notes
    assert note.startswith('the face is only') and note.endswith('pixels wide, so expect a soft result')


def test_a_large_photograph_is_searched_in_small_and_framed_in_large(selfies: List[Image.Image]) -> None:
    placed = Placed(2400, 1500, 900)
    assert _misplaced(find_crop(_canvas(selfies, placed, size=(4000, 3000))).window, placed) <= tolerances.FACE_FRAMING


def test_threads_find_the_same(selfies: List[Image.Image]) -> None:
    """A classifier has buffers of its own: shared by threads, it crashes or finds something else."""
    canvas, found = _canvas(selfies, PLACEMENTS['large']), []
    threads = [threading.Thread(target=lambda: found.append(find_faces(canvas))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [find_faces(canvas)] * 4


def test_a_window_moves_by_a_tenth_before_anything_is_mirrored() -> None:
    assert face_window(Face(100, 100, 141, 0), 400, 400) == Window(12, 0, 200)
    assert face_window(Face(85, 100, 141, 0), 400, 400) == Window(12, 0, 200)
    assert face_window(Face(70, 100, 141, 0), 400, 400) == Window(12, -10, 200)
    assert face_window(Face(100, 90, 141, 0), 190, 190) == Window(0, 0, 190)
    assert face_window(Face(80, 80, 141, 0), 160, 160).side == 180


def test_what_lies_outside_is_mirrored() -> None:
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    assert np.array_equal(cut(pixels, Window(0, 0, 4)), pixels)
    assert np.array_equal(cut(pixels, Window(1, 1, 2)), pixels[1:3, 1:3])
    out = cut(pixels, Window(-2, 2, 4))
    assert np.array_equal(out[2:, :2], pixels[:2, 2:])
    assert np.array_equal(out[:2, :2], pixels[1::-1, 2:]) and np.array_equal(out[2:, 2:], pixels[:2, :1:-1])


def test_a_result_is_put_back_with_a_soft_edge() -> None:
    photograph = np.full((200, 300, 3), 50, np.uint8)
    done = paste_back(photograph, np.full((64, 64, 3), 250, np.uint8), Window(50, 100, 100))
    assert np.array_equal(done[:50], photograph[:50]) and np.array_equal(done[:, :100], photograph[:, :100])
    assert (done[70:130, 120:180] == 250).all()
    edge = done[100, 100:113, 0].astype(int)
    assert (np.diff(edge) > 0).all() and edge[0] < 60
    assert (photograph == 50).all()


def test_at_the_photographs_own_edge_nothing_fades() -> None:
    done = paste_back(np.full((100, 100, 3), 50, np.uint8), np.full((64, 64, 3), 250, np.uint8), Window(-10, 0, 60))
    assert (done[0, :50] == 250).all() and (done[:40, 0] == 250).all() and (done[49] < 60).all()


def test_a_window_put_back_unchanged_changes_nothing(selfies: List[Image.Image]) -> None:
    canvas = _canvas(selfies, PLACEMENTS['cut by the left border'])
    window = find_crop(canvas).window
    assert window.left < 0
    assert np.array_equal(paste_back(canvas, cut(canvas, window), window), canvas)


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenCV as if it had never been looked for."""
    monkeypatch.setattr(faces, '_LOCAL', threading.local())
    faces._opencv.cache_clear()
    yield
    faces._opencv.cache_clear()


def test_without_opencv_the_line_to_install_it(nothing_loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'cv2', None)
    with pytest.raises(UserError, match=r"finding faces needs OpenCV, .*pip install -e '\.\[faces\]'"):
        faces.require_detector()


def test_opencv_5_has_no_cascades(nothing_loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)('cv2')
    module.__version__ = '5.0.0'
    monkeypatch.setitem(sys.modules, 'cv2', module)
    with pytest.raises(UserError, match=r'cascades of OpenCV 4, but 5\.0\.0 is installed'):
        faces.require_detector()
