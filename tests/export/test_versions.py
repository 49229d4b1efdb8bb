"""Frozen graphs from either TensorFlow run on the other: two small ones lie here, made by 2.21 and by 2.6.5.

Made again with `python -m tests.export.test_versions NAME` (one per TensorFlow), from seeded weights.
"""

from __future__ import annotations

import pathlib
import shutil
import sys
import tempfile

import pytest

from ugatit.export.frozen_graph import read
from ugatit.export.verify import verify

DATA = pathlib.Path(__file__).resolve().parent / 'data'
MADE_BY = ('tensorflow_2_21', 'tensorflow_2_6')


@pytest.mark.parametrize('precision', ['float32', 'float16'])
@pytest.mark.parametrize('version', MADE_BY)
def test_a_graph_from_the_other_tensorflow(version: str, precision: str) -> None:
    found = verify(DATA / f'{version}_{precision}.pb')
    assert found.passed, found.check.text()


@pytest.mark.parametrize('version', MADE_BY)
def test_no_attribute_that_old_versions_refuse(version: str) -> None:
    nodes = read(DATA / f'{version}_float32.pb').node
    assert any(node.op == 'MatMul' for node in nodes)
    assert not any(name.startswith(('grad_', '_')) for node in nodes for name in node.attr)


def _make(version: str) -> None:
    from tests.diagnosis import tiny
    from tests.export.models import Model
    from ugatit.nn.architecture import Architecture

    small = Architecture(image_size=16, ch=2, n_res=1, n_dis=4, light=True)
    folder = pathlib.Path(tempfile.mkdtemp())
    model = Model(tiny.write_checkpoint(folder, small))
    for precision in ('float32', 'float16'):
        name = DATA / f'{version}_{precision}.pb'
        for path in DATA.glob(f'{name.name}*'):
            path.unlink()
        model.export(name, 'frozen_graph', precision, statistics='float32')
        name.with_name(f'{name.name}.atc.sh').unlink()
    shutil.rmtree(folder)


if __name__ == '__main__':
    _make(sys.argv[1])
