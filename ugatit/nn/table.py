"""The resolved table of variants as text: which layer got which variant, runs of layers in one line."""

from __future__ import annotations

import itertools
import re
from typing import Dict, Iterable, List, Mapping, Tuple

from ugatit.nn.rules import SETTINGS

Table = Mapping[str, Mapping[str, str]]  # layer -> setting -> variant, as `check_variants` gives it
_VARYING = re.compile(r'(?<=generator_)[AB]|(?<=discriminator_)[AB]|\d+')


def variants_table(table: Table) -> str:
    """Readable text, one block per setting; the variant of most layers comes last and lists none.

    The patterns are regular expressions that match exactly the layers they stand for, so they can be copied into rules.
    """
    return '\n'.join(line for setting in SETTINGS for line in _block(setting, table))


def _block(setting: str, table: Table) -> List[str]:
    layers_of: Dict[str, List[str]] = {}
    for layer, chosen in table.items():
        if setting in chosen:
            layers_of.setdefault(chosen[setting], []).append(layer)
    if not layers_of:
        return []
    common = max(layers_of, key=lambda variant: len(layers_of[variant]))
    rest = len(layers_of.pop(common))
    if not layers_of:
        return [f'{setting}: {common} for all {rest} layers']
    lines = [f'{setting}:']
    width = max(map(len, [*layers_of, common]))
    for variant, layers in layers_of.items():
        patterns = runs(layers)
        lines += [f'  {name:{width}}  {pattern}' for name, pattern in zip([variant, *[''] * len(patterns)], patterns)]
    return [*lines, f'  {common:{width}}  every other layer ({rest})']


def runs(names: Iterable[str]) -> List[str]:
    """The fewest regular expressions of the form a[01]/b that match exactly these names.

    Numbers and the letters of networks may vary; names with one text around them are one run if they are all
    combinations of what varies in them, else each first part that varies makes its own.
    """
    families: Dict[Tuple[str, ...], List[Tuple[str, ...]]] = {}
    for name in names:
        families.setdefault(tuple(_VARYING.split(name)), []).append(tuple(_VARYING.findall(name)))
    return [pattern for text, values in families.items() for pattern in _patterns(text, values)]


def _patterns(text: Tuple[str, ...], values: List[Tuple[str, ...]]) -> List[str]:
    choices = [sorted(set(column), key=lambda part: (len(part), part)) for column in zip(*values)]
    if set(itertools.product(*choices)) == set(values):
        parts = [_choice(options) for options in choices]
        return [''.join(itertools.chain(*itertools.zip_longest(text, parts, fillvalue='')))]
    column = next(i for i, options in enumerate(choices) if len(options) > 1)
    return [
        pattern
        for option in choices[column]
        for pattern in _patterns(text, [value for value in values if value[column] == option])
    ]


def _choice(options: List[str]) -> str:
    if len(options) == 1:
        return options[0]
    if any(len(option) > 1 for option in options):
        return f'({"|".join(options)})'
    consecutive = len(options) > 2 and ord(options[-1]) - ord(options[0]) == len(options) - 1
    return f'[{options[0]}-{options[-1]}]' if consecutive else f'[{"".join(options)}]'
