"""Pictures for training: which step sees what, what is refused before it starts, and in which words."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from PIL import Image

from ugatit.data.augment import augment, enlarged_size, permutation, picture_indices, random_state
from ugatit.data.dataset import DomainStream, Loading, PairStream, scan
from ugatit.data.folders import find_folders
from ugatit.data.prefetch import prefetched
from ugatit.errors import UserError

LOADING = Loading(image_size=16)
ENOUGH = 10**6  # bytes of cache


def _write(folder: pathlib.Path, count: int = 5) -> pathlib.Path:
    folder.mkdir(parents=True)
    draw = np.random.RandomState(1)
    for k in range(count):
        Image.fromarray(draw.randint(0, 256, [20 + k, 24, 3]).astype(np.uint8)).save(folder / f'{k}.png')
    return folder


def _stream(folder: pathlib.Path, memory: int = ENOUGH, seed: int = 0, size: int = 2) -> PairStream:
    pictures = scan(folder, LOADING, memory)
    return PairStream(DomainStream(pictures, 'A'), DomainStream(pictures, 'B'), seed, size, True)


def test_every_picture_comes_once_a_round_in_another_order() -> None:
    """7 pictures by 2: rounds do not end where batches do."""
    seen = [index for step in range(21) for index in picture_indices(5, 'A', step, 2, 7)]
    rounds = [tuple(seen[k : k + 7]) for k in range(0, 42, 7)]
    assert all(sorted(order) == list(range(7)) for order in rounds)
    assert len(set(rounds)) > 1
    assert not np.array_equal(permutation(5, 'A', 0, 100), permutation(5, 'B', 0, 100))
    assert not np.array_equal(permutation(5, 'A', 0, 100), permutation(6, 'A', 0, 100))


def test_random_numbers_are_the_same_for_ever() -> None:
    """A run of last year must continue with the pictures of last year: these streams are pinned."""
    assert permutation(0, 'A', 0, 6).tolist() == PINNED_ORDER
    assert random_state(2**40 + 1, 'x').randint(0, 1000, 4).tolist() == PINNED_NUMBERS


PINNED_ORDER = [0, 5, 1, 3, 4, 2]
PINNED_NUMBERS = [669, 480, 943, 319]


def test_about_half_of_the_pictures_are_changed_within_one_run() -> None:
    """The official code decides once per run and domain: all of its pictures are augmented, or none is."""
    picture = np.random.RandomState(0).randint(0, 256, [16, 16, 3]).astype(np.uint8)
    changed = [not np.array_equal(augment(picture, random_state(0, step)), picture) for step in range(400)]
    assert 160 < sum(changed) < 240
    assert len(set(changed[:20])) == 2


def test_augmentation_flips_enlarges_and_crops() -> None:
    """A ramp tells left from right; all crops stay in range, and all offsets occur."""
    ramp = np.repeat(np.linspace(0, 255, 32).astype(np.uint8)[None, :, None], 32, 0).repeat(3, 2)
    made = [augment(ramp, random_state(1, step)) for step in range(300)]
    slopes = [np.sign(picture[0, -1, 0] - picture[0, 0, 0]) for picture in made]
    flipped = sum(slope < 0 for slope in slopes)
    assert 45 < flipped < 105  # a quarter: half of the half
    assert all(picture.shape == (32, 32, 3) and picture.dtype == np.float32 for picture in made)
    assert all(0 <= picture.min() and picture.max() <= 255 for picture in made)
    corners = {round(float(picture[0, 0, 0])) for picture in made}
    assert len(corners) > 20  # 16 offsets, and both directions
    assert (enlarged_size(256), enlarged_size(128)) == (286, 143)


def test_a_batch_is_a_function_of_seed_and_step(tmp_path: pathlib.Path) -> None:
    folder = _write(tmp_path / 'a')
    first, again, other = _stream(folder), _stream(folder), _stream(folder, seed=1)
    for step in (7, 3, 3, 1000):  # in any order, any number of times
        for left, right in zip(first(step), again(step)):
            assert left.shape == (2, 16, 16, 3) and left.dtype == np.float32 and np.abs(left).max() <= 1
            assert np.array_equal(left, right)
    assert not np.array_equal(first(3)[0], first(4)[0])
    assert not np.array_equal(first(3)[0], other(3)[0])
    assert not np.array_equal(first(3)[0], first(3)[1])


def test_pictures_that_do_not_fit_into_memory_are_the_same_ones(tmp_path: pathlib.Path) -> None:
    folder = _write(tmp_path / 'a')
    cached, read = _stream(folder), _stream(folder, memory=5 * 16 * 16 * 3 - 1)
    assert cached.a.pictures.cached and not read.a.pictures.cached
    for step in range(5):
        assert np.array_equal(cached(step)[0], read(step)[0])


def test_broken_files_are_named_before_anything_starts(tmp_path: pathlib.Path) -> None:
    folder = _write(tmp_path / 'a')
    (folder / '0b.jpg').write_bytes((folder / '1.png').read_bytes()[:200])
    (folder / 'page.jpg').write_text('<html>not found</html>')
    (folder / '.DS_Store').write_bytes(b'x')
    (folder / 'notes.txt').write_text('x')
    with pytest.raises(UserError, match=r'2 of 7 pictures in .*a cannot be read: .*0b.jpg.*page.jpg.*on_broken=skip'):
        scan(folder, LOADING)
    pictures = scan(folder, Loading(16, on_broken='skip'), ENOUGH)
    assert [path.name for path in pictures.paths] == ['0.png', '1.png', '2.png', '3.png', '4.png']
    assert np.array_equal(pictures.get(1), LOADING.load(folder / '1.png'))


def test_only_broken_files_end_with_a_sentence_also_when_skipping(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / 'a'
    folder.mkdir()
    for k in range(7):
        (folder / f'{k}.jpg').write_bytes(b'')
    with pytest.raises(UserError, match='7 of 7 pictures .* and 2 more. Repair or remove them.$'):
        scan(folder, Loading(16, on_broken='skip'))


def test_an_empty_folder_says_where_and_what_was_there(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'trainA').mkdir()
    (tmp_path / 'trainA' / 'list.txt').write_text('x')
    with pytest.raises(UserError, match=rf'found 0 in {tmp_path}/trainA .*1 .txt'):
        scan(tmp_path / 'trainA', LOADING)


def test_the_official_layout_is_found_by_folder_and_by_name(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / 'dataset' / 'mine'
    for part in ('trainA', 'trainB', 'testA'):
        (root / part).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for given in (str(root), 'dataset/mine', 'mine', 'dataset/mine/'):
        folders = find_folders(given)
        assert folders.name == 'mine'
        assert folders.train_a.samefile(root / 'trainA') and folders.test_a.samefile(root / 'testA')
        assert folders.test_b is None
    explicit = find_folders(None, train_a=str(root / 'testA'), train_b=str(root / 'trainB'))
    assert explicit.train_a == root / 'testA' and explicit.name == 'mine'
    assert find_folders('mine', name='other', test_b=str(root / 'testA')).test_b == root / 'testA'


@pytest.mark.parametrize(('wrong', 'hint'), [('traina', 'rename traina to trainA'), ('train_A', 'rename train_A')])
def test_a_misnamed_folder_is_told_with_what_is_there(tmp_path: pathlib.Path, wrong: str, hint: str) -> None:
    for name in (wrong, 'trainB', 'photos'):
        (tmp_path / name).mkdir()
    with pytest.raises(UserError, match=rf'{tmp_path} must have .*trainA is missing; found there: .*photos/.*{hint}'):
        find_folders(str(tmp_path))


def test_folders_that_do_not_exist(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'selfie2anime').mkdir()
    with pytest.raises(UserError, match=rf'{tmp_path}/selfi2anime does not exist \(did you mean .*selfie2anime\?\)'):
        find_folders(str(tmp_path / 'selfi2anime'))
    with pytest.raises(UserError, match=r'trainA was given as /nowhere/at all.*no such folder'):
        find_folders(str(tmp_path), train_a='/nowhere/at all')
    with pytest.raises(UserError, match='trainA is needed, but neither --dataset nor'):
        find_folders(None)


def test_tiny_and_long_pictures_are_enlarged(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / 'a'
    folder.mkdir()
    for name, size in (('dot', (1, 1)), ('line', (500, 3))):
        Image.new('RGB', size, (200, 10, 90)).save(folder / f'{name}.png')
    pictures = scan(folder, LOADING, ENOUGH)
    assert all(np.array_equal(pictures.get(k)[3, 5], [200, 10, 90]) for k in range(2))


def test_prefetching_keeps_the_order_and_raises_where_it_belongs() -> None:
    def make(step: int) -> int:
        if step == 6:
            raise UserError('gone')
        return step * step

    assert list(prefetched(make, 2, 6)) == [(2, 4), (3, 9), (4, 16), (5, 25)]
    arrived = []
    with pytest.raises(UserError, match='gone'):
        for step, _ in prefetched(make, 4, 100):
            arrived.append(step)
    assert arrived == [4, 5]
    assert list(prefetched(make, 3, 3)) == []


def test_settings_that_do_not_exist() -> None:
    with pytest.raises(UserError, match=r"data.on_broken must be one of fail, skip, but 'ignore' arrived"):
        Loading(16, on_broken='ignore')
