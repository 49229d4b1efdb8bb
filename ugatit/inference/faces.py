"""`--face_crop=all`: every face of a photograph becomes an input of its own."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, ContextManager, Iterator, Sequence

from ugatit.data.face_crop import find_crops
from ugatit.errors import UserError
from ugatit.inference.inputs import Found, Input
from ugatit.inference.progress import Silent
from ugatit.inference.settings import Settings


def each_face(
    found: Found,
    settings: Settings,
    progress: Callable[[Sequence[Any], str], ContextManager[Any]] = Silent,
) -> Found:
    """With `face_crop='all'` one input for every face, called NAME_face1, NAME_face2, ... from left to right.

    A photograph with one face, or none, keeps its name. What cannot be read stays: it is named when its turn comes.
    """
    if settings.face_crop != 'all':
        return found
    with progress(found.inputs, 'pictures searched for faces') as bar:
        inputs = [one for source in found.inputs for one in _faces(source, settings, bar)]
    return found._replace(inputs=tuple(inputs))


def _faces(source: Input, settings: Settings, bar: Any) -> Iterator[Input]:
    try:
        crops = find_crops(source.decode(settings).pixels)
    except UserError:
        yield source
    else:
        for number, crop in enumerate(crops, 1):
            several = len(crops) > 1
            name = source.name.with_name(f'{source.name.stem}_face{number}{source.name.suffix}')
            yield dataclasses.replace(
                source, name=name if several else source.name, crop=crop, face=number if several else 0
            )
    bar.advance()
