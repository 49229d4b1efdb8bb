"""docs/ and the README: every command runs as written, links lead somewhere, translations have the same commands, and
measured figures are still what comes out."""

from __future__ import annotations

import pathlib
import re
import runpy
import shlex
import sys
from typing import Iterator, List, NamedTuple, Tuple

import numpy as np
import pytest
from PIL import Image

from tests import tolerances
from tests.data.tiny_clips import write_gif, write_video
from tests.diagnosis import tiny
from tests.inference.tiny import share_models
from ugatit.checkpoints.folding import fold_exponents
from ugatit.data.folders import PARTS
from ugatit.inference.portrait import portrait
from ugatit.nn.policy import make_policy
from ugatit.numerics import psnr
from ugatit.planning import plan_ranges, profile_ranges
from ugatit.translate import load

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
ENGLISH = [path for path in sorted((REPOSITORY / 'docs').glob('*.md')) if '.zh' not in path.name]
ENGLISH.append(REPOSITORY / 'README.md')
DOCS = [*ENGLISH, REPOSITORY / 'README.zh.md', REPOSITORY / 'docs' / 'ascend.zh.md']
TRANSLATED = {'README.zh.md': 'README.md', 'docs/ascend.zh.md': 'docs/ascend.md'}
NEEDS = {'photos_and_videos.md': ('av', 'cv2'), 'getting_started.md': ('av', 'cv2')}
TESTED = re.compile(r'^<!-- tested -->\n```(bash|python)\n(.*?)^```', re.MULTILINE | re.DOTALL)
LONG = ('README.md', 'getting_started.md')
MARKS = r'tested|not tested: [^>]+|command: run|command: test'  # the last two: .ci/run runs them, word for word
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
    for name in ('selfies', 'anime', 'photos', 'drawings', *(f'dataset/NAME/{part}' for part in PARTS)):
        tiny.write_pictures(tmp_path / name)
    for name in ('photo.jpg', 'party.jpg'):
        Image.fromarray(portrait()).save(tmp_path / name)
    write_gif(tmp_path / 'dance.gif', [50, 50])
    monkeypatch.chdir(tmp_path)
    share_models(monkeypatch)
    yield tmp_path


@pytest.mark.parametrize(
    'document',
    [pytest.param(path, marks=[pytest.mark.slow] if path.name in LONG else []) for path in ENGLISH],
    ids=lambda path: path.name,
)
def test_commands_run_as_written(document: pathlib.Path, place: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, because one uses what another wrote."""
    for package in NEEDS.get(document.name, ()):
        pytest.importorskip(package)
    blocks = _blocks(document)
    if any('clip.mp4' in block.text for block in blocks):
        write_video(place / 'clip.mp4', count=3)
    for block in blocks:
        if block.language == 'python':
            exec(compile(block.text, document.name, 'exec'), {'__name__': 'documented'})
            continue
        for line in block.text.splitlines():
            assert _run(line, monkeypatch) == 0, line
    assert document.name != 'float16.md' or len(blocks) >= 5


def _run(line: str, monkeypatch: pytest.MonkeyPatch) -> object:
    """The exit code of one documented command, run in this process."""
    python, script, *words = shlex.split(line)
    assert python == '.venv/bin/python', line
    module = words.pop(0) if script == '-m' else None
    monkeypatch.setattr(sys, 'argv', [module or script, *words])
    with pytest.raises(SystemExit) as done:
        if module is None:
            runpy.run_path(str(REPOSITORY / script), run_name='__main__')
        else:
            runpy.run_module(module, run_name='__main__')
    return done.value.code


@pytest.mark.parametrize('translation', TRANSLATED)
def test_a_translation_has_the_same_commands_in_the_same_order(translation: str) -> None:
    translated, original = ((REPOSITORY / name).read_text('utf-8') for name in (translation, TRANSLATED[translation]))
    assert _commands(translated) == _commands(original)
    assert len(re.findall(r'^#+ ', translated, re.MULTILINE)) == len(re.findall(r'^#+ ', original, re.MULTILINE))
    figures = [set(re.findall(r'\d+(?:\.\d+)*', _prose(text).replace(',', ''))) for text in (translated, original)]
    assert figures[0] - figures[1] == set()  # no figure that the original does not have
    columns = [re.findall(r'^\| (`[^`]+`) \|', text, re.MULTILINE) for text in (translated, original)]
    assert columns[0] == columns[1]


def _commands(text: str) -> List[str]:
    return re.findall(r'^```(?:bash|python)\n(.*?)^```', text, re.MULTILINE | re.DOTALL)


def _prose(text: str) -> str:
    """What is left without commands and links: figures in it must survive translation."""
    return re.sub(r'\]\([^)]*\)|https?:\S+', '', re.sub(r'^```.*?^```', '', text, flags=re.MULTILINE | re.DOTALL))


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
    marked = len(re.findall(rf'^<!-- (?:{MARKS}) -->\n```bash\n', text, re.MULTILINE))
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
