"""How large a model may be in each format, found before anything is traced."""

from __future__ import annotations

from ugatit.errors import UserError
from ugatit.export.settings import ExportSettings
from ugatit.nn.generator import Generator

LARGEST = 2**31 - 2**24  # bytes of weights: protobuf and FlatBuffers end at 2**31 - 1, and names need some of it


def check_size(generator: Generator, settings: ExportSettings) -> None:
    """UserError for weights that no file of the format can hold.

    One protobuf message has a frozen graph or an ONNX model whole, of a SavedModel each weight on its own. TFLite's
    converter reads a float32 graph in one message, also where it writes halves.
    """
    half = settings.precision != 'float32' and settings.format != 'tflite'
    sizes = {name: (2 if half else 4) * value.shape.num_elements() for name, value in generator.named_variables.items()}
    largest = max(sizes, key=sizes.__getitem__)
    if sizes[largest] > LARGEST:
        raise UserError(f'{largest} alone would have {sizes[largest] / 1e9:.1f} GB, but TensorFlow makes constants of'
                        f' up to 2 GB; use {_smaller(settings)}a light model.')  # fmt: skip
    if settings.format != 'saved_model' and sum(sizes.values()) > LARGEST:
        raise UserError(f'--format={settings.format} holds up to 2 GB, but the weights would have'
                        f' {sum(sizes.values()) / 1e9:.1f} GB; use --format=saved_model, {_smaller(settings)}a light'
                        ' model.')  # fmt: skip


def _smaller(settings: ExportSettings) -> str:
    half = settings.precision != 'float32' or settings.format == 'tflite'
    return 'or ' if half else '--precision=float16, or '
