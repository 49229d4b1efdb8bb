"""The result page: input, result and heat map of every picture in one HTML file that needs no other.

Small copies are embedded, so the page can be sent on its own; a click opens the full result, by a relative link.
Cards are kept in a temporary file while the run goes on: memory does not grow with the number of pictures.
"""

from __future__ import annotations

import base64
import html
import io
import os
import pathlib
import tempfile
import urllib.parse
from typing import List, Optional

import numpy as np
from PIL import Image

from ugatit.data.convert import write_file
from ugatit.data.names import printable
from ugatit.inference.outputs import numbered
from ugatit.inference.page import foot, head
from ugatit.inference.run import Shown

_GENERATOR = b'<meta name="generator" content="ugatit">'
_QUALITY = 88  # JPEG, of the embedded copies
_DOMAINS = {'a2b': ('photograph', 'anime picture'), 'b2a': ('anime picture', 'photograph')}


class Gallery:
    """A page that grows picture by picture and is written at the end."""

    def __init__(self, folder: pathlib.Path, direction: str, model: str) -> None:
        self._folder, self._direction, self._model = folder, direction, model
        self._cards = tempfile.TemporaryFile()
        self._done = self._failed = 0
        self._heatmaps = False

    def add(self, shown: Shown) -> None:
        """Appends one picture, translated or failed."""
        failed = shown.outcome.error is not None
        self._failed += failed
        self._done += not failed
        self._heatmaps |= shown.small is not None and shown.small.heatmap is not None
        self._cards.write(self._card(shown).encode('utf-8'))

    def save(self) -> pathlib.Path:
        """Writes the page beside the results, whole or not at all; an earlier page of ours is replaced."""
        path = next(path for path in numbered(self._folder / f'gallery_{self._direction}.html') if _is_free(path))
        self._cards.seek(0)
        start = head(self._done, self._failed, self._model, self._heatmaps).encode('utf-8')
        write_file(path, start + self._cards.read() + foot().encode('utf-8'))
        self._cards.close()
        return path

    def _card(self, shown: Shown) -> str:
        outcome = shown.outcome
        name = html.escape(printable(outcome.source.name))
        shape = f'<span class="size">{outcome.size[1]} &times; {outcome.size[0]}</span>' if outcome.size else ''
        notes = [('error', outcome.error)] if outcome.error else []
        notes += [('warning', warning) for warning in outcome.warnings]
        lines = [f'<p class="{kind}" role="note">{html.escape(text)}</p>' for kind, text in notes]
        figures = self._figures(shown)
        if figures:
            lines = [f'<div class="pictures count{len(figures)}">', *figures, '</div>', *lines]
        start = f'<article class="{"failed" if outcome.error else "done"}">'
        return '\n'.join([start, f'<h2>{name}{shape}</h2>', *lines, '</article>\n'])

    def _figures(self, shown: Shown) -> List[str]:
        source, result = _DOMAINS[self._direction]
        name, files, figures = printable(shown.outcome.source.name), shown.outcome.files, []
        if shown.small is not None:
            figures.append(_figure('result', f'{name} as {result}', shown.small.picture, self._link(files[-1])))
        if shown.original is not None:
            figures.append(_figure('input', f'{name}, the {source} that was given', shown.original, None))
        if shown.small is not None and shown.small.heatmap is not None:
            words = f'{name} with the attention map: red where the network looked most, blue where least'
            figures.append(_figure('heatmap', words, shown.small.heatmap, self._link(files[-2])))
        return figures

    def _link(self, file: os.PathLike) -> str:
        relative = pathlib.Path(os.path.relpath(file, self._folder)).as_posix()
        return urllib.parse.quote(os.fsencode(relative))


_CAPTIONS = {'input': 'Input', 'result': 'Result', 'heatmap': 'Attention'}


def _figure(kind: str, words: str, pixels: np.ndarray, link: Optional[str]) -> str:
    height, width = pixels.shape[:2]
    image = f'<img src="{_data(pixels)}" alt="{html.escape(words)}" width="{width}" height="{height}" loading="lazy">'
    if link is not None:
        image = f'<a href="{link}">{image}</a>'
    return f'<figure class="{kind}">{image}<figcaption>{_CAPTIONS[kind]}</figcaption></figure>'


def _data(pixels: np.ndarray) -> str:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, 'JPEG', quality=_QUALITY)
    return 'data:image/jpeg;base64,' + base64.b64encode(buffer.getvalue()).decode('ascii')


def _is_free(path: pathlib.Path) -> bool:
    if not os.path.lexists(path):
        return True
    try:
        with path.open('rb') as file:
            return _GENERATOR in file.read(1024)
    except OSError:
        return False
