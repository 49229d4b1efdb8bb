"""A checkpoint's generator written in a format, checked in that format's own runtime, with what lies beside it.

Everything is written and checked in a hidden folder and moved into place at the end, the file itself last: a file that
is there was checked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import pathlib
import shutil
import tempfile
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

import numpy as np
import tensorflow as tf

from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.export import commands, formats
from ugatit.export.check import Bound, Check, compare
from ugatit.export.generator import exportable
from ugatit.export.graph import without_large_constants
from ugatit.export.limits import check_size
from ugatit.export.settings import ExportSettings
from ugatit.export.sidecar import Golden, checksum, golden_path, json_path, named, size_of, write_golden, write_json
from ugatit.export.trace import Traced, trace
from ugatit.inference.outputs import require_writable
from ugatit.nn.architecture import GENERATOR_OF_DIRECTION
from ugatit.nn.generator import Generator
from ugatit.translate import Translation, Translator

_HIDDEN = '.ugatit-export-'


class Exported(NamedTuple):
    """What was written."""

    path: pathlib.Path
    check: Check
    bound: Bound
    size: int  # bytes of the file or folder
    operators: Dict[str, int]
    lines: List[str]  # command lines for programs that were not run here
    facts: Dict[str, Any]  # as in the JSON beside it


def check_output(output: pathlib.Path, chosen: formats.Format) -> None:
    """UserError where the name does not fit the format or is taken, or the place cannot be written."""
    output = named(output)
    if chosen.suffix and output.suffix.lower() != chosen.suffix:
        better = printable(output.with_name(output.name + chosen.suffix))
        raise UserError(f'--output must end in {chosen.suffix} for --format={chosen.name}, but {printable(output)}'
                        f' arrived; write --output={better}.')  # fmt: skip
    for path in (output, *_beside(output, chosen)):
        if os.path.lexists(path):
            raise UserError(f'{printable(path)} exists already and is left as it is; give another --output.')
    require_writable(output.parent)


def _beside(output: pathlib.Path, chosen: formats.Format) -> List[pathlib.Path]:
    """What may be written along with the file."""
    written = [output.with_name(output.name + ending) for ending in chosen.beside]
    return [json_path(output), golden_path(output), *written]


def export_file(
    source: Translation,
    translate: Translator,
    images: np.ndarray,
    output: pathlib.Path,
    settings: ExportSettings,
    origin: Dict[str, Any],
) -> Exported:
    """Writes one direction's generator.

    Args:
        source: what the unplanned float32 model makes of `images`: what the file is compared with.
        translate: the model that is written, in float32, with its plan folded in.
        images: [N, H, W, 3] in [-1, 1]; they become the golden pair.
        output: the file, or the folder of a SavedModel.
        settings: format, precision, interface, bounds.
        origin: what the JSON tells about where it came from.

    Raises:
        UserError: the model cannot be written so, or the written file differs too much; nothing is left then.
    """
    chosen, output = formats.FORMATS[settings.format], named(output)
    check_output(output, chosen)
    settings.interface.check(translate.architecture)
    check_size(translate.generator, settings)
    traced, generator = _traced(translate, settings)
    with _hidden_beside(output) as hidden:
        made = hidden / output.name
        formats.write(chosen, traced, made, settings.precision != 'float32', settings.opset)
        _check_halves(made, traced, settings)
        traced = traced.without_weights()
        runner = formats.open_exported(made)
        check, pictures = compare(runner, images, source.image, source.heatmap)
        _require(check, settings.bound, output)
        written = _commands(output, traced, generator, settings)
        facts = _facts(made, output, traced, check, settings, translate, origin, written)
        heatmap = source.heatmap if settings.interface.heatmap else None
        write_golden(made, Golden(images, source.image, pictures, heatmap))
        write_json(made, facts)
        for name, text in written.files.items():
            (hidden / name).write_text(text, 'utf-8')
        size = size_of(made)
        _publish(hidden, output)
    return Exported(output, check, settings.bound, size, traced.operators(), written.lines, facts)


def _traced(translate: Translator, settings: ExportSettings) -> Tuple[Traced, Generator]:
    # A .tflite's kernels take float32 only: its halves are the weights, which the converter makes.
    precision = 'float32' if settings.format == 'tflite' else settings.precision
    generator = exportable(translate, precision, settings.reflect_pad)
    return trace(generator, translate.direction, settings.interface), generator


def _check_halves(path: pathlib.Path, traced: Traced, settings: ExportSettings) -> None:
    """float16 weights must be half as large: a forgotten switch gives a file that works and is twice the size."""
    if settings.precision == 'float32':
        return
    skeleton, large = without_large_constants(traced.graph_def)
    weights = sum(math.prod(dim.size for dim in node.attr['value'].tensor.tensor_shape.dim) for node in large)
    # Names, shapes and tables are written in every format's own way, and measured here as a GraphDef.
    if size_of(path) > 2.2 * weights + 2 * skeleton.ByteSize():
        raise AssertionError(f'{size_of(path)} bytes for {weights} weights in float16: some were written in float32')


def _require(check: Check, bound: Bound, output: pathlib.Path) -> None:
    if not check.passes(bound):
        heatmap = '' if check.heatmap_difference is None else ', or leave --heatmap out'
        raise UserError(f'{printable(output)} was removed again, because it is not what the checkpoint computes'
                        f' ({check.text()}), and {bound.text()} were asked for; use --ranges=auto and'
                        ' --statistics=prescaled or float32, or allow more with --max_difference or'
                        f' --min_psnr{heatmap}.')  # fmt: skip


def _commands(output: pathlib.Path, traced: Traced, generator: Generator, settings: ExportSettings) -> commands.Written:
    if settings.format == 'frozen_graph':
        mode = settings.precision_mode or commands.atc_mode(settings.precision, settings.statistics)
        safe = settings.statistics == 'prescaled' or settings.fit_squares
        return commands.atc(output, traced, generator, settings.soc_version, mode, safe)
    if settings.format == 'onnx':
        return commands.onnx_lines(output, traced, settings.precision, settings.statistics)
    return commands.Written([], {})


def _facts(
    made: pathlib.Path,
    output: pathlib.Path,
    traced: Traced,
    check: Check,
    settings: ExportSettings,
    translate: Translator,
    origin: Dict[str, Any],
    written: commands.Written,
) -> Dict[str, Any]:
    scope = GENERATOR_OF_DIRECTION[translate.direction]
    levels = settings.interface.uint8
    return {
        'file': output.name,
        'format': settings.format,
        'bytes': size_of(made),
        'sha256': checksum(made),
        'direction': translate.direction,
        'network': scope,
        'input': {**dataclasses.asdict(traced.input), 'range': [0, 255] if levels else [-1, 1], 'order': 'NHWC, RGB'},
        'outputs': [dataclasses.asdict(tensor) for tensor in traced.outputs],
        'precision': settings.precision,
        'statistics': settings.statistics,
        'variants': translate.generator.build.variants.name,
        'reflect_pad': settings.reflect_pad,
        'opset': settings.opset if settings.format == 'onnx' else None,
        'exponents': dict(translate.generator.build.scaling.exponents),
        'architecture': dataclasses.asdict(translate.architecture),
        'operators': traced.operators(),
        'check': check.to_json(),
        'bound': dataclasses.asdict(settings.bound),
        'commands_not_run_here': written.lines,
        'tensorflow': tf.__version__,
        **origin,
    }


@contextlib.contextmanager
def _hidden_beside(output: pathlib.Path) -> Iterator[pathlib.Path]:
    """A new folder in the output's folder, removed in the end with all that is left in it."""
    existed = output.absolute().parent.is_dir()
    output.absolute().parent.mkdir(parents=True, exist_ok=True)
    hidden = pathlib.Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=output.absolute().parent))
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        if not existed:
            with contextlib.suppress(OSError):  # something was written
                output.absolute().parent.rmdir()


def _publish(hidden: pathlib.Path, output: pathlib.Path) -> None:
    """Moves what lies beside the file first: what is seen under the file's own name is complete."""
    names = sorted((path.name for path in hidden.iterdir()), key=lambda name: name == output.name)
    for name in names:
        (hidden / name).replace(output.parent / name)
