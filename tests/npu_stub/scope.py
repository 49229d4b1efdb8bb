"""`keep_dtype_scope`: marks every operator made inside with the attribute `_keep_dtype`."""

from __future__ import annotations

import contextlib
from typing import Iterator

import tensorflow as tf

ATTRIBUTE = '_keep_dtype'
_depth = [0]


@contextlib.contextmanager
def keep_dtype_scope() -> Iterator[None]:
    """Keep the precision of the operators inside where the chip can."""
    _depth[0] += 1
    try:
        if tf.executing_eagerly():
            yield
        else:
            with tf.compat.v1.get_default_graph()._attr_scope({ATTRIBUTE: tf.compat.v1.AttrValue(i=1)}):
                yield
    finally:
        _depth[0] -= 1


def keeps_dtype() -> bool:
    """Whether we are inside one."""
    return _depth[0] > 0
