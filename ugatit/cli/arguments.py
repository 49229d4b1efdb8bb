"""A command line before absl reads it: forgiving about spelling, strict about a flag that lost its value."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from absl import flags as absl_flags

from ugatit.cli.parsers import FALSE_WORDS, TRUE_WORDS
from ugatit.errors import UserError

ABSL_ONLY = ('flagfile', 'undefok')  # absl understands these in every program; they are not ours


def separate(words: Sequence[str], values: absl_flags.FlagValues) -> Tuple[List[str], List[str]]:
    """(flags as absl wants them, words after a bare `--`).

    `--batch-size 4` becomes `--batch_size=4` and `--light True` becomes `--light=True` (absl would take it for a bare
    flag and a stray word). Unknown flags stay as they are: absl or a config library may know them.
    Raises UserError for a known flag that needs a value and has none.
    """
    words = list(words)
    end = words.index('--') if '--' in words else len(words)
    flags, position = [], 0
    while position < end:
        following = words[position + 1] if position + 1 < end else None
        word, took_next = _tidy(words[position], following, values)
        flags.append(word)
        position += 1 + took_next
    return flags, words[end + 1 :]


def _tidy(word: str, following: Optional[str], values: absl_flags.FlagValues) -> Tuple[str, bool]:
    dashes = word[: len(word) - len(word.lstrip('-'))]
    name, equals, value = word[len(dashes) :].partition('=')
    name = _known(name, values)
    if not dashes or name is None:
        return word, False
    if equals:
        return f'--{name}={value}', False
    if name not in values or values[name].boolean:
        boolean_word = name in values and following is not None and following.lower() in TRUE_WORDS + FALSE_WORDS
        return (f'--{name}={following}', True) if boolean_word else (f'--{name}', False)
    if following is None or following.startswith('--'):
        raise UserError(f'--{name} needs a value, but none arrived; write --{name}=VALUE.')
    return f'--{name}={following}', True


def _known(name: str, values: absl_flags.FlagValues) -> Optional[str]:
    """The flag that this spelling means, `no...` of a boolean included; None for an unknown one."""
    name = name.replace('-', '_')
    if name in values:
        return name
    return name if name.startswith('no') and name[2:] in values and values[name[2:]].boolean else None
