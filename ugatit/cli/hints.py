"""Did-you-mean: the nearest legal name to what somebody typed."""

from __future__ import annotations

import difflib
from typing import Iterable, Optional


def nearest(typed: str, legal: Iterable[str]) -> Optional[str]:
    """The legal name that `typed` most likely meant (a beginning counts, letter case does not), or None."""
    names = {name.lower(): name for name in legal}
    key = typed.lower()
    if not key:
        return None
    begun = [name for name in names if name.startswith(key)]
    close = begun if len(begun) == 1 else difflib.get_close_matches(key, names, n=1, cutoff=0.6)
    return names[close[0]] if close else None


def did_you_mean(typed: str, legal: Iterable[str], prefix: str = '') -> str:
    """A tail for a clause: '; did you mean NAME?', or nothing where no legal name is near."""
    name = nearest(typed, legal)
    return f'; did you mean {prefix}{name}?' if name else ''


def sentence(clause: str) -> str:
    """The clause with a full stop, unless it already ends as a sentence does."""
    return clause if clause.endswith(('.', '?', '!')) else f'{clause}.'


def either(names: Iterable[str]) -> str:
    """'a', 'a or b', 'a, b or c'."""
    listed = list(names)
    return listed[0] if len(listed) == 1 else f'{", ".join(listed[:-1])} or {listed[-1]}'
