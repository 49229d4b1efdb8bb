"""A whole run in seconds: the smallest network, eager, a few random pictures."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any, Callable, Dict, Mapping, Optional

import numpy as np
from PIL import Image

from ugatit.checkpoints import CheckpointReader
from ugatit.runners import Runner
from ugatit.training.run import train
from ugatit.training.settings import DataSettings, ModelSettings, NumericsSettings, Settings, TrainingSettings

CPU = Runner('cpu', '/CPU:0', 'cpu', False)

# Four epochs of two steps, so that the learning rate changes three times.
TRAINING = TrainingSettings(
    seed=3, epochs=4, steps_per_epoch=2, decay_epoch=1, log_every=1, save_every=2, sample_every=100, keep=3
)
MODEL = ModelSettings(image_size=24, ch=2, n_res=1, n_dis=4, light=True)


def make_settings(model: Optional[Mapping[str, Any]] = None, **training: Any) -> Settings:
    return Settings(
        dataclasses.replace(TRAINING, **training),
        dataclasses.replace(MODEL, **(model or {})),
        DataSettings(name='tiny', samples=1),
        NumericsSettings(),
    )


def write_pictures(root: pathlib.Path, counts: Mapping[str, int] = {'trainA': 3, 'trainB': 5}) -> pathlib.Path:  # noqa: B006
    """Smooth random pictures of odd shapes in the official layout; the same ones for the same counts."""
    draw = np.random.RandomState(7)
    for part, count in counts.items():
        (root / part).mkdir(parents=True)
        for k in range(count):
            coarse = Image.fromarray(draw.randint(0, 256, [4, 4, 3]).astype(np.uint8))
            coarse.resize((40 + k, 36)).save(root / part / f'{k}.png')
    return root


def run(
    settings: Settings,
    data: pathlib.Path,
    workdir: pathlib.Path,
    after_step: Callable[[int], Any] = lambda step: None,
    init_from: Optional[str] = None,
) -> int:
    """Trains; `after_step` is called with the number of steps done, where the progress line would be."""
    return train(
        settings,
        str(data),
        str(workdir),
        CPU,
        init_from,
        make_pace=lambda done, total: lambda step, losses: after_step(step),
    )


def checkpoint(workdir: pathlib.Path) -> CheckpointReader:
    return CheckpointReader(workdir / 'checkpoints')


def stored(workdir: pathlib.Path) -> Dict[str, bytes]:
    """Every tensor of the newest checkpoint, as bytes."""
    reader = checkpoint(workdir)
    return {name: tensor.numpy().tobytes() for name, tensor in reader.read(reader.variables()).items()}


def same_run(left: pathlib.Path, right: pathlib.Path) -> None:
    """Fails unless two work directories hold the same tensors, losses and learning rates, bit for bit."""
    ours, theirs = stored(left), stored(right)
    assert [name for name in ours if ours[name] != theirs.get(name)] == []
    assert set(ours) == set(theirs)
    assert checkpoint(left).location.name == checkpoint(right).location.name
    assert (left / 'losses.csv').read_text() == (right / 'losses.csv').read_text()
