"""A program is traced once for each picture size, whatever comes in batches of whatever number."""

from __future__ import annotations

import pathlib
from typing import Any, Callable, List, Optional, Tuple

import numpy as np
import pytest
import tensorflow as tf

from ugatit.inference.inputs import find_inputs
from ugatit.inference.outputs import assign_outputs
from ugatit.inference.run import translate_pictures
from ugatit.inference.settings import Settings
from ugatit.translate import load

Shape = Tuple[Optional[int], ...]


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> List[Shape]:
    """The shapes of the batches that any network was traced for."""
    found: List[Shape] = []
    original = tf.function

    def counting(function: Callable[..., Any], **settings: Any) -> Any:
        def traced(images: Any) -> Any:
            found.append(tuple(images.shape))
            return function(images)

        return original(traced, **settings)

    monkeypatch.setattr(tf, 'function', counting)
    return found


def test_one_trace_for_all_batches_of_a_size(tiny_checkpoint: pathlib.Path, traces: List[Shape]) -> None:
    translate = load(tiny_checkpoint, device='cpu')
    for number, size in ((1, 16), (3, 16), (2, 16), (1, 32), (2, 16), (5, 32), (1, 16)):
        translate(np.random.RandomState(0).uniform(-1, 1, [number, size, size, 3]).astype(np.float32))
    assert traces == [(None, 16, 16, 3), (None, 32, 32, 3)]


def test_one_trace_for_a_folder(
    tiny_checkpoint: pathlib.Path, traces: List[Shape], photos: Callable, tmp_path: pathlib.Path
) -> None:
    """Pictures of different sizes, and a last batch that is not full."""
    photos(*(f'{number}.png' for number in range(7)))
    settings = Settings(batch_size=4)
    files = assign_outputs(find_inputs([str(tmp_path / 'in')]).inputs, str(tmp_path / 'out'), 'a2b', settings).files
    outcomes, _ = translate_pictures(load(tiny_checkpoint, device='cpu'), files, settings)
    assert len({outcome.size for outcome in outcomes}) > 1 and not any(outcome.error for outcome in outcomes)
    assert traces == [(None, 16, 16, 3)]
