"""A visitor with a real browser, headless: what `test_browser.py` does, and the screenshots of docs/demo.md.

    python demo.py --port=7861 &
    python -m tests.web.browser --address=http://127.0.0.1:7861 --output=docs

needs `pip install playwright` and a Chromium that is installed already; CHROMIUM names one that is not on the path.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import shutil
from typing import Any, Iterator, List, Optional
from urllib.parse import urlsplit

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
WIDTHS = (390, 1400)
_FLAGS = (
    '--no-sandbox',
    '--use-fake-device-for-media-stream',  # a camera that shows a test card
    '--use-fake-ui-for-media-stream',  # and that nobody has to allow
    '--disable-background-networking',  # the browser's own
)
_PATIENCE = 60_000  # milliseconds


def find_browser() -> Optional[str]:
    """A Chromium's path, or None."""
    named = os.environ.get('CHROMIUM')
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


@contextlib.contextmanager
def open_browser() -> Iterator[Any]:
    """A playwright browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """One person's session: nothing is shared with another."""

    def __init__(self, browser: Any, address: str, width: int = 1400) -> None:
        self.context = browser.new_context(viewport={'width': width, 'height': 900}, permissions=['camera'])
        self.page = self.context.new_page()
        self.page.set_default_timeout(_PATIENCE)
        self.asked: List[str] = []  # every address that the page asked for
        self.complaints: List[str] = []  # what the browser's console says is wrong
        self.page.on('request', lambda request: self.asked.append(request.url))
        self.page.on('pageerror', lambda error: self.complaints.append(str(error)))
        self.page.on('console', lambda said: self.complaints.append(said.text) if said.type == 'error' else None)
        self.page.goto(address)
        self.page.wait_for_selector('#status p')

    def close(self) -> None:
        self.context.close()

    def upload(self, path: os.PathLike) -> None:
        """Puts a file where a dropped one would go; an earlier picture is taken away first."""
        remove = self.page.locator('#picture button[aria-label="Remove Image"]')
        if remove.count():
            remove.click()
        self.page.locator('#picture input[type=file]').first.set_input_files(os.fspath(path))

    def status(self, containing: str) -> str:
        """The words under the result, once they contain this."""
        return self._words('#status', containing)

    def verdict(self, containing: str) -> str:
        return self._words('#verdict', containing)

    def ranges(self, containing: str) -> str:
        return self._words('#ranges', containing)

    def choose(self, group: str, label: str) -> None:
        """A radio button by its group's id and the beginning of its label."""
        self.page.locator(f'#{group} label').filter(has_text=label).first.click()

    def tab(self, name: str) -> None:
        self.page.get_by_role('tab', name=name).click()

    def pictures(self, where: str) -> List[bytes]:
        """The files behind the pictures in a component, as the browser has them."""
        found = self.page.locator(f'#{where} img')
        found.first.wait_for()
        return [self._bytes(found.nth(i).get_attribute('src')) for i in range(found.count())]

    def foreign(self) -> List[str]:
        """Requests that left this machine."""
        hosts = ('127.0.0.1', 'localhost')
        outside = (url for url in self.asked if not url.startswith(('data:', 'blob:')))
        return [url for url in outside if urlsplit(url).hostname not in hosts]

    def overhang(self) -> int:
        """By how many pixels the page is wider than the window."""
        return self.page.evaluate('document.scrollingElement.scrollWidth - window.innerWidth')

    def screenshot(self, path: os.PathLike, most: int = 2000) -> None:
        """The whole page; of a longer one than `most` pixels the part from the tabs on."""
        self.page.evaluate('window.scrollTo(0, 0)')
        self.page.wait_for_timeout(700)  # fades
        width, height = self.page.viewport_size['width'], self.page.evaluate('document.scrollingElement.scrollHeight')
        top = self.page.get_by_role('tablist').first.bounding_box()['y'] if height > most else 0
        clip = {'x': 0, 'y': top, 'width': width, 'height': min(most, height - top)}
        self.page.screenshot(path=os.fspath(path), full_page=True, clip=clip)

    def _words(self, where: str, containing: str) -> str:
        place = self.page.locator(where)
        place.filter(has_text=containing).wait_for()
        return place.inner_text()

    def _bytes(self, source: str) -> bytes:
        code = 'async url => Array.from(new Uint8Array(await (await fetch(url)).arrayBuffer()))'
        return bytes(self.page.evaluate(code, source))


def screenshots(address: str, output: pathlib.Path) -> None:
    """The lab with a plan, at both widths, as few bytes as still look right."""
    with open_browser() as browser:
        for width in WIDTHS:
            visit = Visit(browser, address, width)
            visit.status('pixels')
            visit.tab('Float16 lab')
            visit.verdict('dB')
            path = output / f'demo_page_{width}.png'
            visit.screenshot(path)
            _shrink(path)
            print(f'picture: {path} ({path.stat().st_size} bytes)')
            visit.close()


def _shrink(path: pathlib.Path) -> None:
    from PIL import Image

    image = Image.open(path).convert('RGB')
    few = image.quantize(256, Image.Quantize.MEDIANCUT, kmeans=8, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--address', required=True)
    parser.add_argument('--output', type=pathlib.Path, default=pathlib.Path('docs'))
    arguments = parser.parse_args()
    screenshots(arguments.address, arguments.output)
