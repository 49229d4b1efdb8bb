"""`--face_crop=all --paste_back`: when every face has its result, all of them go back into their photograph."""

from __future__ import annotations

import os
import pathlib
from typing import Dict, List, Sequence, Set

from ugatit.data.convert import save_png
from ugatit.data.decode import decode_file
from ugatit.data.face_crop import paste_back
from ugatit.inference import mark
from ugatit.inference.outputs import key_of, numbered
from ugatit.inference.run import Outcome
from ugatit.inference.settings import Settings


def paste_together(outcomes: Sequence[Outcome], settings: Settings, direction: str) -> List[pathlib.Path]:
    """Writes NAME_pasted_a2b.png beside the results of each photograph in which faces were found; returns the files.

    Raises:
        UserError: a photograph or a result has gone meanwhile, or the disk is full.
    """
    photographs: Dict[pathlib.Path, List[Outcome]] = {}
    for outcome in outcomes:
        if outcome.error is None and outcome.crop is not None and outcome.crop.face is not None:
            photographs.setdefault(outcome.source.path, []).append(outcome)
    taken = {key_of(file) for outcome in outcomes for file in (*outcome.files, outcome.source.path) if file is not None}
    return [_pasted(path, faces, settings, direction, taken) for path, faces in photographs.items()]


def _pasted(
    path: pathlib.Path, faces: Sequence[Outcome], settings: Settings, direction: str, taken: Set[str]
) -> pathlib.Path:
    pixels = faces[0].source.decode(settings).pixels
    for face in faces:
        pixels = paste_back(pixels, decode_file(face.files[-1]).pixels, face.crop.window)
    folder = pathlib.Path(face.files[-1]).parent
    names = numbered(folder / f'{path.stem}_pasted_{direction}.png')
    target = next(
        name for name in names if key_of(name) not in taken and (not os.path.lexists(name) or mark.is_ours(name))
    )
    save_png(target, pixels, {mark.KEY: mark.VALUE})
    taken.add(key_of(target))
    return target
