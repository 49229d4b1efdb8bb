"""Functions that a graph has once, however many layers call them."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict

import tensorflow as tf


def traced_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of its own in every graph, one for each shape of its arguments.

    A training step has a hundred convolutions of a hundred operations each, but of a dozen shapes: to trace and
    optimise them one by one took a minute and more.
    """
    options: Dict[str, Any] = {'autograph': False}
    if 'experimental_attributes' in inspect.signature(tf.function).parameters:  # TensorFlow 2.6 can only inline
        options['experimental_attributes'] = {'_noinline': True}
    return tf.function(function, **options)
