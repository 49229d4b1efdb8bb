"""Ordered rules: first full match wins, and every mistake is one sentence that says what is legal."""

from __future__ import annotations

import re
from typing import Any, Dict, List

import pytest

from ugatit.errors import UserError
from ugatit.nn.architecture import NETWORKS, Architecture
from ugatit.nn.blueprint import blueprint, check_variants, network_class
from ugatit.nn.build import Build
from ugatit.nn.rules import DEFAULT_VARIANTS, LAYER_KINDS, SETTINGS, Variants, split_variant
from ugatit.nn.table import runs, variants_table

SMALL = Architecture(image_size=24, ch=4, n_dis=4, light=True)
DEFAULT = ('.*', 'default')


def _message(make: Any) -> str:
    with pytest.raises(UserError) as raised:
        make()
    message = str(raised.value)
    assert '\n' not in message and message.endswith('.')
    return message


def test_the_first_full_match_wins():
    variants = Variants('x', norm=(('a/b', 'layer'), ('a', 'instance'), ('a.*', 'batch'), ('.*', 'none')))
    chosen = {layer: variants.choose('norm', layer) for layer in ('a/b', 'a', 'a/b/c', 'b')}
    assert chosen == {'a/b': 'layer', 'a': 'instance', 'a/b/c': 'batch', 'b': 'none'}


def test_a_layer_that_no_rule_matches():
    variants = Variants('mine', norm=((r'.*/ins_norm', 'batch'),))
    message = _message(lambda: check_variants(SMALL, variants))
    assert "'mine'" in message and 'ins_norm_0' in message and "('.*', 'default')" in message


@pytest.mark.parametrize(
    'rules',
    [
        {'norm': ((r'generator_B/conv_0', 'batch'), DEFAULT)},  # a convolution, not a norm
        {'norm': ((r'ins_norm', 'batch'), DEFAULT)},  # a match, but not a full one
        {'statistics': ((r'discriminator_A/.*', 'float32'), ('.*', 'plain'))},  # discriminators have no norm
        {'guard': ((r'.*/resblock_9/.*', 'plain'), ('.*', 'planned'))},
    ],
)
def test_a_rule_that_matches_nothing(rules: Dict[str, Any]):
    message = _message(lambda: check_variants(SMALL, Variants('mine', **rules)))
    setting, ((pattern, _), _) = next(iter(rules.items()))
    assert repr(pattern) in message and setting in message
    assert 'generator_B/ins_norm' in message if setting == 'norm' else 'generator_B/' in message


def test_a_rule_may_speak_of_networks_that_are_not_built():
    variants = Variants('x', guard=((r'discriminator_B/global/conv_1x1', 'plain'), ('.*', 'planned')))
    check_variants(SMALL, variants)
    blueprint(SMALL, 'generator_B', variants)


@pytest.mark.parametrize('setting', SETTINGS)
def test_an_unknown_variant_lists_the_legal_ones(setting: str):
    message = _message(lambda: Variants('mine', **{setting: (('.*', 'instanse'),)}))
    assert "'instanse'" in message and all(known in message for known in SETTINGS[setting])


@pytest.mark.parametrize(
    'setting, variant',
    [
        ('norm', 'instance:3'),
        ('norm', 'group:0'),
        ('norm', 'group:x'),
        ('norm', 'group:²'),
        ('norm', 'group:٣'),
        ('norm', 'group:' + '9' * 5000),
        ('norm', 'group:8:9'),
        ('norm', 'layer:own:own'),
        ('norm', 'default:own'),
        ('norm', 'adaptive_instance:own'),
        ('statistics', 'prescaled:2'),
        ('guard', 'clamp:0'),
        ('guard', 'clamp:-3'),
        ('guard', 'clamp:²'),
        ('guard', 'clamp:65505'),
        ('guard', 'clamp:' + '9' * 400),
        ('guard', 'clamp:256:1'),
        ('guard', 'norm_after:unfolded'),
        ('guard', 'planned:1'),
    ],
)
def test_bad_parameters(setting: str, variant: str):
    message = _message(lambda: Variants('mine', **{setting: (('.*', variant),)}))
    assert repr(variant) in message and 'group:G' in message


@pytest.mark.parametrize('variant', ['group', 'group:8', 'group:8:own', 'group:own', 'layer:own', 'batch:own'])
def test_good_parameters_of_norms(variant: str):
    assert split_variant(variant)[0] in SETTINGS['norm']
    Variants('mine', norm=((r'.*/instance_layer_norm', variant), DEFAULT))


def test_a_pattern_that_is_no_regular_expression():
    message = _message(lambda: Variants('mine', norm=(('generator_B/(', 'batch'), DEFAULT)))
    assert "'generator_B/('" in message and 'does not compile' in message


@pytest.mark.parametrize('variant', ['adaptive_instance', 'adaptive_layer_instance'])
@pytest.mark.parametrize('layer', ['ins_norm', 'resblock_0/res1/instance_norm', 'layer_ins_norm_0'])
def test_adaptive_kinds_need_the_mlp(variant: str, layer: str):
    variants = Variants('mine', norm=((f'.*/{layer}', variant), DEFAULT))
    message = _message(lambda: check_variants(SMALL, variants))
    assert layer in message and variant in message and 'use instance, layer, layer_instance' in message


def test_own_says_nothing_where_gamma_is_its_own_already():
    message = _message(lambda: check_variants(SMALL, Variants('mine', norm=((r'.*/ins_norm', 'layer:own'), DEFAULT))))
    assert "'layer:own'" in message and 'drop ":own"' in message


def test_groups_that_do_not_divide_the_channels():
    variants = Variants('mine', norm=((r'.*/layer_ins_norm_1', 'group:3'), DEFAULT))
    message = _message(lambda: check_variants(SMALL, variants))
    assert 'layer_ins_norm_1' in message and '4 channels' in message and '3 groups' in message


def test_a_layer_norm_cannot_be_folded_and_a_cam_cannot_have_one():
    folded = Variants('mine', guard=((r'.*/MLP/gamma', 'norm_after:folded'), ('.*', 'planned')))
    assert 'MLP/gamma' in _message(lambda: check_variants(SMALL, folded))
    cam = Variants('mine', guard=((r'.*/CAM_logit', 'norm_after'), ('.*', 'planned')))
    assert 'CAM_logit' in _message(lambda: check_variants(SMALL, cam))


def test_an_unknown_network_lists_the_four():
    assert all(scope in _message(lambda: network_class('generator_C')) for scope in NETWORKS)


def test_the_resolved_table_has_every_layer_and_what_it_may_have():
    table = check_variants(SMALL, DEFAULT_VARIANTS)
    layers = {layer: kind for scope in NETWORKS for layer, kind in blueprint(SMALL, scope).layers.items()}
    assert set(table) == set(layers)
    for layer, kind in layers.items():
        assert set(table[layer]) == {setting for setting, kinds in LAYER_KINDS.items() if kind in kinds}
    network = network_class('generator_B')(SMALL, 'generator_B', Build())
    assert network.table() == {layer: chosen for layer, chosen in table.items() if layer.startswith('generator_B/')}


# ------------------------------------------------------------------------------------------- the table as text


@pytest.mark.parametrize(
    'names, expected',
    [
        (['a'], ['a']),
        (['a_0', 'a_1'], ['a_[01]']),
        (['a_0', 'a_1', 'a_2', 'a_3'], ['a_[0-3]']),
        (['a_0', 'a_2', 'a_3'], ['a_[023]']),
        ([f'a_{i}' for i in range(12)], ['a_(0|1|2|3|4|5|6|7|8|9|10|11)']),
        (['generator_A/x', 'generator_B/x'], ['generator_[AB]/x']),
        (['r_0/s1', 'r_0/s2', 'r_1/s1', 'r_1/s2'], ['r_[01]/s[12]']),
        (['r_0/s1', 'r_1/s2'], ['r_0/s1', 'r_1/s2']),
        (['r_0/s1', 'r_0/s2', 'r_1/s1'], ['r_0/s[12]', 'r_1/s1']),
        (['x', 'y_1', 'y_2'], ['x', 'y_[12]']),
    ],
)
def test_runs(names: List[str], expected: List[str]):
    assert runs(names) == expected


def test_runs_match_exactly_their_names():
    names = list(check_variants(Architecture(), DEFAULT_VARIANTS))
    chosen = [name for i, name in enumerate(names) if i % 3]
    patterns = runs(chosen)
    assert [name for name in names if any(re.fullmatch(pattern, name) for pattern in patterns)] == chosen


def test_the_table_of_the_default_is_three_lines():
    text = variants_table(check_variants(Architecture(), DEFAULT_VARIANTS))
    assert text.splitlines() == [
        'norm: default for all 42 layers',
        'statistics: plain for all 42 layers',
        'guard: planned for all 88 layers',
    ]


def test_the_table_names_what_differs():
    variants = Variants('x', norm=((r'generator_B/(ins_norm_.|layer_ins_norm_1)', 'batch'), DEFAULT))
    assert variants_table(check_variants(SMALL, variants)).splitlines()[:4] == [
        'norm:',
        '  batch    generator_B/ins_norm_[01]',
        '           generator_B/layer_ins_norm_1',
        '  default  every other layer (39)',
    ]
