"""The result page: needs no other file, shows any name as it is, says what failed."""

from __future__ import annotations

import base64
import html.parser
import io
import os
import pathlib
import urllib.parse
from typing import Dict, List, Optional, Tuple

import numpy as np
import pytest
from PIL import Image

from tests.data import odd_files as odd
from ugatit.inference.gallery import Gallery
from ugatit.inference.inputs import Input
from ugatit.inference.results import Small
from ugatit.inference.run import Outcome, Shown

ODD = "<b>&'.png"


class _Page(html.parser.HTMLParser):
    """Elements with their attributes, and that all are closed."""

    VOID = ('meta', 'img', 'br')

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: List[str] = []
        self.elements: List[Tuple[str, Dict[str, Optional[str]]]] = []
        self.text: List[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> List[Dict[str, Optional[str]]]:
        return [attributes for name, attributes in self.elements if name == tag]


def _shown(folder: pathlib.Path, name: str = ODD, heatmap: bool = True, error: Optional[str] = None) -> Shown:
    source = Input(pathlib.Path('in') / name, pathlib.PurePath(name))
    if error is not None:
        return Shown(Outcome(source, error=error), None, None)
    stem = pathlib.PurePath(name).stem
    files = (folder / f'{stem}_a2b_heatmap.png', folder / f'{stem}_a2b.png')
    small = Small(odd.photo(16, 16), odd.photo(16, 16) if heatmap else None)
    outcome = Outcome(source, files[0 if heatmap else 1 :], warnings=('low <range>',), size=(24, 32))
    return Shown(outcome, odd.photo(), small)


def _page(folder: pathlib.Path, *shown: Shown, direction: str = 'a2b') -> Tuple[_Page, str]:
    gallery = Gallery(folder, direction, 'model: <tiny> & small')
    for item in shown:
        gallery.add(item)
    path = gallery.save()
    assert path == folder / f'gallery_{direction}.html'
    text = path.read_text('utf-8')
    page = _Page(text)
    assert page.open == []
    return page, text


def test_a_page_needs_no_other_file(tmp_path: pathlib.Path) -> None:
    page, text = _page(tmp_path, _shown(tmp_path))
    assert {attributes['src'][:23] for attributes in page.all('img')} == {'data:image/jpeg;base64,'}
    assert 'http:' not in text and 'https:' not in text and '<script' not in text and '<link' not in text
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(page.all('img')[0]['src'][23:]))))
    assert pixels.shape == (16, 16, 3)


def test_odd_names_are_text_and_links_lead_to_the_files(tmp_path: pathlib.Path) -> None:
    page, text = _page(tmp_path, _shown(tmp_path))
    assert ODD in page.text and page.all('b') == [] and 'low <range>' in page.text
    links = [attributes['href'] for attributes in page.all('a')]
    assert [urllib.parse.unquote(link) for link in links] == ["<b>&'_a2b.png", "<b>&'_a2b_heatmap.png"]
    assert not any(character in link for link in links for character in '<>&\'"')


@pytest.mark.parametrize('name', ['a#b?.png', '100%.png', 'c:d.png', '写真 café.png', 'two\nlines.png', '"><i>.png'])
def test_links_and_texts_of_more_odd_names(tmp_path: pathlib.Path, name: str) -> None:
    page, _ = _page(tmp_path, _shown(tmp_path, name))
    (link, _) = [attributes['href'] for attributes in page.all('a')]
    parts = urllib.parse.urlsplit(link)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ('', '', '', '')
    assert urllib.parse.unquote(link) == f'{pathlib.PurePath(name).stem}_a2b.png'
    assert page.all('i') == []


@pytest.mark.skipif(os.name == 'nt', reason='names are text there')
def test_names_that_are_no_text(tmp_path: pathlib.Path) -> None:
    page, _ = _page(tmp_path, _shown(tmp_path, os.fsdecode(b'caf\xe9.png')))
    assert 'caf\\xe9.png' in page.text
    assert page.all('a')[0]['href'] == 'caf%E9_a2b.png'


def test_results_in_subfolders(tmp_path: pathlib.Path) -> None:
    page, _ = _page(tmp_path, _shown(tmp_path / 'one', 'a.png'))
    assert page.all('a')[0]['href'] == 'one/a_a2b.png'


def test_every_picture_says_what_it_shows(tmp_path: pathlib.Path) -> None:
    page, _ = _page(tmp_path, _shown(tmp_path))
    texts = [attributes['alt'] for attributes in page.all('img')]
    assert texts == [
        f'{ODD} as anime picture',
        f'{ODD}, the photograph that was given',
        f'{ODD} with the attention map: red where the network looked most, blue where least',
    ]
    back, _ = _page(tmp_path, _shown(tmp_path), direction='b2a')
    assert back.all('img')[0]['alt'] == f'{ODD} as photograph'
    assert page.all('html')[0]['lang'] == 'en'


def test_phone_and_dark(tmp_path: pathlib.Path) -> None:
    page, text = _page(tmp_path, _shown(tmp_path))
    named = {
        attributes.get('name'): attributes['content'] for attributes in page.all('meta') if 'content' in attributes
    }
    assert named['viewport'] == 'width=device-width, initial-scale=1'
    assert named['color-scheme'] == 'light dark' and 'prefers-color-scheme: dark' in text


def test_failures_and_counts(tmp_path: pathlib.Path) -> None:
    shown = [_shown(tmp_path, 'a.png', heatmap=False), _shown(tmp_path, error="in/<b>&'.png: broken <here>")]
    page, text = _page(tmp_path, *shown)
    assert '1 picture translated, 1 failed' in page.text and "in/<b>&'.png: broken <here>" in page.text
    assert 'Attention' not in ''.join(page.text)
    assert [attributes['class'] for attributes in page.all('article')] == ['done', 'failed']


def test_only_an_earlier_page_is_replaced(tmp_path: pathlib.Path) -> None:
    _page(tmp_path, _shown(tmp_path))
    _page(tmp_path, _shown(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ['gallery_a2b.html']
    (tmp_path / 'gallery_a2b.html').write_text('<html>mine</html>')
    assert Gallery(tmp_path, 'a2b', '').save().name == 'gallery_a2b-2.html'
    assert (tmp_path / 'gallery_a2b.html').read_text() == '<html>mine</html>'
