"""Says at the end how far recorded official runs and ours were apart."""

from __future__ import annotations

from typing import Iterator

import pytest

from tests.training import comparison


@pytest.fixture(scope='session', autouse=True)
def _largest_deviations() -> Iterator[None]:
    """Prints the largest deviation of each kind (pytest -s)."""
    yield
    for kind, (share, value, where) in sorted(comparison.LARGEST.items()):
        print(f'\nlargest deviation, {kind}: {value:.3g}, {share:.3g} of what is allowed, at {where}', end='')
