"""RangePlan: readable JSON there and back, and one sentence for everything that is not one."""

from __future__ import annotations

import json

import pytest

from ugatit.errors import UserError
from ugatit.ranges import RangePlan

PLAN = RangePlan({'generator_B': {'decoder': 4, 'encoder': 0}}, 1.0, ('a note',), {'generator_B': 64})


def test_there_and_back(tmp_path):
    PLAN.save(tmp_path / 'plan.json')
    assert RangePlan.load(tmp_path / 'plan.json') == PLAN
    assert sorted(path.name for path in tmp_path.iterdir()) == ['plan.json']


def test_a_mapping_of_networks():
    assert dict(PLAN) == {'generator_B': {'decoder': 4, 'encoder': 0}}
    assert PLAN.nonzero('generator_B') == {'decoder': 4}
    assert PLAN.nonzero('generator_A') == {}


def test_merged_holds_both_directions_and_the_smaller_headroom():
    both = PLAN.merged(RangePlan({'generator_A': {'cam': 2}}, 0.5, ('a note', 'another'), {'generator_A': 8}))
    assert dict(both) == {'generator_B': {'decoder': 4, 'encoder': 0}, 'generator_A': {'cam': 2}}
    assert (both.headroom_bits, both.notes) == (0.5, ('a note', 'another'))
    assert both.pictures == {'generator_B': 64, 'generator_A': 8}


@pytest.mark.parametrize(
    ('networks', 'said'),
    [
        ({'generator_C': {}}, "names 'generator_C'"),
        ({'generator_B': {'decoder': -1}}, 'from 0 to 60'),
        ({'generator_B': {'decoder': 61}}, 'from 0 to 60'),
        ({'generator_B': {'decoder': 1.5}}, 'whole number'),
        ({'generator_B': {'decoder': True}}, 'whole number'),
    ],
)
def test_refuses_what_is_no_plan(networks, said):
    with pytest.raises(UserError, match=said):
        RangePlan(networks)


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('', 'not JSON'),
        ('[]', '"networks"'),
        ('{"networks": []}', '"networks"'),
        ('{"networks": {"generator_B": 3}}', '"networks"'),
        (json.dumps({'format': 9, 'networks': {}}), 'format 9'),
        ('\x00\x01', 'not JSON'),
        ('{"networks": {}, "notes": 3}', 'damaged'),
        ('{"networks": {}, "headroom_bits": "much"}', 'damaged'),
        ('{"networks": {}, "pictures": [3]}', 'damaged'),
        ('{"networks": {"generator_B": {"decoder": "4"}}}', 'whole number'),
        ('{"networks": {}, "headroom_bits": NaN}', 'headroom_bits'),
        ('{"networks": {}, "headroom_bits": 16}', 'headroom_bits'),
        ('{"networks": {}, "headroom_bits": -1}', 'headroom_bits'),
        ('{"networks": {}, "headroom_bits": 1' + '0' * 400 + '}', 'damaged'),
        ('{"networks": {}, "pictures": {"generator_B": Infinity}}', 'damaged'),
        ('[' * 100000, 'not JSON'),
    ],
)
def test_files_that_are_no_plan(tmp_path, text, said):
    (tmp_path / 'plan.json').write_text(text)
    with pytest.raises(UserError, match=said):
        RangePlan.load(tmp_path / 'plan.json')


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match='cannot be read'):
        RangePlan.load(tmp_path / 'absent.json')
