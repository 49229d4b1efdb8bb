"""The inference ablation: every variant of a list on one checkpoint and one set of pictures."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import os
import pathlib
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ugatit.ablation import identity, models
from ugatit.ablation.scores import Scores, score
from ugatit.ablation.spec import Variant
from ugatit.ablation.store import Store
from ugatit.checkpoints.location import locate, with_suffix
from ugatit.data.convert import to_float, to_uint8
from ugatit.diagnosis.dropin import quietly
from ugatit.diagnosis.pictures import read_pictures
from ugatit.errors import UserError
from ugatit.evaluation.extractors import Extractor, extract
from ugatit.evaluation.measure import Judging, judge_arrays

_log = logging.getLogger(__name__)

_BROKEN_COLOUR = (255, 0, 255)  # of pixels without a value in a saved picture


class Pictures(NamedTuple):
    """What every variant translates."""

    images: np.ndarray  # [N, S, S, 3] in [-1, 1]
    names: Tuple[str, ...]  # unique, for files
    failures: Tuple[str, ...]


class Target(NamedTuple):
    """Real pictures of the target domain, and how results are compared with them."""

    features: np.ndarray
    extractor: Extractor
    judging: Judging
    identity: Tuple[Any, ...]  # for the fingerprint


@dataclasses.dataclass(frozen=True)
class Ablation:
    """Everything that rows depend on."""

    source: models.Source
    pictures: Pictures
    target: Optional[Target]
    store: Store
    profiles: models.Profiles

    def depends_on(self, variant: Variant) -> Dict[str, Any]:
        """What must be equal for a finished row to count."""
        index = with_suffix(locate(self.source.checkpoint).prefix, '.index').stat()
        images = self.pictures.images
        return {
            'variant': dataclasses.asdict(variant),
            'rules': identity.rules(variant.variants),
            'checkpoint': [os.fspath(self.source.checkpoint), index.st_size, index.st_mtime_ns],
            'direction': self.source.direction,
            'device': self.source.device,
            'pictures': [list(self.pictures.names), list(images.shape), hashlib.sha256(images.tobytes()).hexdigest()],
            'target': None if self.target is None else list(self.target.identity),
        }


def read_inputs(sources: Sequence[str], size: int, most: int) -> Pictures:
    """The first `most` pictures by name, stretched to size x size."""
    found = read_pictures(sources, size, most)
    names: List[str] = []
    for path in found.paths:
        plain = ''.join(c if c.isalnum() or c in '-_.' else '_' for c in path.stem)
        taken = [name for name in names if name == plain or name.rpartition('-')[0] == plain]
        names.append(plain if not taken else f'{plain}-{len(taken) + 1}')
    return Pictures(found.images, tuple(names), found.failures)


def read_target(sources: Sequence[str], size: int, extractor: Extractor, judging: Judging) -> Target:
    """Real pictures of the target domain as features."""
    found = read_pictures(sources, size)
    features = extract(extractor, (to_uint8(image) for image in found.images))
    identity = (extractor.name, dataclasses.astuple(judging), hashlib.sha256(found.images.tobytes()).hexdigest())
    return Target(features, extractor, judging, identity)


def ablate(
    ablation: Ablation,
    variants: Sequence[Variant],
    started: Callable[[Variant, int], None] = lambda variant, left: None,
    finished: Callable[[List[Dict[str, Any]], bool], None] = lambda rows, new: None,
) -> List[Dict[str, Any]]:
    """Measures every variant that is not finished; a failing one becomes a row with its error.

    Args:
        ablation: what all rows share.
        variants: from `read_variants`, the reference first.
        started: called before a variant is measured, with how many are left.
        finished: called with all rows so far after each, and whether the last of them was measured now.

    Returns:
        Rows in the order of the variants: plain data.
    """
    rows: List[Dict[str, Any]] = []
    reference: Optional[np.ndarray] = None
    for number, variant in enumerate(variants):
        depends_on = ablation.depends_on(variant)
        row = ablation.store.finished(variant.name, depends_on)
        known = row
        if variant.reference and reference is None:
            reference = ablation.store.reference(depends_on)
        if row is None or (variant.reference and reference is None):
            started(variant, len(variants) - number)
            row, results = _guarded(ablation, variant, reference)
            if variant.reference and results is not None:
                reference = results
                ablation.store.save_reference(depends_on, results)
            if 'error' not in row:
                ablation.store.save(variant.name, depends_on, row)
        rows.append(row)
        if reference is None:
            raise UserError(f'The reference cannot be computed, so there is nothing to compare with: {row["error"]}')
        finished(rows, row is not known)
    return rows


def _guarded(
    ablation: Ablation, variant: Variant, reference: Optional[np.ndarray]
) -> Tuple[Dict[str, Any], Optional[np.ndarray]]:
    """One row, whatever happens in it; but without a reference nothing has a meaning, so its bugs are not hidden."""
    try:
        with quietly():
            return _measured(ablation, variant, reference)
    except Exception as error:  # the point is that the rest goes on; the sentence is in the report
        if isinstance(error, UserError):
            _log.error('%s failed: %s', variant.name, error)
            return {**_settings(variant), 'error': str(error)}, None
        if variant.reference:
            raise
        _log.exception('%s failed', variant.name)
        return {**_settings(variant), 'error': f'{type(error).__name__}: {error}'}, None


def _measured(
    ablation: Ablation, variant: Variant, reference: Optional[np.ndarray]
) -> Tuple[Dict[str, Any], np.ndarray]:
    images = ablation.pictures.images
    translate, plan = models.open_variant(ablation.source, variant, images, ablation.profiles)
    results, milliseconds = models.run(translate, images)
    scores = score(results, results if reference is None else reference)
    row = {
        **_settings(variant),
        **scores.to_json(),
        **_set_distances(ablation, results, scores),
        **models.ranges_of(ablation.profiles.of(translate, variant, plan), translate),
        'ms_per_picture': milliseconds,
        'weight_bytes': models.weight_bytes(translate),
        'exponents': None if plan is None else plan.nonzero(next(iter(plan))),
        'notes': [] if plan is None else list(plan.notes),
    }
    for name, result in zip(ablation.pictures.names, results):
        ablation.store.save_picture(variant.name, name, _pixels(result))
    return row, results


def _settings(variant: Variant) -> Dict[str, Any]:
    return {
        'variant': variant.name,
        'changes': variant.changes,
        'precision': variant.precision,
        'overflow': variant.overflow,
        'ranges': variant.ranges,
        'planned': variant.planned,
        'variants': variant.variants,
        'reference': variant.reference,
        'keeps_function': variant.keeps_function(),
    }


def _set_distances(ablation: Ablation, results: np.ndarray, scores: Scores) -> Dict[str, Any]:
    if ablation.target is None or scores.broken:
        return {'kid': None, 'fid': None}
    target = ablation.target
    kid, fid = judge_arrays(results, target.features, target.extractor, target.judging)
    return {'kid': kid.to_json(), 'fid': fid.to_json()}


def _pixels(result: np.ndarray) -> np.ndarray:
    finite = np.isfinite(result).all(axis=-1)
    pixels = to_uint8(np.where(finite[..., None], result, 0.0))
    pixels[~finite] = _BROKEN_COLOUR
    return pixels


def read_saved(folder: pathlib.Path, variant: str, picture: str) -> Optional[np.ndarray]:
    """A saved picture in [-1, 1]; None where it is not there."""
    from ugatit.data.decode import decode_file

    path = folder / 'images' / variant / f'{picture}.png'
    return to_float(decode_file(path).pixels) if path.is_file() else None


def marked(picture: np.ndarray) -> np.ndarray:
    """A saved picture with NaN where it was saved without a value."""
    broken = (to_uint8(picture) == _BROKEN_COLOUR).all(axis=-1)
    return np.where(broken[..., None], np.nan, picture)
