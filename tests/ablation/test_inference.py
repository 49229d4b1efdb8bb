"""ablate.py on a tiny checkpoint that overflows, from end to end: rows, files, resuming, failures and mistakes."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import pathlib
import re
from typing import Any, Dict, List

import numpy as np
import pytest

import ablate
from tests import tolerances
from tests.diagnosis import tiny
from ugatit.ablation import inference, models
from ugatit.ablation.spec import Variant
from ugatit.ablation.store import Store, fingerprint
from ugatit.checkpoints.folding import fold_exponents
from ugatit.cli.main import run
from ugatit.data.decode import decode_file

CONFIG = """
variants = [
    dict(name='float32', changes='Nothing & <all>.'),
    dict(name='floor', changes='Unlimited.', precision='mixed_float16', ranges='floor'),
    dict(name='plain', changes='As it is.', precision='mixed_float16', overflow='saturate'),
    dict(name='infinite', changes='As it is.', precision='mixed_float16'),
    dict(name='planned', changes='A plan.', precision='mixed_float16', overflow='saturate', ranges='auto'),
    dict(name='drop-in', changes='Folded.', precision='mixed_float16', overflow='saturate', ranges='drop_in'),
    dict(name='failing', changes='Fails.', variants='mine.py'),
    dict(name='batch', changes='BatchNorm.', precision='mixed_float16', overflow='saturate', variants='batch_swap'),
]
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with a checkpoint that overflows, pictures and a list; `out` is what the command made of it."""
    root = tmp_path_factory.mktemp('ablation')
    fold_exponents(tiny.write_checkpoint(root / 'healthy'), {'generator_B': {'decoder': -18, 'up_conv_0': -17}},
                   root / 'model')  # fmt: skip
    tiny.write_pictures(root / 'in')
    tiny.write_pictures(root / 'real', count=4)
    (root / 'mine.py').write_text("norm = [('nothing', 'batch'), ('.*', 'default')]")
    (root / 'list.py').write_text(CONFIG)
    return root


def _ablate(place: pathlib.Path, monkeypatch: pytest.MonkeyPatch, *words: str, output: str = 'out') -> int:
    monkeypatch.chdir(place)
    usual = ['--checkpoint=model', '--input=in', f'--output={output}', '--config=list.py', '--device=cpu']
    return run(ablate.main, ablate.FLAGS, [*usual, *words])


@pytest.fixture(scope='module')
def rows(place: pathlib.Path) -> Dict[str, Dict[str, Any]]:
    """Name -> row of results.json after the first run."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert _ablate(place, monkeypatch, '--target=real') == 1  # one fails
    return {row['variant']: row for row in json.loads((place / 'out' / 'results.json').read_text())['rows']}


@pytest.mark.slow
def test_planned_is_at_its_floor_and_plain_is_broken(rows: Dict[str, Dict[str, Any]]) -> None:
    floor = rows['floor']['psnr_db']
    for name in ('planned', 'drop-in'):
        assert rows[name]['psnr_db'] > floor - tolerances.FLOOR_DB and rows[name]['overflow_share'] == 0.0
    assert rows['plain']['psnr_db'] < floor - tolerances.BROKEN_DB
    assert rows['float32']['same_bits'] and rows['float32']['psnr_db'] is None
    assert rows['plain']['first_overflow'].startswith('generator_B/') and rows['plain']['overflow_share'] > 0.0
    assert rows['planned']['planned'] and rows['planned']['exponents']['decoder'] > 0
    assert not rows['batch']['keeps_function'] and rows['planned']['keeps_function']
    assert rows['plain']['weight_bytes'] < tolerances.MIXED_WEIGHT_BYTES * rows['float32']['weight_bytes']


@pytest.mark.slow
def test_results_that_are_not_finite(place: pathlib.Path, rows: Dict[str, Dict[str, Any]]) -> None:
    row = rows['infinite']
    assert row['broken'] == 3 and row['unusable'] and row['changed'] == 1.0 and row['kid'] is None
    assert (decode_file(place / 'out' / 'images' / 'infinite' / '0.png').pixels == (255, 0, 255)).all(axis=-1).any()


@pytest.mark.slow
def test_set_distances_are_measured(rows: Dict[str, Dict[str, Any]]) -> None:
    assert rows['planned']['kid']['pictures'] == [3, 4] and rows['planned']['fid']['value'] > 0.0


@pytest.mark.slow
def test_a_failing_variant_is_a_row_and_stops_nothing(rows: Dict[str, Dict[str, Any]]) -> None:
    assert "'nothing' matches no layer" in rows['failing']['error']
    assert list(rows).index('failing') < list(rows).index('batch') and 'error' not in rows['batch']


@pytest.mark.slow
def test_table_and_page(place: pathlib.Path, rows: Dict[str, Dict[str, Any]]) -> None:
    table = list(csv.DictReader(io.StringIO((place / 'out' / 'table.csv').read_text())))
    assert [row['variant'] for row in table] == list(rows)
    assert list(table[0])[:7] == ['variant', 'precision', 'overflow', 'planned', 'psnr_db', 'ssim', 'max_error_8bit']
    page = (place / 'out' / 'report.html').read_text()
    _Checked().feed(page)
    assert 'Nothing &amp; &lt;all&gt;.' in page and not re.search(r'(src|href)="(?!data:|#)', page)
    for mark in ('&#9673; reference', '&#10007; unusable', '&#10007; failed', 'class="sortable"'):
        assert mark in page
    assert page.count('<svg') == 2 == page.count('role="img" class="chart"')
    assert len(re.findall('<img ', page)) == len(re.findall('<img [^>]*alt="[^"]+"', page)) == 3 * (1 + 2 * 6)


class _Checked(html.parser.HTMLParser):
    """Every element is closed in order; identifiers are unique."""

    def __init__(self) -> None:
        super().__init__()
        self.open: List[str] = []
        self.ids: List[str] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        if tag not in ('meta', 'img', 'br'):
            self.open.append(tag)
        self.ids += [value for name, value in attributes if name == 'id']
        assert len(self.ids) == len(set(self.ids))

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.slow
def test_finished_rows_are_not_measured_again(place: pathlib.Path, rows: Dict[str, Any], monkeypatch) -> None:
    """The same command after a kill between two rows: only what is missing, or failed, is measured."""
    measured: List[str] = []
    original = inference._measured

    def counted(ablation: Any, variant: Any, reference: Any) -> Any:
        measured.append(variant.name)
        return original(ablation, variant, reference)

    monkeypatch.setattr(inference, '_measured', counted)
    (place / 'out' / 'rows' / 'plain.json').unlink()
    assert _ablate(place, monkeypatch, '--target=real') == 1
    assert measured == ['plain', 'failing']
    again = {row['variant']: row for row in json.loads((place / 'out' / 'results.json').read_text())['rows']}
    assert again['plain']['psnr_db'] == rows['plain']['psnr_db'] and again['planned'] == rows['planned']
    measured.clear()
    (place / 'in' / '2.png').write_bytes((place / 'in' / '0.png').read_bytes())
    assert _ablate(place, monkeypatch, '--target=real', '--only=floor') == 0
    assert measured == ['float32', 'floor']  # other pictures, other results


def _stand_in(place: pathlib.Path, tmp_path: pathlib.Path) -> inference.Ablation:
    store = Store(tmp_path / 'out', 'inference')
    store.begin()
    images = np.zeros((1, 16, 16, 3), np.float32)
    source = models.Source(place / 'model', 'a2b', 'cpu')
    pictures = inference.Pictures(images, ('a',), ())
    return inference.Ablation(source, pictures, None, store, models.Profiles(images))


def test_another_rule_in_a_file_is_another_row(place: pathlib.Path, tmp_path: pathlib.Path) -> None:
    ablation, rules = _stand_in(place, tmp_path), tmp_path / 'rules.py'
    prints = []
    for text in ("norm = [('.*', 'layer')]", "norm = [('.*', 'group')]", "norm = [('.*', 'group')]  # said otherwise"):
        rules.write_text(text)
        prints.append(fingerprint(ablation.depends_on(Variant('mine', 'Mine.', variants=str(rules)))))
    assert prints[0] != prints[1] == prints[2]


def test_a_bug_keeps_its_trace(place: pathlib.Path, tmp_path: pathlib.Path, monkeypatch, caplog) -> None:
    """A row of its own for a bug in a variant; without the reference there is nothing to go on with."""
    ablation = _stand_in(place, tmp_path)
    good = ablation.pictures.images, {'variant': 'float32', 'reference': True}

    def measured(given: Any, variant: Variant, reference: Any) -> Any:
        if variant.name in failing:
            raise KeyError('a bug')
        return good[1], good[0]

    monkeypatch.setattr(inference, '_measured', measured)
    failing = ['half']
    variants = [Variant('float32', 'x'), Variant('half', 'y', 'mixed_float16')]
    rows = inference.ablate(ablation, variants)
    assert rows[1]['error'] == "KeyError: 'a bug'"
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [KeyError]
    failing = ['base']
    with pytest.raises(KeyError):
        inference.ablate(ablation, [Variant('base', 'x')])


BAD = {
    'nothing': ([], r'--output is needed'),
    'no checkpoint': (['--output=new'], r'--checkpoint is needed'),
    'no input': (['--output=new', '--checkpoint=model'], r'--input is needed'),
    'a taken folder': (['--output=in', '--checkpoint=model', '--input=in'], r'in holds something else; name another'),
    'a file': (['--output=list.py', '--checkpoint=model', '--input=in'], r'must be a folder, but list.py is a file'),
    'no such list': (['--output=new', '--config=fast'], r"or a name in configs/ablation \(default.*'fast' is neither"),
    'an unknown row': (
        ['--output=new', '--checkpoint=model', '--input=in', '--only=planed'], r"'planed', which is no variant of the"),
    'graph without target': (['--output=new', '--inception=x.pb'], r'--inception belongs to --target=DIR'),
    'data without training': (['--output=new', '--dataset=in'], r'--dataset belongs to --train'),
    'training a checkpoint': (['--output=new', '--train', '--checkpoint=model'], r'--checkpoint is for ablating a'),
    'training on nothing': (['--output=new', '--train'], r'--dataset is needed'),
    'a subset too large': (
        ['--output=new', '--checkpoint=model', '--input=in', '--target=real', '--kid_subset_size=4'],
        r'from 2 to 3 pictures'),
}  # fmt: skip


@pytest.mark.parametrize('case', BAD)
def test_refused(place: pathlib.Path, case: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    words, sentence = BAD[case]
    monkeypatch.chdir(place)
    assert run(ablate.main, ablate.FLAGS, words) == 2
    stderr = capsys.readouterr().err
    assert re.search(sentence, stderr.rstrip().split('\n')[-1]) and 'Traceback' not in stderr
    assert not (place / 'new').exists()
