"""What does not fit into a format is refused before anything is traced, and halves that are none are found."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from tests.diagnosis import tiny
from tests.export.models import Model
from ugatit.errors import UserError
from ugatit.export import formats, limits, write
from ugatit.export.check import Bound
from ugatit.export.formats import FORMATS
from ugatit.export.settings import ExportSettings
from ugatit.nn.architecture import Architecture

SETTINGS = ExportSettings('frozen_graph', Bound(None, None))


def _bytes(model: Model) -> list:
    return sorted(4 * value.shape.num_elements() for value in model.load().generator.named_variables.values())


@pytest.mark.parametrize('name', FORMATS)
def test_more_than_a_file_holds(
    healthy: Model, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """All weights together are over the limit, each is under it; a SavedModel has them apart."""
    monkeypatch.setattr(limits, 'LARGEST', sum(_bytes(healthy)) - 1)
    generator = healthy.load().generator
    settings = dataclasses.replace(SETTINGS, format=name)
    if name == 'saved_model':
        limits.check_size(generator, settings)
        return
    with pytest.raises(UserError, match=f'--format={name} holds up to 2 GB, but the weights would have'):
        limits.check_size(generator, settings)
    half = dataclasses.replace(settings, precision='float16')
    if name == 'tflite':
        with pytest.raises(UserError, match='use --format=saved_model, or a light model'):
            limits.check_size(generator, half)
    else:
        limits.check_size(generator, half)
    output = tmp_path / 'new' / f'a{FORMATS[name].suffix}'
    with pytest.raises(UserError, match='holds up to 2 GB'):
        healthy.export(output, name)
    assert not output.parent.exists()


def test_a_weight_that_no_constant_holds(healthy: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, 'LARGEST', _bytes(healthy)[-1] - 1)
    with pytest.raises(UserError, match=r'/kernel alone would have .* use --precision=float16, or a light model'):
        limits.check_size(healthy.load().generator, dataclasses.replace(SETTINGS, format='saved_model'))


def test_the_limit_is_below_what_protobuf_takes() -> None:
    assert 0 < 2**31 - 1 - limits.LARGEST < 2**25


def test_halves_that_are_none(tmp_path: pathlib.Path) -> None:
    """A float32 file under the name of a float16 one; the control is the right file. Weights outweigh names here."""
    model = Model(tiny.write_checkpoint(tmp_path, Architecture(image_size=16, ch=16, n_res=1, n_dis=4, light=True)))
    wide, half = (model.trace(precision=precision) for precision in ('float32', 'mixed_float16'))
    settings = dataclasses.replace(SETTINGS, precision='mixed_float16')
    for name in ('frozen_graph', 'saved_model'):
        for traced, kind in ((wide, 'wide'), (half, 'half')):
            path = tmp_path / f'{name}_{kind}{FORMATS[name].suffix}'
            formats.write(FORMATS[name], traced, path, kind == 'half', None)
            if kind == 'half':
                write._check_halves(path, half, settings)
                continue
            with pytest.raises(AssertionError, match='some were written in float32'):
                write._check_halves(path, half, settings)
