"""A frozen graph in the place of Inception: a tiny one of our own with the same ends."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from tests import tolerances
from ugatit.data.official_resize import tensorflow1_bilinear
from ugatit.errors import UserError
from ugatit.evaluation.extractors import choose_extractor, extract
from ugatit.evaluation.inception import InceptionFeatures


def write_graph(path: pathlib.Path, output: str = 'pool_3') -> pathlib.Path:
    """JPEG bytes -> Mul -> one 8x8 mean of each colour and its square -> pool_3 -> a classifier, as Inception's ends.

    Like the real file it is for one picture, says so in _output_shapes, and begins with a JPEG decoder.
    """
    graph = tf.Graph()
    with graph.as_default():
        data = tf.compat.v1.placeholder(tf.string, [], name='DecodeJpeg/contents')
        pixels = tf.cast(tf.io.decode_jpeg(data, channels=3, name='DecodeJpeg'), tf.float32)
        resized = tf.compat.v1.image.resize_bilinear(pixels[None], [299, 299], name='ResizeBilinear')
        x = tf.multiply(resized - 128.0, 1 / 128.0, name='Mul')
        both = tf.concat([x, tf.square(x)], axis=3)
        pooled = tf.nn.avg_pool2d(both, 299, 1, 'VALID', name=output)
        tf.nn.softmax(tf.reshape(pooled, [1, 6]), name='softmax')
    definition = graph.as_graph_def(add_shapes=True)
    path.write_bytes(definition.SerializeToString())
    return path


@pytest.fixture(scope='module')
def graph(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_graph(tmp_path_factory.mktemp('inception') / 'tiny.pb')


def _pictures() -> np.ndarray:
    return np.random.RandomState(3).randint(0, 256, (5, 20, 30, 3)).astype(np.uint8)


def test_features_are_those_of_the_graph(graph: pathlib.Path) -> None:
    features = extract(choose_extractor(graph), _pictures())
    squares = np.stack([tensorflow1_bilinear(picture, 299, 299) for picture in _pictures()])
    x = squares.astype(np.float64) / 127.5 - 1.0
    expected = np.concatenate([x.mean(axis=(1, 2)), (x * x).mean(axis=(1, 2))], axis=1)
    assert features.shape == (5, 6)
    assert features == pytest.approx(expected, abs=tolerances.GRAPH_MEAN)


def test_it_says_what_it_is(graph: pathlib.Path) -> None:
    extractor = InceptionFeatures(graph)
    assert extractor.name.startswith('Inception graph tiny.pb, sha256 ') and extractor.dimensions == 6
    assert 'not the published Inception: it has 6 features, not 2048' in extractor.comparable


def test_refusals(tmp_path: pathlib.Path) -> None:
    for content, sentence in (
        (None, r'inceptionv1_for_inception_score.pb .* cannot be read \(No such file'),
        (b'\x1f\x8b\x08 archive', r'is an archive; unpack it'),
        (b'words and words', r'but .*given.* is none; download it again'),
    ):
        if content is not None:
            (tmp_path / 'given').write_bytes(content)
        with pytest.raises(UserError, match=sentence):
            choose_extractor(tmp_path / 'given')
    with pytest.raises(UserError, match='has no pool_3; use inceptionv1'):
        choose_extractor(write_graph(tmp_path / 'other.pb', output='pool_4'))
