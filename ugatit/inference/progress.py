"""Progress for those who show none."""

from __future__ import annotations

from typing import Any, Sequence


class Silent:
    """The progress bar that shows nothing."""

    def __init__(self, items: Sequence[Any] = (), noun: str = '') -> None:
        pass

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def advance(self, count: int = 1) -> None:
        """Nothing."""
