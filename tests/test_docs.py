"""docs/: every command runs as written, links lead somewhere, and measured figures are still what comes out."""

from __future__ import annotations

import pathlib
import re
import runpy
import shlex
import sys
from typing import Iterator, List, NamedTuple, Tuple

import numpy as np
import pytest

from tests import tolerances
from tests.diagnosis import tiny
from ugatit.checkpoints.folding import fold_exponents
from ugatit.nn.policy import make_policy
from ugatit.numerics import psnr
from ugatit.planning import plan_ranges, profile_ranges
from ugatit.translate import load

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
DOCS = sorted((REPOSITORY / 'docs').glob('*.md'))
TESTED = re.compile(r'^<!-- tested -->\n```(bash|python)\n(.*?)^```', re.MULTILINE | re.DOTALL)
CODE = {'light': 'overflow_light_i64_c16', 'full': 'overflow_full_i64_c8'}


class Block(NamedTuple):
    """A fenced block that must run."""

    language: str
    text: str


def _blocks(document: pathlib.Path) -> List[Block]:
    return [Block(*found) for found in TESTED.findall(document.read_text('utf-8'))]


@pytest.fixture
def place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A folder with what the documents' file names mean: a checkpoint that overflows, and pictures of both domains."""
    fold_exponents(tiny.write_checkpoint(tmp_path / 'healthy'), {'generator_B': {'decoder': -18, 'up_conv_0': -17}},
                   tmp_path / 'UGATIT_selfie2anime')  # fmt: skip
    for name in ('selfies', 'anime'):
        tiny.write_pictures(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.parametrize('document', DOCS, ids=lambda path: path.name)
def test_commands_run_as_written(document: pathlib.Path, place: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, because one uses what another wrote."""
    blocks = _blocks(document)
    for block in blocks:
        if block.language == 'python':
            exec(compile(block.text, document.name, 'exec'), {'__name__': 'documented'})
            continue
        for line in block.text.splitlines():
            python, script, *words = shlex.split(line)
            assert python == '.venv/bin/python', line
            monkeypatch.setattr(sys, 'argv', [script, *words])
            with pytest.raises(SystemExit) as done:
                runpy.run_path(str(REPOSITORY / script), run_name='__main__')
            assert done.value.code == 0, line
    assert document.name != 'float16.md' or len(blocks) >= 5


def test_there_are_documents() -> None:
    assert 'float16.md' in [document.name for document in DOCS]


@pytest.mark.parametrize('document', DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: pathlib.Path) -> None:
    linked = re.findall(r'\]\((?!https?:|#)([^)#]+)\)', document.read_text('utf-8'))
    assert [name for name in linked if not (document.parent / name).exists()] == []


@pytest.mark.parametrize('document', DOCS, ids=lambda path: path.name)
def test_every_shell_block_is_run_or_says_why_not(document: pathlib.Path) -> None:
    text = document.read_text('utf-8')
    fenced = len(re.findall(r'^```bash\n', text, re.MULTILINE))
    marked = len(re.findall(r'^<!-- (?:tested|not tested: [^>]+) -->\n```bash\n', text, re.MULTILINE))
    assert fenced == marked


def _figures() -> List[Tuple[str, str, str, str, float]]:
    """(column, precision, ranges, variants, dB) of the table under <!-- figures --> in float16.md."""
    text = (REPOSITORY / 'docs' / 'float16.md').read_text('utf-8').partition('<!-- figures -->\n')[2]
    rows = [
        [cell.strip(' `') for cell in line.strip('|').split('|')] for line in text.partition('\n\n')[0].splitlines()
    ]
    columns = rows[0][3:]
    return [
        (column, *row[:3], float(value)) for row in rows[2:] for column, value in zip(columns, row[3:])
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize('column', list(CODE))
def test_figures_come_out_again(golden: pathlib.Path, column: str) -> None:
    checkpoint, size = golden / 'checkpoints' / CODE[column], 64
    with np.load(golden / 'outputs' / f'{CODE[column]}.npz') as recorded:
        images = np.concatenate([recorded[f'in/x_A/{i}'] for i in range(3)])
    base = load(checkpoint, image_size=size)
    exact, profile = base(images).image, profile_ranges(base, images)
    wrong = []
    for of, precision, ranges, variants, expected in _figures():
        if of != column:
            continue
        if ranges == 'floor':
            found = np.asarray(base.twin(make_policy(precision).floor())(images).image)
        else:
            squares = precision == 'float16' and variants == 'default'  # as infer.py --ranges=auto decides
            plan = plan_ranges(base, profile, fit_squares=squares) if ranges == 'auto' else None
            found = load(checkpoint, 'a2b', precision, 'saturate', plan, variants, image_size=size)(images).image
        if abs(psnr(found, exact) - expected) > tolerances.DOCUMENTED_DECIBELS:
            wrong.append((precision, ranges, variants, expected, psnr(found, exact)))
    assert wrong == []


def test_the_figures_table_is_read_whole() -> None:
    figures = _figures()
    assert len(figures) == 18 and {column for column, *_ in figures} == set(CODE)
