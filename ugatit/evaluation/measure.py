"""Pictures in files judged against other pictures in files: KID and FID of the sets, PSNR and SSIM of equal names."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from ugatit.data.convert import to_uint8
from ugatit.data.files import PathLike
from ugatit.errors import UserError
from ugatit.evaluation.extractors import Extractor, extract
from ugatit.evaluation.frechet import Fid, fid
from ugatit.evaluation.kernel import SUBSETS, Kid, kid
from ugatit.evaluation.pairs import Pair, by_name, compare_pairs, read_square
from ugatit.inference.progress import Silent
from ugatit.inference.run import ProgressBar


@dataclasses.dataclass(frozen=True)
class Judging:
    """How sets of pictures are compared; a value that is passed in."""

    size: int  # every picture is brought to this side first, so that resolution itself is no difference
    subsets: int = SUBSETS
    subset_size: Optional[int] = None  # None: see `choose_subset_size`
    seed: int = 0
    mode: str = 'stretch'  # how a picture becomes a square, as in `ugatit.data.resize`


@dataclasses.dataclass(frozen=True)
class Judgement:
    """Everything that one comparison found."""

    extractor: str
    comparable: str
    size: int
    kid: Kid
    fid: Fid
    pair: Optional[Pair]
    skipped: Tuple[str, ...]  # one sentence per picture that could not be read

    def lines(self) -> List[str]:
        """For a terminal."""
        found = [self.kid.text(), self.fid.text(), f'features: {self.extractor}; {self.comparable}']
        found += [] if self.pair is None else [self.pair.text()]
        return found + [f'left out: {reason}' for reason in self.skipped]

    def to_json(self) -> Dict[str, Any]:
        return {
            'extractor': self.extractor,
            'comparable': self.comparable,
            'size': self.size,
            'kid': self.kid.to_json(),
            'fid': self.fid.to_json(),
            'pairs': None if self.pair is None else self.pair._asdict(),
            'skipped': list(self.skipped),
        }


def judge(
    results: Sequence[PathLike],
    targets: Sequence[PathLike],
    extractor: Extractor,
    judging: Judging,
    names: Optional[Sequence[str]] = None,
    progress: ProgressBar = Silent,
) -> Judgement:
    """Compares two lists of files.

    Args:
        results: what was made.
        targets: what it should look like: real pictures of the target domain, or another variant's results.
        extractor: from `choose_extractor`.
        judging: how.
        names: what each result is called when a target of its name is looked for; None: its file's own name.
        progress: called with the files and a noun.

    Raises:
        UserError: too few readable pictures on one side, or a subset larger than one.
    """
    skipped: List[str] = []
    with progress([*results, *targets], 'pictures measured') as bar:

        def pictures(paths: Sequence[PathLike]) -> Iterator[np.ndarray]:
            for path in paths:
                picture = _read(path, judging, skipped)
                bar.advance()
                if picture is not None:
                    yield picture

        x, y = extract(extractor, pictures(results)), extract(extractor, pictures(targets))
    found = kid(x, y, judging.subsets, judging.subset_size, judging.seed)
    pair = compare_pairs(by_name(results, names), by_name(targets), judging.size, judging.mode)
    return Judgement(extractor.name, extractor.comparable, judging.size, found, fid(x, y), pair, tuple(skipped))


def judge_arrays(results: np.ndarray, features: np.ndarray, extractor: Extractor, judging: Judging) -> Tuple[Kid, Fid]:
    """The same for results [N, H, W, 3] in [-1, 1]; `features`: the targets', from `extract`."""
    x = extract(extractor, (to_uint8(result) for result in results))
    return kid(x, features, judging.subsets, judging.subset_size, judging.seed), fid(x, features)


def _read(path: PathLike, judging: Judging, skipped: List[str]) -> Optional[np.ndarray]:
    try:
        return read_square(path, judging.size, judging.mode)
    except UserError as error:
        skipped.append(str(error))
        return None
