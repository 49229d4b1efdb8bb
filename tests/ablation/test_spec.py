"""Lists of variants: the one that comes with us, what a file may say, and the sentence for what it may not."""

from __future__ import annotations

import pathlib

import pytest

from ugatit.ablation.spec import RANGES, Variant, keeps_function, read_variants
from ugatit.errors import UserError
from ugatit.nn.presets import load_variants


def test_the_default_list_holds_every_choice(repository: pathlib.Path) -> None:
    variants = read_variants(repository / 'configs' / 'ablation' / 'default.py')
    assert variants[0].reference and [v.reference for v in variants].count(True) == 1
    plain = {(v.precision, v.overflow) for v in variants if v.ranges == 'none' and v.variants == 'default'}
    assert plain >= {('mixed_float16', 'ieee'), ('mixed_float16', 'saturate'), ('float16', 'ieee'),
                     ('float16', 'saturate'), ('float16_operands', 'saturate')}  # fmt: skip
    assert {v.ranges for v in variants} == set(RANGES)
    assert {v.variants for v in variants} >= {
        'default', 'prescaled', 'float32_statistics', 'clamp', 'norm_after', 'norm_after_folded', 'mlp_layer_norm',
        'batch_swap', 'layer', 'group',
    }  # fmt: skip


@pytest.mark.parametrize(
    ('preset', 'kept'),
    [('default', True), ('prescaled', True), ('float32_statistics', True), ('clamp', False), ('norm_after', False),
     ('mlp_layer_norm', False), ('batch_swap', False), ('layer', False), ('group', False)],
)  # fmt: skip
def test_whether_the_function_is_kept(preset: str, kept: bool) -> None:
    assert keeps_function(load_variants(preset)) is kept


BAD = {
    'missing': (None, r'cannot be read'),
    'no Python': ('variants = [', r'must be valid Python, but it fails \(SyntaxError'),
    'no list': ('x = 1', r'must assign a list to variants, but None arrived'),
    'empty': ('variants = []', r'must assign a list to variants'),
    'an unknown key': ("variants = [dict(name='a', changes='b', precisions='float16')]", r'a variant is a dict with'),
    'no sentence': ("variants = [dict(name='a', changes=' ')]", r"'a' needs one sentence in 'changes'"),
    'a name with a slash': ("variants = [dict(name='a/b', changes='c')]", r"small letters, .* but 'a/b' arrived"),
    'unknown ranges': ("variants = [dict(name='a', changes='b', ranges='all')]", r'ranges must be one of none, auto'),
    'unknown precision': ("variants = [dict(name='a', changes='b', precision='fp16')]", r'precision must be one of'),
    'unknown preset': ("variants = [dict(name='a', changes='b', variants='x')]", r"no preset of variants 'x'"),
    'a floor of float32': ("variants = [dict(name='a', changes='b', ranges='floor')]", r'needs a precision with float'),
    'another drop-in': (
        "variants = [dict(name='a', changes='b', ranges='drop_in', variants='layer')]", r'the official network only'),
    'no reference': ("variants = [dict(name='a', changes='b', precision='float16')]", r'needs the reference'),
    'twice': ("variants = [dict(name='a', changes='b'), dict(name='a', changes='c', precision='float16')]",
              r'has a more than once'),
}  # fmt: skip


@pytest.mark.parametrize('case', BAD)
def test_refused(case: str, tmp_path: pathlib.Path) -> None:
    content, sentence = BAD[case]
    if content is not None:
        (tmp_path / 'mine.py').write_text(content)
    with pytest.raises(UserError, match=sentence):
        read_variants(tmp_path / 'mine.py')


def test_the_reference_goes_first(tmp_path: pathlib.Path) -> None:
    (tmp_path / 'mine.py').write_text(
        "variants = [dict(name='a', changes='b', precision='float16'), dict(name='plain', changes='c')]"
    )
    assert [v.name for v in read_variants(tmp_path / 'mine.py')] == ['plain', 'a']
    assert not Variant('a', 'b', ranges='auto').reference
