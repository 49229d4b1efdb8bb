"""Commands import TensorFlow without what they do not use, and leave it whole for whoever does."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import gc, json, sys
from ugatit.cli.tensorflow import import_tensorflow
import_tensorflow()
found = {'before': 'keras' in sys.modules, 'blocked': 'keras.src' in sys.modules, 'frozen': gc.get_freeze_count()}
import tensorflow as tf
found['enabled'] = gc.isenabled()
found['sum'] = float(tf.keras.layers.Dense(1, kernel_initializer='ones')(tf.ones([1, 3]))[0, 0])
import tensorflow.keras
print(json.dumps(found))
"""


@pytest.fixture(scope='module')
def found() -> Any:
    done = subprocess.run([sys.executable, '-c', PROGRAM], stdout=subprocess.PIPE, check=True,
                          cwd=pathlib.Path(__file__).parent.parent.parent)  # fmt: skip
    return json.loads(done.stdout.decode().splitlines()[-1])


@pytest.mark.slow
def test_keras_waits_until_it_is_used(found: Any) -> None:
    assert not found['before'] and not found['blocked']
    assert found['sum'] == 3.0


@pytest.mark.slow
def test_what_the_import_made_is_not_searched_for_garbage(found: Any) -> None:
    assert found['frozen'] > 100_000 and found['enabled']
