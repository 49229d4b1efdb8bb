"""One tiny model for all tests of this folder; tracing it is what costs."""

from __future__ import annotations

import pathlib
from typing import Callable, List

import pytest

from tests.data import odd_files as odd
from tests.inference.tiny import share_models, write_tiny
from ugatit.translate import Translator, load


@pytest.fixture(scope='session')
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of a checkpoint with both generators, 16 x 16 pixels."""
    return write_tiny(tmp_path_factory.mktemp('tiny'))


@pytest.fixture(scope='session')
def tiny(tiny_checkpoint: pathlib.Path) -> Translator:
    """Its a2b generator; the program for any batch size is traced once."""
    return load(tiny_checkpoint)


@pytest.fixture
def shared_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command loads each plain model once per session: what is tested is around it."""
    share_models(monkeypatch)


@pytest.fixture
def photos(tmp_path: pathlib.Path) -> Callable[..., List[pathlib.Path]]:
    """photos('a.png', 'b.jpg', ...): writes pictures of different sizes into tmp_path / 'in'."""

    def make(*names: str) -> List[pathlib.Path]:
        paths = [tmp_path / 'in' / name for name in names]
        for number, path in enumerate(paths):
            path.parent.mkdir(parents=True, exist_ok=True)
            kind = 'JPEG' if path.suffix == '.jpg' else 'PNG'
            path.write_bytes(odd.encode(odd.photo(20 + 4 * number, 30 + number), kind))
        return paths

    return make
