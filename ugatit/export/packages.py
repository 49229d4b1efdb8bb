"""Optional packages: imported where they are needed, and missed with the line that installs them."""

from __future__ import annotations

import importlib
from types import ModuleType

from ugatit.errors import UserError

INSTALL = "pip install -e '.[export]'"


def require(name: str, purpose: str) -> ModuleType:
    """The imported package; UserError with the pip line where it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition('.')[0] != name.partition('.')[0]:
            raise
        raise UserError(
            f'{purpose} needs the package {name.partition(".")[0]}, which is not installed; install it with {INSTALL}'
        ) from None
