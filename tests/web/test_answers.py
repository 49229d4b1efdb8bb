"""What the page shows: results, or a sentence in their place; nothing that was sent is taken for HTML."""

from __future__ import annotations

import concurrent.futures
import html
import pathlib
import re
from html.parser import HTMLParser
from typing import Callable, List

import numpy as np
import pytest
from PIL import Image

from tests.data import odd_files as odd
from tests.data.test_faces import SELFIES
from tests.web.conftest import Lab
from ugatit.checkpoints.demo import demo_pictures
from ugatit.ranges.kinds import SQUARE
from ugatit.web import words
from ugatit.web.answers import Answers
from ugatit.web.models import Arithmetic, Models
from ugatit.web.upload import Upload

Send = Callable[[str, bytes], Upload]
PHOTO = odd.photo(48, 48)


def _uploads(direction: str) -> List[Upload]:
    return [Upload(str(path), path.name) for path in sorted(demo_pictures(direction).iterdir())]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: List[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.found.append(tag)


def _tags(text: str) -> set:
    parser = _Tags()
    parser.feed(text)
    return set(parser.found)


def test_a_refusal_stands_where_the_result_would(answers: Answers, send: Send) -> None:
    name = '<img src=x onerror=alert(1)>.png'
    pair, attention, said = answers.translate(send(name, b'no picture'), 'a2b', 'crop', 'off')
    assert pair is None and attention is None
    assert 'role="alert"' in said and html.escape(name) in said and _tags(said) == {'p'}
    verdict, pair, difference, ranges = answers.lab(send(name, b''), 'a2b', 'crop', 'off', 'loaded', 'plain', 'ieee')
    assert (pair, difference, ranges) == (None, None, '') and 'an empty file' in verdict


def test_the_name_in_the_status_is_text(answers: Answers, send: Send) -> None:
    _, _, said = answers.translate(send('<b>me</b>.png', odd.encode(PHOTO)), 'a2b', 'crop', 'off')
    assert '&lt;b&gt;me' in said and _tags(said) == {'p'}


def test_no_picture_is_a_hint_and_no_alarm(answers: Answers) -> None:
    said = answers.translate(None, 'a2b', 'crop', 'off')[2]
    assert 'There is no picture yet' in said and 'alert' not in said


def test_a_flat_picture_is_refused_as_infer_does(answers: Answers, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    models: Models = answers._models
    translator = models.translator('a2b')
    flat = translator(np.zeros((1, 64, 64, 3), np.float32))._replace(image=np.zeros((1, 64, 64, 3), np.float32))
    monkeypatch.setattr(models, 'translator', lambda *_: _Constant(flat, translator.image_size))
    white = send('white.png', odd.encode(np.full((64, 64, 3), 255, np.uint8)))
    for said in (answers.translate(white, 'a2b', 'crop', 'off')[2],
                 answers.lab(white, 'a2b', 'crop', 'off', 'loaded', 'plain', 'ieee')[0]):  # fmt: skip
        assert 'one flat colour, and so is the result' in said


class _Constant:
    def __init__(self, found: object, image_size: int) -> None:
        self._found, self.image_size = found, image_size

    def __call__(self, images: np.ndarray) -> object:
        return self._found


@pytest.mark.parametrize(('field', 'value'), [('direction', 'c2d'), ('resize', 'fold'), ('face_crop', 'some')])
def test_values_that_no_page_sends_are_refused(answers: Answers, send: Send, field: str, value: str) -> None:
    sent = {'direction': 'a2b', 'resize': 'crop', 'face_crop': 'off', field: value}
    pair, _, said = answers.translate(send('a.png', odd.encode(PHOTO)), **sent)
    assert pair is None and 'alert' in said and value in said


def test_the_face_is_looked_for_where_that_is_wanted(answers: Answers) -> None:
    pytest.importorskip('cv2')
    upload = _uploads('a2b')[0]
    whole, face = (answers.translate(upload, 'a2b', 'crop', face_crop) for face_crop in ('off', 'auto'))
    assert 'line_1.png: no face was found, so the centre is used' in face[2] and 'no face' not in whole[2]
    assert np.array_equal(face[0][0], whole[0][0])  # the centre of a square is all of it


def test_a_face_is_cut_out_of_a_photograph(answers: Answers, send: Send, golden: pathlib.Path) -> None:
    pytest.importorskip('cv2')
    selfie = Image.open(golden / 'images' / SELFIES[0]).convert('RGB')
    canvas = Image.new('RGB', (900, 500), (90, 120, 150))
    canvas.paste(selfie.resize((256, 256)), (600, 120))
    upload = send('holiday.png', odd.encode(np.asarray(canvas)))
    whole, face = (answers.translate(upload, 'a2b', 'crop', face_crop)[0][0] for face_crop in ('off', 'auto'))
    there = np.asarray(selfie.resize((64, 64), Image.BILINEAR), np.float64)
    assert np.abs(face - there).mean() < np.abs(whole - there).mean() / 2


def test_many_at_once_each_get_their_own(answers: Answers) -> None:
    jobs = [(upload, direction) for direction in ('a2b', 'b2a') for upload in _uploads(direction)] * 3
    alone = {job: answers.translate(*job, 'crop', 'off') for job in set(jobs)}
    assert len({found[0][1].tobytes() for found in alone.values()}) == len(alone) == 12
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda job: answers.translate(*job, 'crop', 'off'), jobs))
    for job, found in zip(jobs, together):
        assert np.array_equal(found[0][1], alone[job][0][1]) and np.array_equal(found[1], alone[job][1])
        assert job[0].name in found[2]


@pytest.mark.slow
def test_the_lab_answers_with_what_was_computed(answers: Answers, lab: Lab) -> None:
    upload = _uploads('a2b')[0]
    verdict, pair, difference, ranges = answers.lab(upload, 'a2b', 'crop', 'off', 'loaded', 'plain', 'saturate')
    found = lab('plain', 'saturate', False)
    assert np.array_equal(pair[0], found.exact) and np.array_equal(pair[1], found.picture)
    assert np.array_equal(difference, found.difference) and verdict == words.verdict(found)
    assert ranges == words.ranges(found, Arithmetic('plain'), '2 pictures')


@pytest.mark.slow
def test_the_lab_says_what_it_shows(lab: Lab) -> None:
    settings = [('float32', 'saturate', True), ('plain', 'saturate', True), ('plain', 'ieee', True),
                ('planned', 'saturate', True), ('plain', 'saturate', False)]  # fmt: skip
    same, wrong, none, planned, healthy = (words.verdict(lab(*chosen)) for chosen in settings)
    assert 'the same bits' in same and 'A wrong picture' in wrong and 'no picture' in none
    for said in (planned, healthy):
        assert re.search(r'<b>\d\d\.\d dB</b>', said) and 'Nobody sees a difference' in said
    plots = [words.ranges(lab(*chosen), Arithmetic(*chosen), '2 pictures') for chosen in settings]
    assert re.search(r'\d+ tensors of 303 pass 65504', plots[1]) and 'as the checkpoint is' in plots[1]
    assert 'They are cut off there' in plots[1] and 'infinity, and soon NaN' in plots[2] and 'has room' in plots[0]
    assert 'stored with the plan' in plots[3] and 'everything fits' in plots[3] and 'made of 2 pictures' in plots[3]
    assert 'All 303 tensors fit float16' in plots[4]


@pytest.mark.slow
def test_squares_count_where_they_are_float16(lab: Lab) -> None:
    found = lab('plain', 'saturate', True)
    counts = [
        int(re.search(r'(\d+) tensors of', words.ranges(found, Arithmetic('plain', precision=precision), '')).group(1))
        for precision in ('mixed_float16', 'float16')
    ]
    squares = sum(row.range.overflows and row.range.kind == SQUARE for row in found.report.rows)
    assert squares > 0 and counts[1] == counts[0] + squares


def test_the_legend_is_the_maps_scale() -> None:
    assert 'rgb(0, 0, 0), rgb(62, 28, 128)' in words.scale() and 'left:33.3%">1<' in words.scale()
