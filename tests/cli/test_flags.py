"""Every way of writing a flag that should work does, and every mistake gets its own sentence."""

from __future__ import annotations

from typing import List

import pytest

from ugatit.cli.flags import CommandFlags, HelpRequested
from ugatit.errors import UserError


@pytest.fixture
def flags() -> CommandFlags:
    """A small script's flags, one of each kind."""
    flags = CommandFlags(
        'draw.py', 'Draws.', examples=('python draw.py photo.jpg', 'python draw.py --input=photos'), positional='input'
    )
    flags.group('Files')
    flags.many('input', 'what to draw', value='PHOTO')
    flags.path('output', 'results', 'where to')
    flags.text('title', None, 'any words')
    flags.group('How')
    flags.choice('device', 'auto', ('auto', 'cpu', 'gpu'), 'where it runs')
    flags.whole_number('batch_size', 1, 'pictures at once', at_least=1)
    flags.number('share', 0.5, 'a share', at_least=0.0, at_most=1.0)
    flags.boolean('heatmap', False, 'also the heat map')
    return flags


def test_defaults(flags: CommandFlags) -> None:
    options = flags.parse([])
    assert (options.input, options.output, options.title, options.device) == ([], 'results', None, 'auto')
    assert (options.batch_size, options.share, options.heatmap) == (1, 0.5, False)
    assert not flags.given('output')


@pytest.mark.parametrize(
    ('words', 'name', 'value'),
    [
        (['photo.jpg'], 'input', ['photo.jpg']),
        (['--input=a', '--input', 'b', 'c'], 'input', ['a', 'b', 'c']),
        (['--output=x', 'a', 'b'], 'input', ['a', 'b']),
        (['--', '-odd.jpg'], 'input', ['-odd.jpg']),
        (['--batch-size', '4'], 'batch_size', 4),
        (['-batch_size=4'], 'batch_size', 4),
        (['--device=GPU'], 'device', 'gpu'),
        (['--share=1e-1'], 'share', 0.1),
        (['--share=0'], 'share', 0.0),
        (['--title=a=b c'], 'title', 'a=b c'),
        (['--output=first', '--output=last'], 'output', 'last'),
    ],
)
def test_accepted(flags: CommandFlags, words: List[str], name: str, value: object) -> None:
    assert flags.parse(words)[name].value == value


@pytest.mark.parametrize('word', ['true', 'True', '1', 'yes', 'YES'])
def test_a_boolean_may_be_said_in_several_ways(flags: CommandFlags, word: str) -> None:
    assert flags.parse([f'--heatmap={word}']).heatmap is True
    assert flags.parse(['--heatmap', word]).heatmap is True
    assert flags.parse(['--heatmap', 'photo.jpg']).input == ['photo.jpg']


@pytest.mark.parametrize('words', [['--noheatmap'], ['--heatmap=false'], ['--heatmap', '0'], ['--heatmap=No']])
def test_a_boolean_may_be_denied_in_several_ways(flags: CommandFlags, words: List[str]) -> None:
    options = flags.parse(['--heatmap', *words])
    assert options.heatmap is False
    assert options.input == []


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        (['--batchsize=4'], 'draw.py has no flag --batchsize; did you mean --batch_size?'),
        (['--out=x'], 'draw.py has no flag --out; did you mean --output?'),
        (['--noheatmpa'], 'draw.py has no flag --noheatmpa; did you mean --heatmap?'),
        (['--zzz'], 'draw.py has no flag --zzz; python draw.py --help lists the flags.'),
        (['--device=cup'], '--device=cup: expected auto, cpu or gpu; did you mean cpu?'),
        (['--device=tpux'], '--device=tpux: expected auto, cpu or gpu.'),
        (['--batch_size=0'], '--batch_size=0: expected a whole number of at least 1.'),
        (['--batch_size=1.5'], '--batch_size=1.5: expected a whole number of at least 1.'),
        (['--share=nan'], '--share=nan: expected a number from 0.0 to 1.0.'),
        (['--share=2'], '--share=2: expected a number from 0.0 to 1.0.'),
        (['--heatmap=t'], '--heatmap=t: expected true, 1, yes, false, 0 or no.'),
        (['--heatmap='], '--heatmap=: expected true, 1, yes, false, 0 or no.'),
        (['--noheatmap=1'], '--noheatmap=1 does not take an argument.'),
        (['--output'], '--output needs a value, but none arrived; write --output=VALUE.'),
        (['--output', '--heatmap'], '--output needs a value, but none arrived; write --output=VALUE.'),
        (['--output='], '--output=: expected a value, but it is empty (an unset shell variable?).'),
        ([''], '--input=: expected a value, but it is empty (an unset shell variable?).'),
        (['--flagfile=x'], 'draw.py has no flag --flagfile; python draw.py --help lists the flags.'),
        (['--undefok=zzz', '--zzz'], 'draw.py has no flag --undefok; python draw.py --help lists the flags.'),
    ],
)
def test_refused_with_a_sentence(flags: CommandFlags, words: List[str], sentence: str) -> None:
    with pytest.raises(UserError) as refusal:
        flags.parse(words)
    assert str(refusal.value) == sentence


def test_a_stray_word_is_refused_where_nothing_collects_it() -> None:
    with pytest.raises(UserError, match=r"only flags, but 'photo.jpg' arrived without one"):
        CommandFlags('train.py', 'Trains.').parse(['photo.jpg'])


def test_a_second_command_line_does_not_remember_the_first(flags: CommandFlags) -> None:
    flags.parse(['a.jpg', '--heatmap', '--output=x'])
    assert flags.given('output')
    options = flags.parse(['b.jpg'])
    assert (options.input, options.heatmap, options.output) == (['b.jpg'], False, 'results')
    assert not flags.given('output')


@pytest.mark.parametrize('words', [['--help'], ['-h'], ['a.jpg', '--zzz', '--help']])
def test_help_opens_with_examples_and_lists_only_our_flags(flags: CommandFlags, words: List[str]) -> None:
    with pytest.raises(HelpRequested) as asked:
        flags.parse(words)
    text = str(asked.value)
    assert text.startswith('Examples:\n  python draw.py photo.jpg\n')
    assert text.index('Files:') < text.index('--input=PHOTO') < text.index('How:') < text.index('--[no]heatmap')
    assert '(default: results)' in text
    assert '(default: false)' in text
    for foreign in ('helpfull', 'flagfile', 'verbosity', 'absl'):
        assert foreign not in text


def test_help_fits_the_terminal(flags: CommandFlags, monkeypatch: pytest.MonkeyPatch) -> None:
    flags.text('note', None, 'word ' * 60)
    for columns in (70, 200):
        monkeypatch.setenv('COLUMNS', str(columns))
        assert max(len(line) for line in flags.help().splitlines()) <= min(columns, 120)
