"""ablate.py --train around a train.py that is a stand-in: lists, resuming, failures, means over seeds, the page."""

from __future__ import annotations

import json
import math
import os
import pathlib
import re
import sys
from typing import Any, Dict, List, Set, Tuple

import pytest

from tests.diagnosis import tiny
from ugatit.ablation import training_run
from ugatit.ablation.training import Plan, read_runs, separated, summary
from ugatit.ablation.training_run import read_curves, run
from ugatit.ablation.training_table import last_cycle, means, summed, verdict
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
BASE = """
from ml_collections import ConfigDict

def get_config():
    return ConfigDict({'model': {'ch': 8}})
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
columns = ['Discriminator_loss', 'Generator_loss', 'G_A_cycle', 'G_B_cycle', 'G_A_gan', 'G_B_gan']
rows = [','.join(['step', *columns])]
for i in range(40):
    loss = str(10.0 + seed - i / 5)
    rows.append(','.join([str(i), loss, *([loss] * 5 if i % 3 == 0 else [''] * 5)]))  # as with n_critic=3
(workdir / 'losses.csv').write_text('\\n'.join(rows) + '\\n')
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with a data set, a list, and what stands in for train.py."""
    root = tmp_path_factory.mktemp('training')
    for part in ('trainA', 'trainB', 'testA', 'testB'):
        tiny.write_pictures(root / 'data' / part, count=5)
    model = tiny.write_checkpoint(root / 'model')
    (root / 'base.py').write_text(BASE)
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
    said = 'train.py stopped with exit code 1: error: ch must be at least 1; all that it said is in '
    log = re.fullmatch(
        f'{re.escape(said)}(/.*/train[.]log): mend the cause and give the same command again[.]', results[2]['error']
    )
    assert log and 'error: ch must be at least 1' in pathlib.Path(log.group(1)).read_text()
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
    # The base changed: everything is another run, trained anew in a folder of its own.
    (place / 'base.py').write_text(BASE.replace('8', '16'))
    with pytest.raises(UserError, match='holds something else'):
        run(plan, place / 'data', place / 'model', 'cpu', ['false'])
    assert _run(place, plan.only(plan.entries[:1])) == 0
    assert (place / 'log').read_text().split('\n')[8:-1] == ['paper 0', 'paper 1']


class Trained:
    """ablate.py --train with stand-ins for training and judging: which folders are trained in, and what is judged."""

    def __init__(self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.trained, self.judged = root, set(), 0
        for part in ('trainA', 'trainB', 'testA', 'testB'):
            tiny.write_pictures(root / 'data' / part, count=4)
        (root / 'base.py').write_text(BASE.replace("{'ch': 8}", "{'ch': shared_settings.CH}")
                                      .replace('from ml', 'import shared_settings\nfrom ml'))  # fmt: skip
        (root / 'shared_settings.py').write_text('CH = 8')
        (root / 'mine.py').write_text("norm = [('.*', 'layer')]")
        (root / 'list.py').write_text(MINE)
        monkeypatch.setattr(training_run, '_train', lambda job: self.trained.add(job.workdir.name))
        monkeypatch.setattr(training_run, '_judged', self._judge)
        monkeypatch.setattr(training_run, '_write', lambda *given: None)

    def _judge(self, job: Any, store: Any) -> Dict[str, Any]:
        self.judged += 1
        return {direction: {'kid': {'x100': 1.0}} for direction in ('a2b', 'b2a')}

    def run(self, **more: Any) -> Tuple[Set[str], int]:
        """(folders that train.py was started for, how many results were judged)."""
        sys.modules.pop('shared_settings', None)  # a command is a new process
        self.trained, self.judged = set(), 0
        plan = read_runs(self.root / 'list.py', self.root)
        assert training_run.run(plan, self.root / 'data', self.root / 'out', 'cpu', ['false'], **more) == 0
        return self.trained, self.judged


MINE = """
base = 'base.py'
runs = [dict(name='mine', changes='Mine.', fields={'model.variants': 'mine.py'}, reference=True)]
"""
CHANGES = {
    'the base': ('base.py', BASE.replace('8', '16')),
    'what the base imports': ('shared_settings.py', 'CH = 32'),
    'a file of rules': ('mine.py', "norm = [('.*', 'instance')]"),
    'fields': ('list.py', MINE.replace("'mine.py'}", "'mine.py', 'model.ch': 4}")),
}


@pytest.mark.parametrize('case', [*CHANGES, 'a training picture'])
def test_another_training_is_in_another_folder(case: str, tmp_path: pathlib.Path, monkeypatch) -> None:
    """Where it was in the same, train.py found a finished run, and old weights were judged as new ones."""
    stand_in = Trained(tmp_path, monkeypatch)
    first, _ = stand_in.run()
    assert len(first) == 1 and re.fullmatch('seed0-[0-9a-f]{8}', *first)
    assert stand_in.run() == (set(), 0)
    if case in CHANGES:
        name, content = CHANGES[case]
        (tmp_path / name).write_text(content)
    else:
        picture = tmp_path / 'data' / 'trainA' / '1.png'
        os.utime(picture, ns=(1, 1))  # as many pictures of as many bytes, but drawn at another time
    second, judged = stand_in.run()
    assert len(second) == 1 and not first & second and judged == 1


def test_what_only_judging_depends_on_is_not_trained_for(tmp_path: pathlib.Path, monkeypatch) -> None:
    stand_in = Trained(tmp_path, monkeypatch)
    first, _ = stand_in.run()
    (tmp_path / 'base.py').write_text((tmp_path / 'base.py').read_text() + '# nothing')
    assert stand_in.run() == (set(), 0)
    os.utime(tmp_path / 'data' / 'testB' / '1.png', ns=(1, 1))
    assert stand_in.run() == (first, 1)  # the same folder: train.py finds its finished run
    assert stand_in.run(subset_size=3) == (first, 1)


def test_a_base_that_is_no_config(tmp_path: pathlib.Path, monkeypatch) -> None:
    stand_in = Trained(tmp_path, monkeypatch)
    (tmp_path / 'base.py').write_text('x = 1')
    with pytest.raises(UserError, match=r'base.py must be a config of train.py with a function get_config'):
        stand_in.run()


def test_subsets_larger_than_the_test_sets_are_refused_before_training(tmp_path: pathlib.Path, monkeypatch) -> None:
    stand_in = Trained(tmp_path, monkeypatch)
    with pytest.raises(UserError, match='from 2 to 4 pictures'):
        stand_in.run(subset_size=5)
    assert not stand_in.trained and not (tmp_path / 'out').exists()


def test_a_bug_keeps_its_trace_and_stops_nothing(tmp_path: pathlib.Path, monkeypatch, caplog) -> None:
    stand_in = Trained(tmp_path, monkeypatch)
    monkeypatch.setattr(training_run, '_judged', lambda job, store: {}['nothing'])
    with pytest.raises(AssertionError):
        stand_in.run()  # exit code 1
    assert [r.exc_info[0] for r in caplog.records if r.exc_info] == [KeyError]


def test_curves_of_steps_without_a_generator(tmp_path: pathlib.Path) -> None:
    """n_critic=3: empty cells stay no values, and values stay with their steps."""
    (tmp_path / 'losses.csv').write_text(
        'step,Generator_loss,Discriminator_loss,G_A_cycle,G_B_cycle,G_A_gan,G_B_gan\n'
        '1,,5.0,,,,\n2,,4.0,,,,\n3,9.0,3.0,1.0,2.0,3.0,4.0\n4,,2.0,,,,\n5,,1'  # the last line is torn
    )
    curves = read_curves(tmp_path / 'losses.csv')
    assert curves['Discriminator_loss'] == [(1, 5.0), (2, 4.0), (3, 3.0), (4, 2.0)]
    assert curves['G_A_cycle'] == [(3, 1.0)] and curves['Generator_loss'] == [(3, 9.0)]
    assert summed(curves, ('Discriminator_loss', 'G_A_cycle')) == {3: 4.0}
    assert last_cycle({'curves': curves}) == 3.0
    assert math.isnan(last_cycle({'curves': read_curves(tmp_path / 'none.csv')}))


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
        a_cycle, b_cycle = [3.0] * 20, [1.0] * 18 + [seed + 2.0] * 2
        curves = {'G_A_cycle': list(enumerate(a_cycle)), 'G_B_cycle': list(enumerate(b_cycle))}
        judged = {'kid': {'x100': value}}
        return {'name': name, 'changes': '', 'reference': name == 'a', 'seed': seed, 'curves': curves,
                'a2b': judged, 'b2a': judged}  # fmt: skip

    a, b, c = means([result('a', 0, 5.0), result('b', 0, 1.0), result('c', 0, 9.0), result('a', 1, 6.0),
                     result('b', 1, 2.0), result('c', 1, 5.5)])  # fmt: skip
    assert a.kid['a2b'] == (5.5, pytest.approx(0.5**0.5)) and a.cycle == (5.5, pytest.approx(0.5**0.5))
    assert verdict(b, a, 'a2b') == 'nearer' and verdict(c, a, 'a2b') == 'not separated'
    assert verdict(a, b, 'a2b') == 'farther'
