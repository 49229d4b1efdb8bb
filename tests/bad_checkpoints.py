"""Checkpoints that are none, or not the one that is needed: a function makes each and returns what the user gives."""

from __future__ import annotations

import pathlib
from typing import Callable, Dict, Tuple

import numpy as np

from tests.checkpoints import conftest as checkpoints
from tests.inference.tiny import TINY, generator_values, write_tiny
from ugatit.nn.architecture import Architecture

Maker = Callable[[pathlib.Path], pathlib.Path]


def copy(root: pathlib.Path, architecture: Architecture = TINY, **changes: np.ndarray) -> pathlib.Path:
    return write_tiny(root / 'model', architecture, **changes)


def _data(root: pathlib.Path) -> pathlib.Path:
    return next(copy(root).glob('*.data-*'))


def _missing(root: pathlib.Path) -> pathlib.Path:
    return root / 'nowhere'


def _empty(root: pathlib.Path) -> pathlib.Path:
    (root / 'empty').mkdir()
    return root / 'empty'


def _photo(root: pathlib.Path) -> pathlib.Path:
    return root / 'photo.png'


def _archive(root: pathlib.Path) -> pathlib.Path:
    (root / 'UGATIT.zip').write_bytes(b'PK\x03\x04')
    return root / 'UGATIT.zip'


def _cut_data(root: pathlib.Path) -> pathlib.Path:
    data = _data(root)
    data.write_bytes(data.read_bytes()[:-100])
    return data.parent


def _no_data(root: pathlib.Path) -> pathlib.Path:
    data = _data(root)
    data.unlink()
    return data.parent


def _no_index(root: pathlib.Path) -> pathlib.Path:
    folder = copy(root)
    next(folder.glob('*.index')).unlink()
    return folder / 'UGATIT_light.model-5'


def _bad_index(root: pathlib.Path) -> pathlib.Path:
    folder = copy(root)
    next(folder.glob('*.index')).write_bytes(b'words')
    return folder


def _changed_bytes(root: pathlib.Path) -> pathlib.Path:
    data = _data(root)
    content = bytearray(data.read_bytes())
    content[::7] = bytes(len(content[::7]))
    data.write_bytes(bytes(content))
    return data.parent


def _foreign(root: pathlib.Path) -> pathlib.Path:
    return checkpoints.write(root / 'foreign', {'dense/kernel': np.ones((2, 2), np.float32)}, 'model.ckpt-3').parent


def _object_based(root: pathlib.Path) -> pathlib.Path:
    names = {'layer/kernel/.ATTRIBUTES/VARIABLE_VALUE': np.ones(3, np.float32)}
    return checkpoints.write(root / 'tf2', names, 'ckpt-1').parent


def _one_variable_less(root: pathlib.Path) -> pathlib.Path:
    values = {name: value for name, value in generator_values().items() if name != 'generator_B/conv/conv2d/bias'}
    return checkpoints.write(root / 'less', values).parent


def _wrong_shape(root: pathlib.Path) -> pathlib.Path:
    values = {**generator_values(), 'generator_B/conv/conv2d/bias': np.zeros(3, np.float32)}
    return checkpoints.write(root / 'shape', values).parent


def _one_direction(root: pathlib.Path) -> pathlib.Path:
    values = {name: value for name, value in generator_values().items() if name.startswith('generator_A')}
    return checkpoints.write(root / 'one', values).parent


def _two_models(root: pathlib.Path) -> pathlib.Path:
    write_tiny(root / 'models' / 'first')
    write_tiny(root / 'models' / 'second')
    return root / 'models'


CHECKPOINTS: Dict[str, Tuple[Maker, str]] = {
    'missing': (_missing, r'no checkpoint .*nowhere: there is no such .* in /.*; give the place where yours lies'),
    'an empty folder': (_empty, r'no checkpoint \(no \*.index file\) in .*empty; folders tried: .*empty'),
    'a picture': (_photo, r'photo.png is no TensorFlow checkpoint; give a model directory, a prefix'),
    'an archive': (_archive, r'UGATIT.zip is no TensorFlow checkpoint; .*unpack an archive first'),
    'cut off': (_cut_data, r'is cut off: the index asks for \d+ bytes of data, \d+ are there; copy'),
    'without data': (_no_data, r'has an .index but its data is missing: put UGATIT_light.model-5.data-00000-of-00001'),
    'without index': (_no_index, r'a checkpoint is an .index and a .data file, but .*index is missing'),
    'a bad index': (_bad_index, r'is no index of a TensorFlow checkpoint, or it is damaged \(5 bytes\)'),
    'damaged': (_changed_bytes, r'the data of generator_B/\S+ in .* is damaged .*download'),
    'of another model': (_foreign, r'variables of generator_B expected in .*, but it holds 1 others \(dense/kernel\)'),
    'of the TF2 kind': (_object_based, r'It looks like a TF2 object checkpoint'),
    'a variable less': (_one_variable_less, r'missing \(1\): generator_B/conv/conv2d/bias; unexpected \(0\): none'),
    'a wrong shape': (_wrong_shape, r'misshapen \(1\): generator_B/conv/conv2d/bias \(expected \[2\], found \[3\]\)'),
    'the other direction': (_one_direction, r'variables of generator_B expected in'),
    'two models': (_two_models, r'one checkpoint expected, but .*models holds 2 model directories; give one of them'),
}  # fmt: skip
