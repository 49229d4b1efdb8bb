"""TensorBoard's files, written as the records that they are, because tf.summary needs TensorBoard to be installed."""

from __future__ import annotations

import io
import os
import pathlib
import socket
import time
from typing import Mapping

import numpy as np
import tensorflow as tf
from PIL import Image

_BINS = 30


class EventFile:
    """One file per session; TensorBoard drops what an earlier one has beyond the step at which this one starts."""

    def __init__(self, folder: pathlib.Path, steps_done: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f'events.out.tfevents.{time.time():.6f}.{socket.gethostname()}.{os.getpid()}'
        self._writer = tf.io.TFRecordWriter(str(folder / name))
        self._write(tf.compat.v1.Event(wall_time=time.time(), file_version='brain.Event:2'))
        start = tf.compat.v1.SessionLog(status=tf.compat.v1.SessionLog.START)
        self._write(tf.compat.v1.Event(wall_time=time.time(), step=steps_done + 1, session_log=start))

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers by tag; `losses/G_A_cam` is the curve G_A_cam in the group losses."""
        self._summary(step, [_Value(tag=tag, simple_value=float(value)) for tag, value in values.items()])

    def image(self, step: int, tag: str, pixels: np.ndarray) -> None:
        """uint8 [H, W, 3]."""
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, 'PNG')
        height, width = pixels.shape[:2]
        image = tf.compat.v1.Summary.Image(
            height=height, width=width, colorspace=3, encoded_image_string=buffer.getvalue()
        )
        self._summary(step, [_Value(tag=tag, image=image)])

    def histograms(self, step: int, values: Mapping[str, np.ndarray]) -> None:
        """Distributions by tag, over [0, 1] as rho is."""
        self._summary(step, [_Value(tag=tag, histo=_histogram(array)) for tag, array in values.items()])

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def _summary(self, step: int, values: list) -> None:
        summary = tf.compat.v1.Summary(value=values)
        self._write(tf.compat.v1.Event(wall_time=time.time(), step=step, summary=summary))

    def _write(self, event: tf.compat.v1.Event) -> None:
        self._writer.write(event.SerializeToString())


_Value = tf.compat.v1.Summary.Value


def _histogram(array: np.ndarray) -> tf.compat.v1.HistogramProto:
    values = np.asarray(array, np.float64).ravel()
    counts, edges = np.histogram(values, _BINS, (0.0, 1.0))
    return tf.compat.v1.HistogramProto(
        min=values.min(), max=values.max(), num=values.size, sum=values.sum(), sum_squares=np.square(values).sum(),
        bucket_limit=edges[1:].tolist(), bucket=counts.tolist(),
    )  # fmt: skip
