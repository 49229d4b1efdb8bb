"""ablate.py --train around a train.py that is a stand-in: lists, resuming, failures, means over seeds, the page."""

from __future__ import annotations

import json
import pathlib
import re
import sys
from typing import Any, Dict, List

import pytest

from tests.diagnosis import tiny
from ugatit.ablation.training import Plan, read_runs, separated, summary
from ugatit.ablation.training_run import run
from ugatit.ablation.training_table import means, verdict
from ugatit.errors import UserError

LIST = """
base = 'base.py'
seeds = (0, 1)
runs = [
    dict(name='paper', changes='Nothing.', reference=True),
    dict(name='other', changes='Something <else>.', fields={'model.variants': 'default', 'model.ch': 4}),
    dict(name='failing', changes='Fails.', fields={'model.ch': 0}),
]
"""
TRAIN = """
import pathlib, shutil, sys
words = dict(word[2:].split('=', 1) for word in sys.argv[1:])
workdir, seed = pathlib.Path(words['workdir']), int(words['config.training.seed'])
with open({log!r}, 'a') as log:
    log.write(f'{{workdir.parent.name}} {{seed}}\\n')
if words.get('config.model.ch') == '0':
    sys.exit('error: ch must be at least 1')
shutil.copytree({model!r}, workdir / 'checkpoints')
columns = ['Generator_loss', 'Discriminator_loss', 'G_A_cycle', 'G_B_cycle', 'G_A_gan', 'G_B_gan']
rows = [','.join(['step', *columns])] + [','.join([str(i), *[str(10.0 + seed - i / 5)] * 6]) for i in range(40)]
(workdir / 'losses.csv').write_text('\\n'.join(rows) + '\\n')
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with a data set, a list, and what stands in for train.py."""
    root = tmp_path_factory.mktemp('training')
    for part in ('trainA', 'trainB', 'testA', 'testB'):
        tiny.write_pictures(root / 'data' / part, count=5)
    model = tiny.write_checkpoint(root / 'model')
    (root / 'base.py').write_text('')
    (root / 'list.py').write_text(LIST)
    (root / 'train.py').write_text(TRAIN.format(log=str(root / 'log'), model=str(model)))
    return root


def _run(place: pathlib.Path, plan: Plan) -> int:
    return run(plan, place / 'data', place / 'out', 'cpu', [sys.executable, str(place / 'train.py')])


def _results(place: pathlib.Path) -> List[Dict[str, Any]]:
    return json.loads((place / 'out' / 'results.json').read_text())['runs']


@pytest.mark.slow
def test_from_end_to_end(place: pathlib.Path) -> None:
    plan = read_runs(place / 'list.py', place)
    assert _run(place, plan) == 1  # one entry fails
    trained = (place / 'log').read_text().split('\n')[:-1]
    assert trained == ['paper 0', 'other 0', 'failing 0', 'paper 1', 'other 1', 'failing 1']  # seed by seed
    results = _results(place)
    assert results[2]['error'] == 'train.py stopped with exit code 1: error: ch must be at least 1'
    assert results[0]['a2b']['kid']['pictures'] == [5, 5] and '--config.training.seed=0' in results[0]['command']
    page = (place / 'out' / 'report.html').read_text()
    for part in ('Something &lt;else&gt;.', '&#9673; reference', '&#10007; failed', 'not separated'):
        assert part in page
    assert page.count('class="chart"') == 4
    images = re.findall('<img [^>]*alt="[^"]+"', page)
    assert len(images) == page.count('<img ') == (1 + 4) * 2 * 5
    table = (place / 'out' / 'table.csv').read_text().splitlines()
    assert table[0].startswith('run,seed,a2b_kid_x100,') and len(table) == 7
    # Again: what is finished is not trained, what failed is.
    assert _run(place, plan) == 1
    assert (place / 'log').read_text().split('\n')[6:-1] == ['failing 0', 'failing 1']
    # The base changed: everything is another run.
    (place / 'base.py').write_text('# another')
    with pytest.raises(UserError, match='holds something else'):
        run(plan, place / 'data', place / 'model', 'cpu', ['false'])
    assert _run(place, plan.only(plan.entries[:1])) == 1  # copytree of the stand-in finds its own checkpoint there
    assert (place / 'log').read_text().split('\n')[8:-1] == ['paper 0', 'paper 1']


def test_test_pictures_are_needed(place: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for part in ('trainA', 'trainB', 'testA'):
        tiny.write_pictures(tmp_path / 'data' / part)
    with pytest.raises(UserError, match='the dataset has no testB'):
        run(read_runs(place / 'list.py', place), tmp_path / 'data', tmp_path / 'out', 'cpu', ['false'])


def test_our_own_list(repository: pathlib.Path) -> None:
    plan = read_runs(repository / 'configs' / 'ablation' / 'train_demo.py', repository)
    assert len(plan.seeds) >= 2 and plan.entries[0].name == 'adalin' and plan.entries[0].reference
    named = {name: value for entry in plan.entries for name, value in entry.fields}
    assert {'model.variants', 'model.cam_generator', 'model.cam_discriminator'} == set(named)
    assert len(plan.entries) == 9


BAD = {
    'no reference': (LIST.replace(', reference=True', ''), r'just one run must be the reference'),
    'no base': (LIST.replace('base.py', 'bse.py'), r"to base, but 'bse.py' is none"),
    'no list': ("base = 'base.py'", r'must assign a list to runs'),
    'seeds that are none': (LIST.replace('(0, 1)', "('a',)"), r'seeds must be whole numbers such as \(0, 1\)'),
    'an unknown key': (LIST.replace('fields=', 'field='), r'a run is a dict with name, changes'),
    'a name': (LIST.replace("'other'", "'Other run'"), r"small letters, .* but 'Other run' arrived"),
    'twice': (LIST.replace("'other'", "'paper'"), r'has paper more than once'),
    'no fields': (LIST.replace("{'model.ch': 0}", '3'), r'fields must map config fields to values, but 3'),
}


@pytest.mark.parametrize('case', BAD)
def test_refused(place: pathlib.Path, case: str, tmp_path: pathlib.Path) -> None:
    content, sentence = BAD[case]
    (tmp_path / 'mine.py').write_text(content)
    with pytest.raises(UserError, match=sentence):
        read_runs(tmp_path / 'mine.py', place)


def test_means_and_what_seeds_can_say() -> None:
    assert summary([{'x': 1.0}, {'x': 3.0}], 'x') == (2.0, pytest.approx(2.0**0.5))
    assert summary([{'x': 1.0}], 'x') == (1.0, 0.0)
    assert separated([1.0, 2.0], [3.0, 4.0]) and not separated([1.0, 3.5], [3.0, 4.0])

    def result(name: str, seed: int, value: float) -> Dict[str, Any]:
        curves = {'G_A_cycle': [3.0] * 20, 'G_B_cycle': [1.0] * 18 + [seed + 2.0] * 2}
        judged = {'kid': {'x100': value}}
        return {'name': name, 'changes': '', 'reference': name == 'a', 'seed': seed, 'curves': curves,
                'a2b': judged, 'b2a': judged}  # fmt: skip

    a, b, c = means([result('a', 0, 5.0), result('b', 0, 1.0), result('c', 0, 9.0), result('a', 1, 6.0),
                     result('b', 1, 2.0), result('c', 1, 5.5)])  # fmt: skip
    assert a.kid['a2b'] == (5.5, pytest.approx(0.5**0.5)) and a.cycle == (5.5, pytest.approx(0.5**0.5))
    assert verdict(b, a, 'a2b') == 'nearer' and verdict(c, a, 'a2b') == 'not separated'
    assert verdict(a, b, 'a2b') == 'farther'
