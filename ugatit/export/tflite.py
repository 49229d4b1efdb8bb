"""`--format=tflite`: for phones. Float16 means that the weights are halves.

The interpreter's CPU kernels widen them and compute in float32; a phone's GPU computes in half throughout.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pathlib
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Tuple

import numpy as np

from ugatit.data.silence import silent_stderr
from ugatit.errors import UserError
from ugatit.export.runner import Runner, Tensor, picture_input

if TYPE_CHECKING:  # reading needs no TensorFlow
    from ugatit.export.trace import Traced

_INTERPRETERS = ('ai_edge_litert', 'tflite_runtime')


def write(traced: Traced, path: pathlib.Path, half: bool) -> None:
    """Converts the traced float32 graph; `half`: weights as float16."""
    import tensorflow as tf

    with tf.device('/CPU:0'), _quiet():
        wrapped = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(traced.graph_def, name=''), [])
        function = wrapped.prune(f'{traced.input.name}:0', [f'{output.name}:0' for output in traced.outputs])
        converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
        if half:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            converter.target_spec.supported_types = [tf.float16]
        try:
            content = converter.convert()
        except Exception as error:  # ConverterError, whose module differs between versions
            if 'TF Select ops' not in str(error):
                raise
            names = str(error).rpartition('TF Select ops: ')[2].splitlines()[0]
            raise UserError(
                f'The TFLite converter of TensorFlow {tf.__version__} has no form for {names} in this graph; leave out'
                ' --dynamic_batch and --dynamic_size, use --statistics=float32, or export with a newer TensorFlow.'
            ) from None
    path.write_bytes(content)


def open_file(path: pathlib.Path) -> Runner:
    """The file in whichever interpreter is installed; UserError where there is none or the file is no TFLite model."""
    name, interpreter = _interpreter()
    try:
        with _quiet():
            opened = interpreter(model_content=path.read_bytes(), num_threads=os.cpu_count())
    except (ValueError, RuntimeError) as error:
        raise UserError(f'{path} should be a TFLite model, but it cannot be read ({error}); export it again.') from None
    source = picture_input(path, [_tensor(details) for details in opened.get_input_details()])
    entry = opened.get_input_details()[0]

    def run(pictures: np.ndarray) -> List[np.ndarray]:
        with _quiet():
            if tuple(opened.get_input_details()[0]['shape']) != pictures.shape:
                opened.resize_tensor_input(entry['index'], pictures.shape)
            opened.allocate_tensors()
            opened.set_tensor(entry['index'], pictures)
            opened.invoke()
        return [np.array(opened.get_tensor(output['index'])) for output in opened.get_output_details()]

    return Runner(source, run, name, any(len(output['shape']) == 3 for output in opened.get_output_details()))


def _tensor(details: Dict[str, Any]) -> Tensor:
    shape = tuple(int(side) if side >= 0 else None for side in details['shape_signature'])
    source = details['name'].rpartition('serving_default_')[2].partition(':')[0]
    return Tensor(source, np.dtype(details['dtype']).name, shape)


def _interpreter() -> Tuple[str, Any]:
    """(how it is called, its class): the small packages first, which need no TensorFlow."""
    for package in _INTERPRETERS:
        try:
            module = importlib.import_module(f'{package}.interpreter')
            version = getattr(importlib.import_module(package), '__version__', '')
        except ImportError:
            continue
        return f'TFLite interpreter of {package} {version}'.rstrip() + ' on CPU', module.Interpreter
    try:
        tf = importlib.import_module('tensorflow')
        return f'TFLite interpreter of TensorFlow {tf.__version__} on CPU', tf.lite.Interpreter
    except (ImportError, AttributeError):
        raise UserError('Running a .tflite file needs an interpreter, but none is installed; pip install'
                        ' ai-edge-litert, or install TensorFlow.') from None  # fmt: skip


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Holds back what the converter and the interpreter print about themselves; an error is raised all the same."""
    import logging

    log = logging.getLogger('absl')
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        with silent_stderr(replay=False), warnings.catch_warnings():
            warnings.simplefilter('ignore')
            yield
    finally:
        log.setLevel(before)
