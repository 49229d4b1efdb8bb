"""A small checkpoint with lively weights, pictures for it, and a copy that overflows float16."""

from __future__ import annotations

import pathlib
import zlib
from typing import Dict

import numpy as np
from PIL import Image

from ugatit.checkpoints.naming import model_name
from ugatit.checkpoints.writer import save_checkpoint
from ugatit.nn.architecture import GENERATORS, Architecture
from ugatit.nn.blueprint import variable_specs

SIZE = 16
TINY = Architecture(image_size=SIZE, ch=4, n_res=1, n_dis=4, light=True)


def weights(architecture: Architecture = TINY) -> Dict[str, np.ndarray]:
    """Official name -> value of both generators: kernels that keep the variance, everything else of about 1."""
    return {
        name: _value(name, spec.shape)
        for scope in GENERATORS
        for name, spec in variable_specs(architecture, scope).items()
    }


def _value(name: str, shape: tuple) -> np.ndarray:
    random, leaf = np.random.RandomState(zlib.crc32(name.encode())), name.rpartition('/')[2]
    if leaf == 'kernel':
        value = random.normal(0, np.prod(shape[:-1]) ** -0.5, shape)
    else:
        value = random.uniform(0, 1, shape) if leaf in ('gamma', 'rho') else random.normal(0, 0.3, shape)
    return value.astype(np.float32)


def write_checkpoint(folder: pathlib.Path, architecture: Architecture = TINY) -> pathlib.Path:
    """Saves the generators under their official names; returns the folder."""
    save_checkpoint(folder, model_name(architecture.light), 5, weights(architecture), {'architecture': architecture})
    return folder


def write_pictures(folder: pathlib.Path, count: int = 3, side: int = 24) -> pathlib.Path:
    """Saves smooth pictures as PNG; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(1)
    for i in range(count):
        coarse = Image.fromarray(random.randint(0, 256, (6, 6, 3)).astype(np.uint8))
        coarse.resize((side, side), Image.BILINEAR).save(folder / f'{i}.png')
    return folder
