"""The demo model behind a page, loaded once, and a page that is served."""

from __future__ import annotations

import functools
import pathlib
from typing import Any, Callable, Iterator, NamedTuple, Tuple

import pytest

from tests.diagnosis import tiny
from ugatit.checkpoints.demo import demo_checkpoint, demo_pictures
from ugatit.inference.inputs import Input, prepare
from ugatit.inference.model import choose_model
from ugatit.inference.settings import Settings
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION
from ugatit.web.answers import Answers
from ugatit.web.calibration import Calibration
from ugatit.web.lab import Compared, compare
from ugatit.web.models import Arithmetic, Models
from ugatit.web.settings import PageSettings
from ugatit.web.upload import Upload

# Two of each kind: enough for a plan of one more, and quick to measure.
OWN = {direction: str(demo_pictures(direction) / '*_[23].png') for direction in GENERATOR_OF_DIRECTION}
Lab = Callable[..., Compared]


@pytest.fixture(scope='session')
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    """The demo model."""
    choice = choose_model(str(demo_checkpoint()), 'a2b', 'float32', 'ieee', 'default', 'cpu', None)
    return Models(choice, Calibration(OWN), tmp_path_factory.mktemp('demo'))


@pytest.fixture(scope='session')
def answers(models: Models) -> Answers:
    return Answers(models, PageSettings())


@pytest.fixture(scope='session')
def lab(models: Models) -> Lab:
    """`compare` of the first example, each arithmetic once."""
    path = sorted(demo_pictures('a2b').iterdir())[0]
    prepared = prepare(Input(path, pathlib.PurePath(path.name)), models.translator('a2b').image_size, Settings())

    @functools.cache
    def compared(kind: str, overflow: str = 'saturate', stressed: bool = True) -> Compared:
        return compare(models, prepared, 'a2b', Arithmetic(kind, overflow, stressed))

    return compared


@pytest.fixture
def send(tmp_path: pathlib.Path) -> Callable[[str, bytes], Upload]:
    """Puts bytes where an upload would lie."""

    def put(name: str, data: bytes) -> Upload:
        path = tmp_path / f'upload-{len(list(tmp_path.iterdir()))}'
        path.write_bytes(data)
        return Upload(str(path), name)

    return put


class Served(NamedTuple):
    """A page that runs in this process."""

    address: str
    folder: pathlib.Path  # its private one
    answers: Answers
    page: Any  # gradio.Blocks


@pytest.fixture(scope='session')
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A page with a tiny network, so that waiting is for the page and not for TensorFlow."""
    pytest.importorskip('gradio')
    from ugatit.web.server import free_port, private_folder, start

    checkpoint = tiny.write_checkpoint(tmp_path_factory.mktemp('tiny') / 'model')
    pictures = tiny.write_pictures(tmp_path_factory.mktemp('pictures'), count=2, side=64)
    choice = choose_model(str(checkpoint), 'a2b', 'float32', 'ieee', 'default', 'cpu', tiny.SIZE)
    settings = PageSettings(max_megabytes=1)
    with private_folder() as folder:
        from ugatit.web.page import Model, build

        models = Models(choice, Calibration({'a2b': str(pictures), 'b2a': str(pictures)}), folder)
        examples: Tuple[Tuple[pathlib.Path, str], ...] = tuple(
            (path, direction) for path, direction in zip(sorted(pictures.iterdir()), GENERATOR_OF_DIRECTION)
        )
        model = Model('A tiny model.', ('photograph', 'anime'), examples, tiny.SIZE)
        answers = Answers(models, settings)
        page = build(answers, model, settings)
        address = start(page, settings, free_port(0), folder=str(pictures))
        try:
            yield Served(address, folder, answers, page)
        finally:
            page.close(verbose=False)
    assert not folder.exists()
