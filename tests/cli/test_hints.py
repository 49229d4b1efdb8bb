"""Suggestions: near names are found, far ones are not guessed."""

from __future__ import annotations

from typing import Optional

import pytest

from ugatit.cli.hints import did_you_mean, either, nearest, sentence

PRECISIONS = ('float32', 'mixed_float16', 'float16', 'float16_operands', 'mixed_bfloat16')


@pytest.mark.parametrize(
    ('typed', 'expected'),
    [
        ('FLOAT16', 'float16'),
        ('float23', 'float32'),
        ('mixed_b', 'mixed_bfloat16'),
        ('int8', None),
        ('', None),
    ],
)
def test_nearest(typed: str, expected: Optional[str]) -> None:
    assert nearest(typed, PRECISIONS) == expected


def test_words() -> None:
    assert did_you_mean('cup', ['cpu'], prefix='--') == '; did you mean --cpu?'
    assert did_you_mean('zzz', ['cpu']) == ''
    assert (either(['a']), either(['a', 'b']), either(['a', 'b', 'c'])) == ('a', 'a or b', 'a, b or c')
    assert (sentence('x'), sentence('x.'), sentence('x?')) == ('x.', 'x.', 'x?')
