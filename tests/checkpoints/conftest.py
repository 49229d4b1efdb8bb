"""Small checkpoints of our own making, written with TensorFlow's op alone and not with the code under test."""

from __future__ import annotations

import pathlib
import zlib
from typing import Dict, Mapping

import numpy as np
import pytest
import tensorflow as tf

from ugatit.checkpoints import naming
from ugatit.nn.architecture import Architecture

LIGHT = Architecture(image_size=32, ch=2, n_dis=4, light=True)
FULL = Architecture(image_size=32, ch=2, n_dis=4, light=False)
FOLDER = 'UGATIT_light_selfie2anime_lsgan_4resblock_4dis_1_1_10_10_1000_sn_smoothing'

Tensors = Dict[str, np.ndarray]


def values(architecture: Architecture) -> Tensors:
    """A value for each tensor of an official training checkpoint, which depends on its name only."""
    return {name: _value(name, shape) for name, shape in naming.official_names(architecture).items()}


def _value(name: str, shape: naming.Shape) -> np.ndarray:
    generator = np.random.RandomState(zlib.crc32(name.encode()))
    return np.asarray(generator.normal(size=shape), np.float32)


def write(folder: pathlib.Path, tensors: Mapping[str, np.ndarray], name: str = 'UGATIT_light.model-5') -> pathlib.Path:
    """Writes the tensors and nothing else (no `checkpoint`, no JSON); returns the prefix."""
    folder.mkdir(parents=True, exist_ok=True)
    tf.raw_ops.SaveV2(
        prefix=str(folder / name),
        tensor_names=list(tensors),
        shape_and_slices=[''] * len(tensors),
        tensors=[tf.constant(value) for value in tensors.values()],
    )
    return folder / name


@pytest.fixture(scope='session')
def light_values() -> Tensors:
    """Every tensor of a small light model's training checkpoint."""
    return values(LIGHT)


@pytest.fixture
def light(tmp_path: pathlib.Path, light_values: Tensors) -> pathlib.Path:
    """The prefix of a small light training checkpoint in a folder with an official name."""
    return write(tmp_path / FOLDER, light_values)


@pytest.fixture
def full(tmp_path: pathlib.Path) -> pathlib.Path:
    """The prefix of a small full model's training checkpoint."""
    return write(tmp_path / FOLDER.replace('_light', ''), values(FULL), 'UGATIT.model-5')
