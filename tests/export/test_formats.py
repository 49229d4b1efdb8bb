"""Every format in both precisions: right in its own runtime, complete beside it, verifiable, and nothing left over."""

from __future__ import annotations

import functools
import json
import pathlib
from typing import Callable, Optional, Tuple

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from tests.export.models import Model
from ugatit.errors import UserError
from ugatit.export.check import Bound, Check, as_image, as_input, compare, default_bound
from ugatit.export.exported import ExportedModel
from ugatit.export.formats import FORMATS, open_exported
from ugatit.export.settings import Interface
from ugatit.export.sidecar import golden_path, json_path, read_golden, read_json
from ugatit.export.verify import verify
from ugatit.export.write import Exported
from ugatit.nn.policy import make_policy
from ugatit.numerics import psnr

ANY_SIZE = Interface(dynamic_batch=True, dynamic_size=True, heatmap=True)
BYTES = Interface(dynamic_batch=True, uint8=True)


WRITTEN = [(name, precision) for name in FORMATS for precision in ('float32', 'mixed_float16')]
WRITTEN += [(name, 'float16') for name in FORMATS]  # with prescaled statistics


@pytest.fixture(scope='module')
def exported(
    healthy: Model, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], Tuple[pathlib.Path, Exported]]:
    """exported(format, precision) -> the file, alone with what lies beside it, and what was said of it; made once."""

    @functools.cache
    def make(name: str, precision: str) -> Tuple[pathlib.Path, Exported]:
        output = tmp_path_factory.mktemp(f'{name}_{precision}') / f'a2b{FORMATS[name].suffix}'
        statistics = 'prescaled' if precision == 'float16' else 'plain'
        return output, healthy.export(output, name, precision, statistics=statistics, interface=ANY_SIZE)

    return make


Exports = Callable[[str, str], Tuple[pathlib.Path, Exported]]


def _copied(exported: Exports, folder: pathlib.Path) -> pathlib.Path:
    """A frozen graph of our own to spoil."""
    output, _ = exported('frozen_graph', 'float32')
    for path in output.parent.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder / output.name


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'precision'), WRITTEN)
def test_written_checked_and_verified(healthy: Model, exported: Exports, name: str, precision: str) -> None:
    if (name, precision) == ('tflite', 'float16') and tf.__version__.startswith('2.6.'):
        with pytest.raises(UserError, match='has no form for GreaterEqual'):  # five axes, one of them free
            exported(name, precision)
        return
    output, made = exported(name, precision)
    _check_pictures(healthy, made.check, precision)
    beside = {path.name for path in output.parent.iterdir()}
    assert {output.name, json_path(output).name, golden_path(output).name} <= beside
    assert not any(found.startswith('.') for found in beside)
    found = verify(output)
    assert found.passed and found.drift < tolerances.EXPORT_DRIFT
    _check_batches_and_sizes(output, healthy, precision)


def _check_pictures(healthy: Model, check: Check, precision: str) -> None:
    """Float32 as the checkpoint; halves as float16 of unlimited exponent, or better with float32 in between."""
    if precision == 'float32':
        assert check.largest_difference < tolerances.NETWORK_FLOAT32
        assert check.heatmap_difference < tolerances.NETWORK_FLOAT32
        return
    translate = healthy.load(False, 'prescaled' if precision == 'float16' else 'plain')
    floor = translate.twin(make_policy(precision).floor())(healthy.images).image.numpy()
    assert check.psnr > psnr(floor, healthy.source.image) - tolerances.FLOOR_DB
    assert check.heatmap_difference < tolerances.FLOAT16_HEATMAP


def _check_batches_and_sizes(output: pathlib.Path, healthy: Model, precision: str) -> None:
    """One file: batches of 1 and 3 agree, and another size works, a quarter of it in the heat map."""
    run = open_exported(output)
    together, alone = run(healthy.images)[0], run(healthy.images[:1])[0]
    allowed = tolerances.TOGETHER if precision == 'float32' else tolerances.EXPORT_BATCH
    assert together.shape == healthy.images.shape and np.abs(together[:1] - alone).max() < allowed
    wide = np.concatenate([healthy.images] * 2, axis=2)
    pictures, maps = run(wide)
    assert pictures.shape == wide.shape and maps.shape == (3, 4, 8)


@pytest.mark.slow
@pytest.mark.parametrize('name', FORMATS)
def test_float16_files_are_about_half(healthy: Model, exported: Exports, name: str) -> None:
    """Of the weights: in so small a model names and tables are a large part, so the two files are subtracted."""
    weights = sum(4 * variable.shape.num_elements() for variable in healthy.load().generator.named_variables.values())
    wide, half = (exported(name, precision)[1].size for precision in ('float32', 'mixed_float16'))
    smallest, largest = tolerances.EXPORT_HALF_SHARES
    assert smallest * weights < wide - half < largest * weights


@pytest.mark.slow
@pytest.mark.parametrize('name', FORMATS)
def test_pictures_as_bytes(healthy: Model, tmp_path: pathlib.Path, name: str) -> None:
    output = tmp_path / f'bytes{FORMATS[name].suffix}'
    made = healthy.export(output, name, interface=BYTES)
    run = open_exported(output)
    assert run.input.dtype == 'uint8' and run(as_input(run, healthy.images))[0].dtype == np.uint8
    assert 127.5 * made.check.largest_difference < tolerances.EXPORT_BYTES_LEVELS


def test_bytes_come_in_as_the_decoder_makes_them(healthy: Model, tmp_path: pathlib.Path) -> None:
    """All 256 levels, exactly `to_float`: (x - 127.5) / 127.5 rounds once."""
    from ugatit.data.convert import to_float
    from ugatit.export.trace import from_pixels

    levels = np.arange(256, dtype=np.uint8)
    assert np.array_equal(from_pixels(tf.constant(levels)).numpy(), to_float(levels))


def test_the_json_says_what_the_file_is(broken: Model, tmp_path: pathlib.Path) -> None:
    output = tmp_path / 'a2b.pb'
    broken.export(output, 'frozen_graph', statistics='prescaled')
    facts = read_json(output)
    assert facts['direction'] == 'a2b' and facts['network'] == 'generator_B' and facts['precision'] == 'float32'
    assert facts['input'] == {'name': 'test_domain_A', 'dtype': 'float32', 'shape': [1, 16, 16, 3],
                              'range': [-1, 1], 'order': 'NHWC, RGB'}  # fmt: skip
    assert facts['exponents']['decoder'] > 0 and facts['statistics'] == 'prescaled'
    assert str(tmp_path) not in json.dumps(facts)
    golden = read_golden(output)
    assert np.array_equal(golden.images, broken.images) and np.array_equal(golden.wanted, broken.source.image)


def test_a_changed_file_is_found(exported: Exports, tmp_path: pathlib.Path) -> None:
    """Bytes that change no picture are found by the checksum, weights by the pictures as well."""
    output = _copied(exported, tmp_path)
    content = output.read_bytes()
    output.write_bytes(content + b'\x1a\x00')  # an empty field at the end: the same graph
    found = verify(output)
    assert not found.same_bytes and not found.passed and found.drift == 0.0
    kernel = content.find(b'generator_B/G_logit/conv2d/kernel')
    output.write_bytes(content[: kernel + 200] + bytes(64) + content[kernel + 264 :])
    assert verify(output).drift > 0.0


def test_what_lies_beside_is_needed(exported: Exports, tmp_path: pathlib.Path) -> None:
    output = _copied(exported, tmp_path)
    golden_path(output).unlink()
    with pytest.raises(UserError, match='golden.npz is needed'):
        verify(output)
    json_path(output).unlink()
    with pytest.raises(UserError, match='a2b.pb.json is needed'):
        verify(output)


def test_a_file_alone_still_translates(healthy: Model, exported: Exports, tmp_path: pathlib.Path) -> None:
    output = _copied(exported, tmp_path)
    json_path(output).unlink()
    model = ExportedModel(output, 16)
    assert (model.direction, model.image_size) == ('a2b', 16)
    assert np.abs(model(healthy.images).image - healthy.source.image).max() < tolerances.NETWORK_FLOAT32


def test_a_check_that_fails_leaves_nothing(broken: Model, tmp_path: pathlib.Path) -> None:
    """Native halves on the CPU show what an unplanned float16 graph is."""
    with pytest.raises(UserError, match='was removed again'):
        broken.export(tmp_path / 'new' / 'a2b.pb', 'frozen_graph', 'float16', planned=False)
    assert list(tmp_path.iterdir()) == []


def test_a_bound_that_is_too_tight_is_a_failure(healthy: Model) -> None:
    found, _ = compare(_Constant(healthy.source.image + 0.01), healthy.images, healthy.source.image, None)
    assert not found.passes(Bound(0.001, None)) and found.passes(Bound(0.02, None))
    assert found.passes(Bound(None, 40.0)) and not found.passes(Bound(None, 60.0))
    nothing, _ = compare(_Constant(healthy.source.image * np.nan), healthy.images, healthy.source.image, None)
    assert not nothing.passes(Bound(None, None))


def test_the_decibels_are_those_of_everywhere(healthy: Model) -> None:
    """An ONNX file is checked without TensorFlow, which `ugatit.numerics` imports, so the formula stands twice."""
    wanted = healthy.source.image
    for found in (wanted, wanted + np.float32(0.01), -wanted):
        check, _ = compare(_Constant(found), healthy.images, wanted, None)
        assert check.psnr == psnr(found, wanted)


@pytest.mark.parametrize('precision', ['float32', 'float16'])
def test_a_heat_map_is_checked_too(healthy: Model, precision: str) -> None:
    image, heatmap = healthy.source.image, healthy.source.heatmap
    bound = default_bound(precision, False, None, None)

    def check(made: np.ndarray) -> Check:
        return compare(_Constant(image, made), healthy.images, image, heatmap)[0]

    assert check(heatmap).passes(bound) and 'heat map within 0' in check(heatmap).text()
    wrong, broken = check(heatmap[:, ::-1]), check(heatmap * np.nan)
    assert wrong.psnr == np.inf and not wrong.passes(bound) and 'heat maps within' in bound.text()
    assert not broken.passes(bound) and not broken.passes(Bound(None, None)) and 'NaN' in broken.text()


def test_who_allows_more_in_a_picture_gets_the_wide_bound_of_the_map() -> None:
    narrow, wide = (default_bound('float32', False, largest, None).heatmap_difference for largest in (None, 0.1))
    assert narrow < wide == default_bound('float16', False, None, None).heatmap_difference


class _Constant:
    """A runner that gives the same whatever it gets."""

    def __init__(self, image: np.ndarray, heatmap: Optional[np.ndarray] = None) -> None:
        from ugatit.export.runner import Tensor

        self.input, self.runtime = Tensor('x', 'float32', (None, 16, 16, 3)), 'a test'
        self._image, self._heatmap = image, heatmap

    def __call__(self, pictures: np.ndarray) -> tuple:
        return as_image(self._image[: len(pictures)]), None if self._heatmap is None else self._heatmap[: len(pictures)]
