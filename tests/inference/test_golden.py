"""The real pictures through infer.py, against what the official code made of them."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import infer
from tests import tolerances
from ugatit.cli.main import run

TAG = 'light_i64_c4_d5_smooth'
RECORDED = {'a2b': 'female_2321', 'b2a': '3414'}  # input 0 of each direction is this picture
NAMES = ('0006.png', '3414.png', 'female_222.jpg', 'female_2321.jpg')


def _infer(golden: pathlib.Path, output: pathlib.Path, *words: str) -> None:
    inputs = [str(golden / 'images' / name) for name in NAMES]
    checkpoint = f'--checkpoint={golden / "checkpoints" / TAG}'
    common = [checkpoint, f'--output={output}', '--image_size=64', '--device=cpu', '--arrays']
    assert run(infer.main, infer.FLAGS, [*inputs, *common, *words]) == 0


@pytest.mark.usefixtures('shared_models')
@pytest.mark.parametrize('direction', RECORDED)
def test_official_pictures(golden: pathlib.Path, tmp_path: pathlib.Path, direction: str) -> None:
    _infer(golden, tmp_path, '--resize=official', f'--direction={direction}')
    official = np.load(golden / 'outputs' / f'{TAG}.npz')[f'{direction}/image/0'][0]
    ours = np.load(tmp_path / f'{RECORDED[direction]}_{direction}.npy')
    assert np.abs(ours - official).max() <= tolerances.OFFICIAL_PICTURE


@pytest.mark.usefixtures('shared_models')
def test_four_together_equal_four_alone(golden: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for folder, size in (('four', 4), ('one', 1), ('again', 1)):
        _infer(golden, tmp_path / folder, f'--batch_size={size}')
    for name in NAMES:
        file = f'{pathlib.Path(name).stem}_a2b.npy'
        four, one, again = (np.load(tmp_path / folder / file) for folder in ('four', 'one', 'again'))
        assert np.abs(four - one).max() <= tolerances.TOGETHER
        assert np.array_equal(one, again)
