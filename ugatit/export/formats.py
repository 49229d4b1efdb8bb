"""The formats by name and by file: what writes them and what opens them. Modules are imported when they are needed."""

from __future__ import annotations

import importlib
import pathlib
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ugatit.errors import UserError
from ugatit.export.runner import Runner


class Format(NamedTuple):
    """One kind of exported file."""

    name: str
    suffix: str  # of the file's name; '' for a folder
    opener: str  # module with open_file(path)
    needs: Tuple[str, ...] = ()  # optional packages, for writing and checking
    beside: Tuple[str, ...] = ()  # endings of what `ugatit.export.commands` may put beside the file


FORMATS: Dict[str, Format] = {
    'saved_model': Format('saved_model', '', 'saved_model'),
    'frozen_graph': Format(
        'frozen_graph', '.pb', 'frozen_graph', beside=('.atc.sh', '.keep_dtype.cfg', '.mixlist.json')
    ),
    'onnx': Format('onnx', '.onnx', 'onnx_runtime', ('onnx', 'onnxruntime'), ('.commands.txt',)),
    'tflite': Format('tflite', '.tflite', 'tflite'),
}


def format_of(path: pathlib.Path) -> Format:
    """By the name's ending, or a folder with saved_model.pb in it."""
    if not path.exists():
        raise UserError(f'an exported model is expected at {path}, but nothing is there; check the path.')
    if path.is_dir():
        if (path / 'saved_model.pb').exists():
            return FORMATS['saved_model']
        raise UserError(f'{path} is a folder without saved_model.pb; give an exported file, or --checkpoint for a'
                        ' checkpoint.')  # fmt: skip
    for found in FORMATS.values():
        if found.suffix and path.suffix.lower() == found.suffix:
            return found
    endings = ', '.join(found.suffix for found in FORMATS.values() if found.suffix)
    raise UserError(f'{path} should end in {endings}, or be the folder of a SavedModel; give an exported file.')


def open_exported(path: pathlib.Path) -> Runner:
    """The file in its own runtime."""
    return _module(format_of(path).opener).open_file(path)


def require_packages(chosen: Format) -> None:
    """UserError with the pip line where a package that the format needs is not installed."""
    from ugatit.export.packages import require

    for name in chosen.needs:
        require(name, f'--format={chosen.name}')


def write(chosen: Format, traced: Any, path: pathlib.Path, half: bool, opset: Optional[int]) -> None:
    """Writes a `Traced` in the format. half: the weights of a .tflite become float16 (others are traced so)."""
    if chosen.name == 'onnx':
        path.write_bytes(_module('onnx_file').to_onnx(traced, opset).SerializeToString())
    elif chosen.name == 'tflite':
        _module('tflite').write(traced, path, half)
    else:
        _module(chosen.name).write(traced, path)


def _module(name: str) -> Any:
    return importlib.import_module(f'ugatit.export.{name}')
