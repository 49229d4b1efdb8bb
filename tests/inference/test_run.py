"""Many pictures: batches, order, failures of single ones, bounded memory."""

from __future__ import annotations

import pathlib
import threading
from typing import Callable, List

import numpy as np
import pytest

from tests import tolerances
from tests.data import odd_files as odd
from ugatit.data.decode import decode_file
from ugatit.inference import run
from ugatit.inference.inputs import find_inputs
from ugatit.inference.outputs import assign_outputs
from ugatit.inference.progress import Silent
from ugatit.inference.run import Shown, translate_pictures
from ugatit.inference.settings import Settings
from ugatit.translate import Translation, Translator

NAMES = [f'{letter}.png' for letter in 'abcdefg']


def _run(tiny: Translator, folder: pathlib.Path, output: str, **options) -> List[run.Outcome]:
    shown: List[Shown] = []
    settings = Settings(**options)
    assignment = assign_outputs(find_inputs([str(folder / 'in')]).inputs, str(folder / output), 'a2b', settings)
    outcomes, timing = translate_pictures(tiny, assignment.files, settings, shown.append)
    assert [item.outcome for item in shown] == outcomes and timing.total >= timing.computing
    return outcomes


def test_seven_pictures_in_batches_of_four_equal_seven_alone(tiny: Translator, tmp_path, photos: Callable) -> None:
    photos(*NAMES)
    for size, output in ((4, 'four'), (1, 'one'), (1, 'again')):
        outcomes = _run(tiny, tmp_path, output, batch_size=size, arrays=True)
        assert [outcome.source.name.name for outcome in outcomes] == NAMES
    for name in NAMES:
        stem = pathlib.Path(name).stem
        four, one, again = (np.load(tmp_path / f / f'{stem}_a2b.npy') for f in ('four', 'one', 'again'))
        assert np.abs(four - one).max() <= tolerances.TOGETHER
        assert np.array_equal(one, again)
        pictures = [(tmp_path / folder / f'{stem}_a2b.png').read_bytes() for folder in ('one', 'again')]
        assert pictures[0] == pictures[1]
        levels = odd.levels(*(decode_file(tmp_path / f / f'{stem}_a2b.png').pixels for f in ('four', 'one')))
        assert levels <= 1


def test_results_differ_between_inputs(tiny: Translator, tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('a.png', 'b.png')
    _run(tiny, tmp_path, 'out')
    assert not np.array_equal(*(decode_file(tmp_path / 'out' / f'{n}_a2b.png').pixels for n in 'ab'))


@pytest.mark.parametrize('batch_size', [1, 2, 3, 10])
def test_failures_are_those_of_their_own_picture(
    tiny: Translator, tmp_path: pathlib.Path, photos: Callable, batch_size: int
) -> None:
    paths = photos(*NAMES)
    for broken in (0, 3, 4, 6):
        paths[broken].write_bytes(b'words')
    outcomes = _run(tiny, tmp_path, 'out', batch_size=batch_size)
    assert [outcome.error is None for outcome in outcomes] == [False, True, True, False, False, True, False]
    assert all(outcome.error.startswith(str(outcome.source.path)) for outcome in outcomes if outcome.error)
    assert sorted(path.name for path in (tmp_path / 'out').iterdir()) == ['b_a2b.png', 'c_a2b.png', 'f_a2b.png']
    assert outcomes[1].size == (24, 31)


def test_nothing_is_computed_for_nothing(tmp_path: pathlib.Path, photos: Callable) -> None:
    (path,) = photos('a.png')
    path.write_bytes(b'words')

    class Uncallable:
        image_size = 16

    assert _run(Uncallable(), tmp_path, 'out')[0].error is not None
    assert not (tmp_path / 'out').exists()


class _Poisoned:
    """Returns NaN for the second picture of every call."""

    image_size = 16

    def __call__(self, images: np.ndarray) -> Translation:
        result = images.copy()
        result[1:2, 3, 3, 0] = np.nan
        return Translation(result, None, images[:, ::4, ::4, 0])


def test_a_result_of_nan_is_that_files_failure(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('a.png', 'b.png', 'c.png')
    outcomes = _run(_Poisoned(), tmp_path, 'out', batch_size=3)
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    assert 'b.png: the result has 1 NaN or infinite values of 768' in outcomes[1].error
    assert sorted(path.name for path in (tmp_path / 'out').iterdir()) == ['a_a2b.png', 'c_a2b.png']


def test_an_error_of_the_network_ends_the_run_and_keeps_what_is_complete(tmp_path, photos: Callable) -> None:
    photos(*NAMES)

    class Exhausted(_Poisoned):
        calls = 0

        def __call__(self, images: np.ndarray) -> Translation:
            self.calls += 1
            if self.calls == 5:
                raise MemoryError
            return super().__call__(images)

    with pytest.raises(MemoryError):
        _run(Exhausted(), tmp_path, 'out')
    assert sorted(path.name for path in (tmp_path / 'out').iterdir())[:2] == ['a_a2b.png', 'b_a2b.png']
    assert threading.active_count() < 20


def test_memory_that_runs_out_for_one_picture_is_its_failure(tmp_path, photos: Callable, monkeypatch) -> None:
    photos('a.png', 'b.png')
    original = run.write_result

    def write(prepared, result, files, settings, source):
        if files.picture.name == 'a_a2b.png':
            raise MemoryError
        return original(prepared, result, files, settings, source)

    monkeypatch.setattr(run, 'write_result', write)
    outcomes = _run(_Poisoned(), tmp_path, 'out')
    assert 'a.png: the result is too large for the free memory' in outcomes[0].error and outcomes[1].error is None


def test_decoding_runs_ahead_but_not_far(tmp_path: pathlib.Path, photos: Callable, monkeypatch) -> None:
    photos(*[f'{number:02}.png' for number in range(40)])
    begun, most = [], []
    original = run.prepare
    monkeypatch.setattr(run, 'prepare', lambda *args: (begun.append(1), original(*args))[1])

    class Watching(_Poisoned):
        done = 0

        def __call__(self, images: np.ndarray) -> Translation:
            self.done += len(images)
            most.append(len(begun) - self.done)
            return super().__call__(images)

    _run(Watching(), tmp_path, 'out', batch_size=2)
    assert 0 < max(most) <= 2 * 2 + 4


def test_progress_counts_every_picture(tmp_path: pathlib.Path, photos: Callable) -> None:
    photos('a.png', 'b.png', 'c.png')
    inputs = find_inputs([str(tmp_path / 'in')]).inputs
    assignment = assign_outputs(inputs, str(tmp_path / 'out'), 'a2b', Settings())

    class Bar(Silent):
        seen: list = []

        def __init__(self, items, noun: str) -> None:
            self.seen.append((len(items), noun))

        def advance(self, count: int = 1) -> None:
            self.seen.append(count)

    translate_pictures(_Poisoned(), assignment.files, Settings(batch_size=2), progress=Bar)
    assert Bar.seen == [(3, 'pictures'), 1, 1, 1]
