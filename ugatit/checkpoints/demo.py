"""The weights that come with the project, and the pictures to try them on: checkpoints/demo in a checkout."""

from __future__ import annotations

import pathlib

from ugatit.errors import UserError
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION

_PACKAGE = pathlib.Path(__file__).resolve().parent.parent
# In a checkout they lie beside the package; a wheel has them inside (`_demo` is a link to the same folder).
_FOLDERS = (_PACKAGE.parent / 'checkpoints' / 'demo', _PACKAGE / '_demo')


def demo_checkpoint() -> pathlib.Path:
    """The folder of the demo model, faces in lines (A) to faces of blocks (B) and back; UserError where it is gone."""
    for folder in _FOLDERS:
        if (folder / 'checkpoint').is_file():
            return folder
    raise UserError(
        f'the demo model should be in {_FOLDERS[0]}, but it is missing; install ugatit again, or give a checkpoint.'
    )


def demo_pictures(direction: str = 'a2b') -> pathlib.Path:
    """The folder of the pictures that this direction translates; no picture in it is one that the model learned from.

    Raises:
      UserError: no such direction, or the demo model is gone.
    """
    if direction not in GENERATOR_OF_DIRECTION:
        raise UserError(f'direction must be one of {", ".join(GENERATOR_OF_DIRECTION)}, but {direction!r} arrived.')
    return demo_checkpoint() / 'pictures' / direction[0].upper()
