"""The curve of the page: where a distance stands, and which part of the network an output belongs to."""

from __future__ import annotations

import dataclasses
import math
import pathlib

import numpy as np
import pytest

from tests.dumps.made import measured
from ugatit.dumps.curve import HEIGHT, TOP, curve, height_of, stages
from ugatit.dumps.table import Row


def _row(name: str, relation: str = 'same', right: str = '') -> Row:
    return Row(0, 'Conv2D', name, right or name.replace('/', '_'), f'{name}:output:0', relation=relation)


def test_heights_are_in_order_and_inside() -> None:
    heights = [height_of(d) for d in (0.0, 1e-9, 1e-5, 0.01, 1.0, 10.0, 1e9)]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == TOP + HEIGHT and heights[-1] == TOP
    assert height_of(math.nan) < TOP


@pytest.mark.parametrize(
    ('name', 'stage'),
    [
        ('generator_B/conv_0/conv2d/Conv2D', 'encoder'),
        ('generator_B/resblock_2/res1/Relu', 'res 2'),
        ('generator_B/adaptive_resblock3/add', 'AdaLIN 3'),
        ('generator_B_CAM_logit_1_MatMul', 'CAM'),
        ('generator_B/conv_1x1/conv2d/Conv2D', '1\u00d71'),
        ('generator_A/MLP/Relu', 'MLP'),
        ('generator_B/layer_ins_norm_1/sub', 'up 1'),
        ('generator_B/Tanh', 'out'),
    ],
)
def test_stages(name: str, stage: str) -> None:
    assert stages([_row(name), _row('generator_B/Relu_9')]) == [stage, stage]
    assert stages([_row('trans_Cast_1', 'conversion', name.replace('/', '_'))]) == [stage]


def test_names_are_escaped_and_long_networks_fit(tmp_path: pathlib.Path) -> None:
    row = dataclasses.replace(_row('<script>'), metrics=measured(tmp_path, np.ones(3), np.full(3, 1.1)))
    text = curve([row] * 3, 0.05, 1)
    assert '<script>' not in text and '&lt;script&gt;' in text and 'first bad output' in text
    assert 'width="5400"' in curve([row] * 4000, 0.05, -1)
