"""The whole of `demo.py` behind its flags."""

from __future__ import annotations

import pathlib
from typing import List, Optional, Tuple

from ugatit.checkpoints.demo import demo_checkpoint, demo_pictures
from ugatit.data.convert import save_png
from ugatit.data.files import list_images
from ugatit.errors import UserError
from ugatit.inference.model import ModelChoice, log_variants
from ugatit.inference.portrait import NAME, portrait
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION
from ugatit.web.answers import Answers
from ugatit.web.calibration import Calibration
from ugatit.web.models import Models
from ugatit.web.server import private_folder, serve
from ugatit.web.settings import PageSettings

_DEMO = ('face in lines', 'face of blocks')
_OTHER = ('photograph', 'anime')


def run_page(
    choice: ModelChoice,
    is_demo: bool,  # the model that comes with the project
    calibration: Tuple[Optional[str], Optional[str]],  # pictures of domains A and B that ranges are measured on
    settings: PageSettings,
    port: int,
    share: bool,
) -> None:
    """Loads the model, so that what is wrong with it is said now, and serves the page until it is stopped.

    Raises:
        UserError: the model or the calibration pictures cannot be read.
    """
    with private_folder() as folder:
        models = Models(choice, _calibration(is_demo, calibration), folder)
        first = _first_direction(models)
        described = models.describe(first)
        log_variants(choice.variants, models.translator(first).architecture, GENERATOR_OF_DIRECTION[first])
        for source in filter(None, calibration):
            list_images(source)
        from ugatit.web.page import Model, build

        examples = _examples(is_demo, folder)
        domains = _DEMO if is_demo else _OTHER
        model = Model(_line(is_demo, described), domains, examples, described['image_size'], first, share)
        page = build(Answers(models, settings), model, settings)
        serve(page, settings, port, share, str(demo_checkpoint() / 'pictures' if is_demo else folder / 'examples'))


def _first_direction(models: Models) -> str:
    """a2b, or b2a of a checkpoint that was slimmed to it."""
    try:
        models.translator('a2b')
        return 'a2b'
    except UserError as error:
        try:
            models.translator('b2a')
            return 'b2a'
        except UserError:
            raise error from None


def _calibration(is_demo: bool, named: Tuple[Optional[str], Optional[str]]) -> Calibration:
    own = {direction: str(demo_pictures(direction)) if is_demo else None for direction in GENERATOR_OF_DIRECTION}
    return Calibration({direction: source or own[direction] for direction, source in zip(own, named)})


def _examples(is_demo: bool, folder: pathlib.Path) -> Tuple[Tuple[pathlib.Path, str], ...]:
    """The demo model's own pictures; for any other model the embedded portrait."""
    if not is_demo:
        path = folder / 'examples' / NAME
        save_png(path, portrait())
        return ((path, 'a2b'),)
    found: List[Tuple[pathlib.Path, str]] = []
    for direction in GENERATOR_OF_DIRECTION:
        found += [(path, direction) for path in list_images(demo_pictures(direction)).paths]
    return tuple(found)


def _line(is_demo: bool, described: dict) -> str:
    size = described['image_size']
    if is_demo:
        return f'This is the demo model: it knows two kinds of drawn faces, {size} × {size} pixels, and no photographs.'
    kind, step = described['kind'], described['step']
    trained = '' if step is None else f' after {step} steps'
    return f'A {kind} model{trained}, {size} × {size} pixels, {described["device"]}.'
