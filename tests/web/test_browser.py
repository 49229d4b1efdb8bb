"""The page in a real browser: what a visitor does, and that nothing of it leaves this machine."""

from __future__ import annotations

import io
import pathlib
from typing import Any, Iterator

import numpy as np
import pytest
from PIL import Image

from tests.data import odd_files as odd
from tests.web import browser as driver
from tests.web.conftest import Served
from ugatit.web.upload import Upload

pytest.importorskip('gradio')
pytest.importorskip('playwright')
if driver.find_browser() is None:
    pytest.skip('no Chromium on the path, and CHROMIUM names none', allow_module_level=True)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings('ignore::DeprecationWarning:gradio.*')]


@pytest.fixture(scope='module')
def chromium() -> Iterator[Any]:
    with driver.open_browser() as found:
        yield found


@pytest.fixture
def visit(chromium: Any, served: Served) -> Iterator[driver.Visit]:
    """A visitor; whatever they do, no request may leave the machine and nothing may break."""
    visitor = driver.Visit(chromium, served.address)
    yield visitor
    assert len(visitor.asked) > 20 and visitor.foreign() == []
    assert visitor.complaints == []
    visitor.close()


def _photo(folder: pathlib.Path, seed: int) -> pathlib.Path:
    random = np.random.RandomState(seed)
    coarse = Image.fromarray(random.randint(0, 256, (4, 4, 3)).astype(np.uint8))
    path = folder / f'me_{seed}.png'
    coarse.resize((60 + seed, 60), Image.BILINEAR).save(path)
    return path


def _shown(visit: driver.Visit, where: str) -> list:
    return [np.asarray(Image.open(io.BytesIO(data)).convert('RGB')) for data in visit.pictures(where)]


def _wanted(served: Served, path: pathlib.Path, direction: str) -> Any:
    return served.answers.translate(Upload(str(path), path.name), direction, 'crop', 'off')


def test_an_example_is_translated_before_anybody_asks(visit: driver.Visit) -> None:
    assert '64 × 64 pixels' in visit.status('0.png')
    assert len(_shown(visit, 'result')) == 2


def test_upload_and_both_directions(visit: driver.Visit, served: Served, tmp_path: pathlib.Path) -> None:
    path = _photo(tmp_path, 3)
    visit.upload(path)
    assert 'me_3.png: 63 × 60 pixels' in visit.status('me_3.png')
    for direction, label in (('b2a', 'anime →'), ('a2b', 'photograph →')):
        visit.choose('direction', label)
        visit.status(f'({direction})')
        pair, attention, _ = _wanted(served, path, direction)
        assert all(np.array_equal(found, pixels) for found, pixels in zip(_shown(visit, 'result'), pair))
        assert np.array_equal(_shown(visit, 'attention')[0], attention)


def test_an_example_brings_its_direction(visit: driver.Visit) -> None:
    visit.page.locator('#examples button').nth(1).click()
    assert '1.png' in visit.status('(b2a)')


def test_the_labs_switches(visit: driver.Visit) -> None:
    visit.tab('Float16 lab')
    visit.ranges('as the checkpoint is')
    plain = visit.pictures('difference')
    visit.choose('kind', 'float16 with')
    assert 'The plan was made of 2 pictures' in visit.ranges('stored with the plan')
    visit.choose('kind', 'float32')
    visit.verdict('the same bits')
    assert not _shown(visit, 'difference')[0].any() and visit.pictures('difference') != plain
    visit.choose('kind', 'float16 as')
    visit.choose('overflow', 'infinity')
    visit.ranges('infinity, and soon NaN')
    visit.choose('weights', 'as loaded')
    visit.ranges('fit float16')
    assert visit.overhang() <= 0


@pytest.mark.parametrize('name', ['words.png', 'cut.jpg', 'strip.png'])
def test_a_bad_file_is_answered_in_place_of_the_result(visit: driver.Visit, tmp_path: pathlib.Path, name: str) -> None:
    data = {
        'words.png': b'just words',
        'cut.jpg': odd.encode(odd.photo(90, 90), 'JPEG')[:900],
        'strip.png': odd.encode(odd.photo(1, 5000)),
    }
    (tmp_path / name).write_bytes(data[name])
    visit.upload(tmp_path / name)
    said = visit.status(f'{name}: expected').strip()
    assert said.splitlines()[-1].startswith(f'{name}: expected')  # Gradio may still show its clock in front
    assert visit.page.locator('#status [role=alert]').count() == 1
    assert visit.page.locator('#result img').count() == 0
    visit.upload(_photo(tmp_path, 5))
    assert len(_shown(visit, 'result')) == 2 and 'me_5.png' in visit.status('me_5.png')
    visit.complaints[:] = [said for said in visit.complaints if 'Failed to load' not in said]


def test_a_file_that_is_too_large_is_answered_before_it_is_sent(visit: driver.Visit, tmp_path: pathlib.Path) -> None:
    (tmp_path / 'large.png').write_bytes(bytes(1_100_000))
    visit.upload(tmp_path / 'large.png')
    visit.page.get_by_text('exceed the maximum allowed size of 1').wait_for()
    assert not any('upload?' in url for url in visit.asked)


def test_the_camera(visit: driver.Visit) -> None:
    visit.page.locator('#picture button[aria-label="Remove Image"]').click()
    visit.page.locator('#picture button[aria-label="Capture from camera"]').click()
    visit.page.locator('#picture [title="grant webcam access"] button').click()
    visit.page.locator('#picture button[aria-label="capture photo"]').click()
    assert ' pixels, seen by the network as 16 × 16' in visit.status('image.png')


def test_two_people_at_once(chromium: Any, served: Served, tmp_path: pathlib.Path) -> None:
    visits = [driver.Visit(chromium, served.address, width) for width in driver.WIDTHS]
    for turn in range(3):
        paths = [_photo(tmp_path, 10 + 2 * turn + person) for person in range(2)]
        for visitor, path in zip(visits, paths):
            visitor.upload(path)
        for visitor, path in zip(visits, paths):
            visitor.status(path.name)
            assert np.array_equal(_shown(visitor, 'result')[1], _wanted(served, path, 'a2b')[0][1])
    for visitor in visits:
        assert visitor.foreign() == [] and visitor.overhang() <= 0
        visitor.close()


def test_the_browser_would_not_ask_another_host(visit: driver.Visit) -> None:
    """The control of every check that nothing leaves: what tries is stopped, and is seen."""
    code = "fetch('http://example.invalid/').then(() => 'sent', error => 'stopped')"
    assert visit.page.evaluate(code) == 'stopped'
    visit.page.evaluate(
        "new Promise(done => { const i = new Image(); i.onerror = done; i.src = 'http://example.invalid/i'; })"
    )
    stopped = [said for said in visit.complaints if 'Content Security Policy' in said]
    assert len(stopped) >= 2 and len(stopped) == len(visit.complaints)
    visit.complaints.clear()
    visit.asked[:] = [url for url in visit.asked if 'example.invalid' not in url]


def test_nothing_is_kept_in_the_browser(visit: driver.Visit, tmp_path: pathlib.Path) -> None:
    visit.upload(_photo(tmp_path, 4))
    visit.status('me_4.png')
    kept = visit.page.evaluate('indexedDB.databases().then(all => all.map(one => one.name))')
    stored = visit.page.evaluate('JSON.stringify(localStorage) + JSON.stringify(sessionStorage)')
    assert kept == [] and 'me_4' not in stored
