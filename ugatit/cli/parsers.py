"""What a flag's value may look like: one absl parser per kind, each error a clause that says what was expected.

absl prefixes the flag and the value that arrived ('flag --batch_size=0: ...'), so the messages here do not repeat them.
"""

from __future__ import annotations

import math
from typing import Optional, Sequence

from absl import flags as absl_flags

from ugatit.cli.hints import did_you_mean, either

TRUE_WORDS = ('true', '1', 'yes')
FALSE_WORDS = ('false', '0', 'no')


class Text(absl_flags.ArgumentParser):
    """Any text but none: an empty value is mostly an unset shell variable (`--input=$PHOTO`)."""

    syntactic_help = 'TEXT'

    def parse(self, argument: str) -> str:
        if not argument.strip():
            raise ValueError('expected a value, but it is empty (an unset shell variable?)')
        return argument


class Boolean(absl_flags.ArgumentParser):
    """true/false, 1/0, yes/no in any letter case, and nothing else."""

    syntactic_help = ''

    def parse(self, argument: object) -> bool:
        word = str(argument).lower()
        if word in TRUE_WORDS + FALSE_WORDS:
            return word in TRUE_WORDS
        raise ValueError(f'expected {either(TRUE_WORDS + FALSE_WORDS)}')

    def flag_type(self) -> str:
        return 'bool'


class Choice(absl_flags.ArgumentParser):
    """One of a few names, in any letter case."""

    def __init__(self, legal: Sequence[str]) -> None:
        super().__init__()
        self.legal = tuple(legal)
        self.syntactic_help = '|'.join(self.legal)

    def parse(self, argument: str) -> str:
        for name in self.legal:
            if argument.lower() == name.lower():
                return name
        raise ValueError(f'expected {either(self.legal)}{did_you_mean(argument, self.legal)}')


class WholeNumber(absl_flags.ArgumentParser):
    """A whole number within bounds; None leaves a side open."""

    syntactic_help = 'N'

    def __init__(self, at_least: Optional[int] = None, at_most: Optional[int] = None) -> None:
        super().__init__()
        self.at_least, self.at_most = at_least, at_most

    def parse(self, argument: object) -> int:
        try:
            number = int(str(argument))
        except ValueError:
            number = None
        if number is None or _outside(number, self.at_least, self.at_most):
            raise ValueError(f'expected a whole number{_bounds(self.at_least, self.at_most)}')
        return number


class Number(absl_flags.ArgumentParser):
    """A finite number within bounds; None leaves a side open."""

    syntactic_help = 'NUMBER'

    def __init__(self, at_least: Optional[float] = None, at_most: Optional[float] = None) -> None:
        super().__init__()
        self.at_least, self.at_most = at_least, at_most

    def parse(self, argument: object) -> float:
        try:
            number = float(str(argument))
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or _outside(number, self.at_least, self.at_most):
            raise ValueError(f'expected a number{_bounds(self.at_least, self.at_most)}')
        return number


def _outside(number: float, at_least: Optional[float], at_most: Optional[float]) -> bool:
    return (at_least is not None and number < at_least) or (at_most is not None and number > at_most)


def _bounds(at_least: Optional[float], at_most: Optional[float]) -> str:
    if at_least is not None and at_most is not None:
        return f' from {at_least} to {at_most}'
    if at_least is not None:
        return f' of at least {at_least}'
    return '' if at_most is None else f' of at most {at_most}'
