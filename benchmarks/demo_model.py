"""What checkpoints/demo/README.md and README.md show of the demo model: pictures, KID with its baselines, what is kept.

    python -m benchmarks.demo_model --dataset=dataset/avatars --output=demo_figures

Translates the test pictures of both domains (from `python -m ugatit.data`), and writes figures.json, a picture of the
stored examples with attention maps, and one of the translations that come back worst. KID by ugatit.evaluation; its
random features compare only with themselves.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import pathlib
import sys
from typing import Any, Dict, List, Sequence

import numpy as np
from PIL import Image

from ugatit.checkpoints.demo import demo_pictures
from ugatit.data.avatars import STYLES, drawer, faces_of
from ugatit.data.convert import to_float, to_uint8
from ugatit.data.decode import decode_file
from ugatit.data.heatmap import overlay_heatmap
from ugatit.errors import UserError
from ugatit.evaluation.extractors import choose_extractor, extract
from ugatit.evaluation.kernel import kid
from ugatit.numerics import psnr
from ugatit.translate import Translator, load

BATCH = 50
WORST = 6
SEED = 0  # of the data set
_DRAW_AGAIN = 'draw them with python -m ugatit.data --output=DIR, and leave its --seed at 0'
# Where skin and clothes are in every picture of a domain, as [top, bottom, left, right] of 64.
PLACES = {'A': {'skinColor': (46, 50, 34, 38), 'clothingColor': (60, 64, 16, 24)},
          'B': {'skinColor': (34, 38, 28, 36), 'clothingColor': (58, 64, 20, 44)}}  # fmt: skip


def main() -> int:
    """Measures and draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--dataset', type=pathlib.Path, required=True)
    parser.add_argument('--output', type=pathlib.Path, required=True)
    parser.add_argument('--checkpoint', type=pathlib.Path, default=None)
    parser.add_argument('--most', type=int, default=500, help='test pictures of each domain')
    parser.add_argument('--inception', default=None)
    options = parser.parse_args()
    try:
        check_faces(options.dataset)
    except UserError as error:
        parser.error(str(error))
    options.output.mkdir(parents=True, exist_ok=True)
    models = {direction: load(options.checkpoint, direction, device='cpu') for direction in ('a2b', 'b2a')}
    sets = {name: _read(options.dataset / name, options.most) for name in ('trainA', 'trainB', 'testA', 'testB')}
    figures = {direction: _direction(direction, models, sets, options) for direction in models}
    _examples(models).save(options.output / 'examples.png', optimize=True)
    (options.output / 'figures.json').write_text(json.dumps(figures, indent=1) + '\n')
    print(json.dumps(figures, indent=1))
    return 0


def check_faces(dataset: pathlib.Path) -> None:
    """UserError unless both test folders start with the face that SEED gives: their colours are known by it alone."""
    for domain, style in STYLES.items():
        first = min((dataset / f'test{domain}').glob('*'), default=None)
        if first is None:
            raise UserError(f'{dataset / f"test{domain}"} should hold the demo faces, but it is empty or missing;'
                            f' {_DRAW_AGAIN}.')  # fmt: skip
        pixels = decode_file(first).pixels
        wanted = drawer(style, len(pixels))(next(faces_of(domain, 'test', SEED)))
        with Image.open(io.BytesIO(wanted)) as drawn:
            same = np.array_equal(np.asarray(drawn.convert('RGB')), pixels)
        if not same:
            raise UserError(f'{first} should be the first test face of seed {SEED}, whose colours are known, but it is'
                            f' another picture; {_DRAW_AGAIN}.')  # fmt: skip


def _direction(
    direction: str, models: Dict[str, Translator], sets: Dict[str, np.ndarray], options: argparse.Namespace
) -> Dict[str, Any]:
    """KID of results against the target's test pictures, between no translation and other real pictures."""
    source, target = direction[0].upper(), direction[2].upper()
    inputs = sets[f'test{source}']
    results = _translate(models[direction], inputs)
    back = _translate(models[f'{direction[2]}2{direction[0]}'], results)
    extractor = choose_extractor(options.inception)
    features = {name: extract(extractor, list(to_uint8(pictures))) for name, pictures in
                (('after', results), ('before', inputs), ('real', sets[f'train{target}']),
                 ('target', sets[f'test{target}']))}  # fmt: skip
    found = {name: kid(features[name], features['target']).to_json() for name in ('before', 'after', 'real')}
    each = np.array([psnr(one, other) for one, other in zip(back, inputs)])
    worst = np.argsort(each)[:WORST]
    _rows([inputs[worst], results[worst], back[worst]]).save(options.output / f'worst_{direction}.png', optimize=True)
    return {
        'features': extractor.name,
        'kid': found,
        'cycle_psnr': psnr(back, inputs),
        'kept': {option: _kept(option, source, target, results) for option in ('skinColor', 'clothingColor')},
        'worst': [int(i) for i in worst],
    }


def _kept(option: str, source: str, target: str, results: np.ndarray) -> Dict[str, float]:
    """How often the nearest colour of the palette is the input's, in results; `chance`: by always saying the same."""
    palette = STYLES[source].choices[option]
    colours = np.array([[int(value[i : i + 2], 16) for i in (1, 3, 5)] for value in palette], float)
    faces = itertools.islice(faces_of(source, 'test', SEED), len(results))
    wanted = np.array([palette.index(face[option]) for face in faces])
    top, bottom, left, right = PLACES[target][option]
    seen = np.median(to_uint8(results)[:, top:bottom, left:right].reshape(len(results), -1, 3), axis=1)
    nearest = np.argmin(np.square(seen[:, None] - colours).sum(axis=2), axis=1)
    return {'share': float((nearest == wanted).mean()), 'chance': 1 / len(palette)}


def _examples(models: Dict[str, Translator]) -> Image.Image:
    """The stored pictures, both directions: input, attention, result."""
    parts = []
    for direction, translate in models.items():
        inputs = _read(demo_pictures(direction), 100)
        found = translate(inputs)
        looked = [overlay_heatmap(pixels, heat) for pixels, heat in zip(to_uint8(inputs), found.heatmap)]
        parts.append(np.asarray(_rows([inputs, to_float(np.stack(looked)), found.image])))
    gap = np.full((parts[0].shape[0], 16, 3), 255, np.uint8)
    return Image.fromarray(np.concatenate([parts[0], gap, parts[1]], axis=1))


def _rows(columns: Sequence[np.ndarray], scale: int = 2, gap: int = 2) -> Image.Image:
    """One row per picture, enlarged pixel by pixel."""
    rows: List[np.ndarray] = []
    for row in zip(*(to_uint8(np.clip(column, -1.0, 1.0)) for column in columns)):
        padded = [np.pad(picture.repeat(scale, 0).repeat(scale, 1), ((0, gap), (0, gap), (0, 0)), constant_values=255)
                  for picture in row]  # fmt: skip
        rows.append(np.concatenate(padded, axis=1))
    return Image.fromarray(np.concatenate(rows)[:-gap, :-gap])


def _read(folder: pathlib.Path, most: int) -> np.ndarray:
    """float32 [N, 64, 64, 3] in [-1, 1]."""
    return to_float(np.stack([decode_file(path).pixels for path in sorted(folder.iterdir())[:most]]))


def _translate(translate: Translator, images: np.ndarray) -> np.ndarray:
    return np.concatenate([translate(images[start : start + BATCH]).image for start in range(0, len(images), BATCH)])


if __name__ == '__main__':
    sys.exit(main())
