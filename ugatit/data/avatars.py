"""Two unpaired sets of drawn faces, made from a seed: what the demo model was trained on, with nothing downloaded.

Domain A is "Open Peeps" by Pablo Stanley (smooth lines, seen from the side), domain B "Pixel Art" by DiceBear (16 x 16
blocks, seen from the front); both styles are CC0 1.0. `dicebear` composes a face from parts, `resvg_py` draws it. Skin
and clothes have the same colours in both, so that a translation can keep them; hair, glasses and beards that
only one of the styles can draw are left out.
"""

from __future__ import annotations

import json
import pathlib
import zlib
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, NamedTuple, Sequence, Tuple

from ugatit.data.augment import random_state
from ugatit.data.convert import write_file
from ugatit.errors import UserError

_SKIN = ('#ffdbb4', '#edb98a', '#d08b5b', '#ae5d29', '#8d5524')
_CLOTHES = ('#5b8fd6', '#44c585', '#ffcf57', '#d85fb8', '#e0574f', '#4fb8c4')
_HAIR = ('#1a1210', '#241510', '#2c1b18', '#603015', '#c93305')
_PEEPS_HEADS = tuple(
    'afro bangs bangs2 bun bun2 buns cornrows cornrows2 dreads1 dreads2 flatTop flatTopLong long longAfro longBangs'
    ' longCurly medium1 medium2 medium3 mediumBangs mediumBangs2 mediumBangs3 mediumStraight noHair1 noHair2 noHair3'
    ' pomp shaved1 shaved2 shaved3 short1 short2 short3 short4 short5 twists twists2'.split()
)
_PEEPS_FACES = tuple(
    'awe blank calm cute driven explaining eyesClosed lovingGrin1 serious smile smileBig smileTeethGap solemn'
    ' suspicious'.split()
)
_TEST_SHARE = 8  # one of so many faces belongs to the test sets
_TOOLS = "the demo faces need dicebear and resvg_py; install them with pip install -e '.[demo]' (Python 3.10 or newer)"


class Style(NamedTuple):
    """One domain: a style of `dicebear_styles`, and what may differ between its faces."""

    name: str  # the style's file name without .json
    licence: str
    source: str
    choices: Mapping[str, Sequence[str]]  # option of the style -> values, all equally likely
    without: Tuple[str, ...]  # parts that no face has


STYLES: Dict[str, Style] = {
    'A': Style(
        'open-peeps',
        'CC0 1.0, remix of "Open Peeps" by Pablo Stanley',
        'https://www.openpeeps.com/',
        {
            'headVariant': _PEEPS_HEADS,
            'expressionVariant': _PEEPS_FACES,
            'skinColor': _SKIN,
            'clothingColor': _CLOTHES,
            'headContrastColor': _HAIR,
        },
        ('accessories', 'facialHair', 'mask'),
    ),
    'B': Style(
        'pixel-art',
        'CC0 1.0, "Pixel Art" by DiceBear',
        'https://www.figma.com/community/file/1198754108850888330',
        {
            'hairVariant': tuple([f'long{i:02d}' for i in range(1, 22)] + [f'short{i:02d}' for i in range(1, 25)]),
            'eyesVariant': tuple(f'variant{i:02d}' for i in range(1, 13)),
            'mouthVariant': tuple([f'happy{i:02d}' for i in range(1, 14)] + [f'sad{i:02d}' for i in range(1, 11)]),
            'clothesVariant': tuple(f'variant{i:02d}' for i in range(1, 24)),
            'skinColor': _SKIN,
            'clothingColor': _CLOTHES,
            'hairColor': _HAIR,
        },
        ('accessories', 'beard', 'glasses', 'hat'),
    ),
}


def make_avatars(
    output: pathlib.Path,
    train: int,
    test: int,
    size: int,
    seed: int = 0,
    progress: Callable[[Sequence[Any]], Iterable[Any]] = lambda items: items,
) -> Dict[str, int]:
    """Draws `train` and `test` faces of each domain as PNG, size x size, into trainA, trainB, testA and testB.

    The same numbers give the same bytes wherever the same versions of the libraries are installed; a larger set starts
    with the smaller one. No face of a training set is in its test set.

    Returns: how many were drawn, by folder.

    Raises:
      UserError: the libraries are missing, or a folder already holds something.
    """
    counts = {f'{split}{domain}': count for split, count in (('train', train), ('test', test)) for domain in STYLES}
    drawers = {domain: drawer(style, size) for domain, style in STYLES.items()}
    for folder in counts:
        _check_empty(output / folder)
    tasks = [(folder, number) for folder, count in counts.items() for number in range(count)]
    faces = {folder: faces_of(folder[-1], folder[:-1], seed) for folder in counts}
    for folder, number in progress(tasks):
        write_file(output / folder / f'{number:05d}.png', drawers[folder[-1]](next(faces[folder])))
    return counts


def faces_of(domain: str, split: str, seed: int) -> Iterator[Dict[str, str]]:
    """Endless faces of one set, each as {option: value}; `split`: train or test."""
    number = 0
    while True:
        face = _face(domain, seed, number)
        number += 1
        if _is_test(face) == (split == 'test'):
            yield face


def drawer(style: Style, size: int) -> Callable[[Mapping[str, str]], bytes]:
    """A function from a face's options to the bytes of a PNG file of size x size pixels."""
    try:
        import dicebear
        import dicebear_styles
        import resvg_py
    except ImportError as error:
        raise UserError(f'{_TOOLS}: {error}.') from None
    folder = pathlib.Path(next(iter(dicebear_styles.__path__)))
    definition = dicebear.Style(json.loads((folder / f'{style.name}.json').read_text('utf-8')))
    fixed = {f'{part}Probability': 0 for part in style.without}

    def draw(face: Mapping[str, str]) -> bytes:
        svg = dicebear.Avatar(definition, {'seed': _text(face), **fixed, **face}).to_string()
        return bytes(
            resvg_py.svg_to_bytes(svg_string=svg, width=size, height=size, background='#ffffff', skip_system_fonts=True)
        )

    return draw


def _face(domain: str, seed: int, number: int) -> Dict[str, str]:
    random = random_state(seed, 'avatar', domain, number)
    return {option: values[random.randint(len(values))] for option, values in STYLES[domain].choices.items()}


def _is_test(face: Mapping[str, str]) -> bool:
    """By what the face looks like: the same face drawn twice is on the same side."""
    return zlib.crc32(_text(face).encode()) % _TEST_SHARE == 0


def _text(face: Mapping[str, str]) -> str:
    return ' '.join(f'{option}={value}' for option, value in sorted(face.items()))


def _check_empty(folder: pathlib.Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f'{folder} exists already and is left as it is; give another --output.')
