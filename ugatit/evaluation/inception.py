"""Features of the Inception graph that the paper's KID was computed with, from a file that the user has.

Two frozen graphs of the same network are in use, both from 2015-12-05, both with `Mul` (pictures of 299 x 299) and
`pool_3` (2048 features): `inceptionv1_for_inception_score.pb` out of frozen_inception_v1_2015_12_05.tar.gz, which
TensorFlow 1's tf.contrib.gan and so the official KID code took, and `classify_image_graph_def.pb` out of
inception-2015-12-05.tgz, which the original Inception score and FID took. Both lay under TensorFlow's download site,
models/ and models/image/imagenet/. Despite the first one's name it is Inception v3.
"""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any, Optional, Tuple

import numpy as np

from ugatit.data.files import PathLike
from ugatit.data.names import printable
from ugatit.data.official_resize import tensorflow1_bilinear
from ugatit.errors import UserError

INPUT, OUTPUT, FEATURES = 'Mul', 'pool_3', 2048
_WHERE = ('inceptionv1_for_inception_score.pb (from frozen_inception_v1_2015_12_05.tar.gz) or classify_image_graph_def'
          '.pb (from inception-2015-12-05.tgz)')  # fmt: skip
_ATTRIBUTES = ('_output_shapes',)  # says one picture; recomputed on import


class InceptionFeatures:
    """uint8 [N, H, W, 3] -> float32 [N, 2048], or as many as the graph's `pool_3` has."""

    size = 299

    def __init__(self, path: PathLike) -> None:
        data = _read(path)
        self.name = f'Inception graph {pathlib.Path(path).name}, sha256 {hashlib.sha256(data).hexdigest()}'
        self._run, self.dimensions = _load(path, data)
        self.comparable = (
            'its numbers compare with those of other code that feeds the same graph with pictures resized the same way'
        )
        if self.dimensions != FEATURES:
            self.comparable = f'this is not the published Inception: it has {self.dimensions} features, not {FEATURES}'

    def __call__(self, pictures: np.ndarray) -> np.ndarray:
        """Resized as TensorFlow 1 did, to [-1, 1], as the official KID code does."""
        squares = np.stack([tensorflow1_bilinear(picture, self.size, self.size) for picture in pictures])
        features = self._run(squares / np.float32(127.5) - np.float32(1.0))
        return features.reshape(len(pictures), -1)


def _read(path: PathLike) -> bytes:
    try:
        data = pathlib.Path(path).expanduser().read_bytes()
    except OSError as error:
        raise UserError(f'--inception must be a frozen graph, {_WHERE}, but {printable(path)} cannot be read'
                        f' ({error.strerror}); check the path.') from None  # fmt: skip
    if data[:2] == b'\x1f\x8b':
        raise UserError(f'--inception must be a frozen graph, but {printable(path)} is an archive; unpack it and name'
                        ' the .pb file in it.')  # fmt: skip
    return data


def _load(path: PathLike, data: bytes) -> Tuple[Any, int]:
    """(a function from float32 [N, 299, 299, 3] to features, how many features)."""
    import tensorflow as tf
    from google.protobuf.message import DecodeError

    graph = tf.compat.v1.GraphDef()
    try:
        graph.ParseFromString(data)
        is_graph = len(graph.node) > 0  # some protobufs read anything, and find nothing in it
    except DecodeError:
        is_graph = False
    if not is_graph:
        raise UserError(f'--inception must be a frozen graph, {_WHERE}, but {printable(path)} is none; download it'
                        ' again.')  # fmt: skip
    names = {node.name for node in graph.node}
    missing = [name for name in (INPUT, OUTPUT) if name not in names]
    if missing:
        raise UserError(f'--inception must be a graph with the nodes {INPUT} and {OUTPUT}, but {printable(path)} has no'
                        f' {" and no ".join(missing)}; use {_WHERE}.')  # fmt: skip
    for node in graph.node:
        for attribute in _ATTRIBUTES:
            node.attr.pop(attribute, None)
    return _wrapped(path, _needed(graph))


def _needed(graph: Any) -> Any:
    """The nodes between input and output, the input now a placeholder: the rest decodes JPEG files and classifies."""
    import tensorflow as tf

    stump = tf.compat.v1.GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name == INPUT:
            stump.node.add(name=INPUT, op='Placeholder').attr['dtype'].type = tf.float32.as_datatype_enum
        else:
            stump.node.add().CopyFrom(node)
    return tf.compat.v1.graph_util.extract_sub_graph(stump, [OUTPUT])


def _wrapped(path: PathLike, graph: Any) -> Tuple[Any, int]:
    import tensorflow as tf

    def features(x: Any) -> Any:
        return tf.graph_util.import_graph_def(graph, input_map={f'{INPUT}:0': x}, return_elements=[f'{OUTPUT}:0'])[0]

    spec = tf.TensorSpec([None, InceptionFeatures.size, InceptionFeatures.size, 3], tf.float32)
    try:
        function = tf.compat.v1.wrap_function(features, [spec])
    except (ValueError, tf.errors.OpError) as error:
        raise UserError(f'--inception={printable(path)} does not run: {str(error).splitlines()[0]}; use {_WHERE}.') \
            from None  # fmt: skip
    dimensions: Optional[int] = function.outputs[0].shape[1:].num_elements()
    if dimensions is None:
        dimensions = int(np.prod(function(tf.zeros([1, *spec.shape[1:]])).shape))
    return lambda x: function(tf.constant(x)).numpy(), dimensions
